// Example values that several operations share.
import { fillRange } from '../core/time.ts';
import type * as schemas from '../wire/responses.ts';

export const times = { created_at: '2026-02-01T08:30:00.123000Z', updated_at: '2026-02-01T08:30:00.123000Z' };
export const written = {
  user_id: 7,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
};
export const fields = {
  id: 1,
  ...written,
  token: 'bua_pk_00123456789ABCDEFGHIJKLMNOPQRSTUVW',
  status: 'active',
  ...times,
};
export const apiKey: schemas.Key = {
  id: 12,
  user_id: 7,
  name: 'Billing server',
  last_four: 'abcd',
  created_at: times.created_at,
  expires_on: null,
  revoked_at: null,
  business_id: null,
  last_used_on: null,
  read_only: false,
  role: 'record',
};
export const thirtyDays = fillRange({ from: '2026-02-02', to: '2026-03-03' }, { '2026-03-02': 5, '2026-03-03': 10 });
export const businessWith = (...sites: string[]): schemas.Business => ({
  ...fields,
  access_list: sites.map((site, index) => ({ id: index + 1, business_id: 1, site, ...times })),
});
export const detailsOf = (...sites: string[]): schemas.BusinessDetails => ({
  ...businessWith(...sites),
  limits: {
    daily: 1000,
    monthly: null,
    billing_day: 1,
    next_billing_day: null,
    from: null,
    overage: 0,
    alert_at: [80, 100],
    today: 4,
    month: null,
    remaining: 996,
    day_ends: '2026-03-04T00:00:00.000000Z',
    month_ends: null,
  },
  former_tokens: [],
});
export const SHOP = 'https://shop.example';
export const alertOfMonth: Omit<schemas.Alerts['alerts'][number], 'sent_at' | 'state'> = {
  id: '3e1fb0f4-4ab2-4ad9-9d4b-0d1a5f3ae0a5',
  business_id: 1,
  period: 'month',
  starts_on: '2026-03-01',
  ends_on: '2026-03-31',
  limit: 10_000,
  threshold: 80,
  used: 8000,
  at: '2026-03-15T12:00:00.000000Z',
};
export const anAlert: schemas.Alerts['alerts'][number] = {
  ...alertOfMonth,
  sent_at: '2026-03-15T12:01:00.000000Z',
  state: 'sent',
};
