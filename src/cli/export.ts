// The export of a user (docs/operating.md, "Personal data"), composed of the lists that the service returns.
import { masked } from '../core/credential.ts';
import { addDays, dayOf, FIRST_DAY, MAX_RANGE_DAYS, type Range } from '../core/time.ts';
import { type Data, readAllPages, type Service } from './client.ts';

type Line = { type: string };

/** Yields the export's lines. Without the last one, the export is incomplete. */
export async function* exportUser(service: Service, user_id: number): AsyncGenerator<string> {
  for await (const line of linesOf(service, user_id)) yield `${JSON.stringify(line)}\n`;
  yield '{"type":"end"}\n';
}

async function* linesOf(service: Service, user_id: number): AsyncGenerator<Line> {
  const list = listsOf(service);
  yield* (await list(`/user/${user_id}/keys`)).keys.map(lineOf('key'));
  yield* (await list(`/user/${user_id}/changes`, 'before')).changes.map(lineOf('change', { business_id: null }));
  const used = new Map<number, Range[]>();
  for (const range of rangesUntil(dayOf(new Date()))) {
    const { usage } = await list('/usage', 'after', { user_id, ...range });
    for (const { business_id, count } of usage)
      used.set(business_id, [...(used.get(business_id) ?? []), ...(count > 0 ? [range] : [])]);
  }
  for (const [id, ranges] of used) yield* await businessLines(service, { id, user_id, ranges });
}

/** Reads the lines of a business that had uses in `ranges`. */
async function businessLines(service: Service, { id, user_id, ranges }: Used): Promise<Line[]> {
  const list = listsOf(service);
  const ofBusiness = { business_id: id };
  const counts: Line[] = [];
  for (const range of ranges) {
    const { used } = await list(`/business/usage/${id}`, undefined, range);
    counts.push(...used.filter(({ count }: { count: number }) => count > 0).map(lineOf('count', ofBusiness)));
  }
  const refusals: Line[] = [];
  const { created_at } = await service.ok(`GET /business/${id}`);
  for (const range of rangesUntil(dayOf(new Date()), dayOf(new Date(created_at)))) {
    const { refused } = await list(`/business/${id}/refusals`, undefined, range);
    refusals.push(...refused.filter(({ by_limit }: Data) => by_limit > 0).map(lineOf('refused_uses', ofBusiness)));
  }
  const { refused, let_in } = await list(`/business/${id}/access/refused`);
  const { alerts } = await list(`/business/${id}/alerts`, 'cursor');
  const { changes } = await list(`/business/${id}/changes`, 'before');
  // Read last: if the business still belongs to the user, so does everything read before.
  const { access_list, token, ...business } = await service.ok(`GET /business/${id}`);
  if (business.user_id !== user_id) return [];
  return [
    { type: 'business', ...business, token: masked(token) },
    ...access_list.map(lineOf('site')),
    ...counts,
    ...refusals,
    ...refused.map(lineOf('refused_origin', ofBusiness)),
    ...let_in.map(lineOf('let_in_origin', ofBusiness)),
    ...alerts.map(lineOf('alert')),
    ...changes.map(lineOf('change', ofBusiness)),
  ];
}
type Used = { id: number; user_id: number; ranges: Range[] };

const lineOf =
  (type: string, of: object = {}) =>
  (entry: Data): Line => ({ type, ...of, ...entry });

const listsOf =
  (service: Service) =>
  (path: string, cursor = '', query: object = {}): Promise<Data> =>
    readAllPages(service, `GET ${path}`, query, cursor);

/** Divides the days from `first` until today into ranges that a report can cover. The last one can end later. */
function rangesUntil(today: string, first = FIRST_DAY): Range[] {
  const ranges: Range[] = [];
  for (let from = first; from <= today; from = addDays(from, MAX_RANGE_DAYS))
    ranges.push({ from, to: addDays(from, MAX_RANGE_DAYS - 1) });
  return ranges;
}
