// Example values that several operations share.
import { fillRange } from '../core/time.ts';

export const times = { created_at: '2026-02-01T08:30:00.123000Z', updated_at: '2026-02-01T08:30:00.123000Z' };
/** 57 days, as in the list of businesses. */
export const listedDays = fillRange({ from: '2026-01-06', to: '2026-03-03' }, { '2026-03-02': 5, '2026-03-03': 10 });
export const SHOP = 'https://shop.example';
