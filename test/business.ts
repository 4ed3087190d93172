// What the tests of the Worker, the rules and the pages say about a business if it does not matter to them.
import type { ListedBusiness } from '../src/business/description.ts';
import type { BusinessRow } from '../src/db/schema.ts';
import type { Limits } from '../src/shown-business/description.ts';

type Named = 'id' | 'user_id' | 'name' | 'token' | 'created_at' | 'updated_at';
export const SHOP: Omit<BusinessRow, Named> = {
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
  status: 'active',
};

/** An entry of a list of businesses, without limits. */
export const listedBusiness = (
  fields: Pick<ListedBusiness, 'id' | 'name' | 'main_domain' | 'used'> & Partial<ListedBusiness>,
): ListedBusiness => ({
  ...SHOP,
  user_id: 1,
  site: `https://${fields.main_domain}`,
  token: 'bua_pk_x',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  limits: limitsWith({}),
  refused_origins: 0,
  refused_by_limit: 0,
  ...fields,
});

/** The limits in a response: by default none, and alerts at 80% and 100%. */
export const limitsWith = (given: Partial<Limits>): Limits => ({
  ...{ daily: null, monthly: null, billing_day: 1, next_billing_day: null, from: null, overage: 0 },
  ...{ page_overage: false, alert_at: [80, 100], extra: 0, next_limits: null, today: null, month: null },
  ...{ remaining: null, refuses: 'nobody', day_ends: null, month_starts: '2026-03-01T00:00:00.000000Z' },
  ...{ month_ends: '2026-04-01T00:00:00.000000Z', ...given },
});
