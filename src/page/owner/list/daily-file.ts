// The file of the uses of several businesses by day.
import type { ListedBusiness } from '../../../business/description.ts';
import { dayRows } from '../day-rows.ts';
import { saveRows } from '../download.tsx';
import { fileName } from '../file-name.ts';
import { growthOf } from './growth.ts';

/** Saves the full days of the list, with those that they are compared with if one of the businesses had data by then. */
export function saveDays(businesses: readonly ListedBusiness[]): void {
  const growths = businesses.map(growthOf);
  const [now, before] = [growths[0]?.now, growths.find((growth) => growth.before)?.before ?? null];
  const tables = growths.map((growth) => dayRows(growth.now.days, before && (growth.before?.days ?? [])));
  const rows = businesses.flatMap(({ id, name }, index) =>
    (tables[index] ?? []).slice(1).map((row) => [id, name, ...row]),
  );
  const columns = ['business_id', 'business', ...(tables[0]?.[0] ?? [])];
  if (now) saveRows([columns, ...rows], fileName('Businesses', now, before));
}
