// Every route that the guard protects, and how it answers. A route that is missing here fails the test that walks the app.
import type { newBusiness } from './support.ts';

type Business = Awaited<ReturnType<typeof newBusiness>>;

export type Route = {
  method: 'GET' | 'POST' | 'DELETE';
  /** As the app registers it. */
  pattern: string;
  path: (business: Pick<Business, 'id'> | { id: string | number }) => string;
  /** A body with which it succeeds. */
  body?: unknown;
  /** Input that is refused with 422. */
  bad: { query?: string; body?: unknown };
  /** What a business token is told, or null where it may. */
  tokenRefusal: string | null;
  unknownBusiness: { status: number; body: object };
};

const usageUnknown = { status: 422, body: { status: false, message: 'business id is not valid' } };
const accessUnknown = { status: 401, body: { status: false, message: 'Id is not valid' } };

export const ROUTES: Route[] = [
  {
    method: 'GET',
    pattern: '/api/v1/business/usage/:business_id',
    path: ({ id }) => `/api/v1/business/usage/${id}`,
    bad: { query: '?from=tomorrow' },
    tokenRefusal: null,
    unknownBusiness: usageUnknown,
  },
  {
    method: 'GET',
    pattern: '/api/v1/business/:business_id/access',
    path: ({ id }) => `/api/v1/business/${id}/access`,
    bad: {},
    tokenRefusal: 'A business token cannot read access domains. Use an API key.',
    unknownBusiness: accessUnknown,
  },
  {
    method: 'POST',
    pattern: '/api/v1/business/:business_id/access',
    path: ({ id }) => `/api/v1/business/${id}/access`,
    body: { sites: ['https://new.example'] },
    bad: { body: { sites: 'https://new.example' } },
    tokenRefusal: 'A business token cannot change access domains. Use an API key.',
    unknownBusiness: accessUnknown,
  },
];
