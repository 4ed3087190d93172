// The thresholds that the uses of a business reach (docs/api.md, "Alerts").
import { periodsOf } from './billing.ts';
import type { Call } from './call.ts';
import type { Business } from './state.ts';
import { dayOf, plusDays, stamp } from './time.ts';

const isReached = (used: number, limit: number, percent: number) =>
  BigInt(Math.min(used, Number.MAX_SAFE_INTEGER)) * 100n >= BigInt(limit) * BigInt(percent);

/** Stores each threshold once. Of several that are reached in a period, only the highest, and none below one that is stored for at least this limit. */
export function storeReached({ state, now }: Pick<Call, 'state' | 'now'>, business: Business, days: string[]): void {
  const yesterday = plusDays(dayOf(now), -1);
  state.alerts[business.id] ??= [];
  const alerts = state.alerts[business.id] ?? [];
  for (const day of new Set(days))
    for (const { period, starts_on, ends_on, limit, used, plan } of periodsOf(state, business, day, dayOf(now))) {
      if (limit === 0 || ends_on < yesterday) continue;
      const threshold = (plan.alert_at ?? [80, 100]).findLast((percent) => isReached(used, limit, percent));
      if (threshold === undefined) continue;
      const isStored = alerts.some(
        (alert) =>
          alert.period === period &&
          alert.starts_on === starts_on &&
          alert.limit >= limit &&
          alert.threshold >= threshold,
      );
      if (isStored) continue;
      const counted = Math.min(used, Number.MAX_SAFE_INTEGER);
      const alert = { period, starts_on, ends_on, limit, threshold, used: counted, at: stamp(now) };
      alerts.push({ ...alert, id: null, accepted: 'no' });
    }
}
