// The sources of uses (docs/api.md, "Sources").
import { businessOf, type Call, invalidField, sitesOf, success } from './call.ts';
import { csv, prefersCsv } from './csv.ts';
import { entryFor } from './sites.ts';
import type { State } from './state.ts';
import { daysBetween } from './time.ts';

const MAX_LABELS = 200;
const MAX_SITES = 1000;
const MAX_PER_DAY = { label: 80, site: 40 };
const kindOf = (number: number) => (number < 0 ? 'site' : 'label');

const namesOf = (state: State, business_id: number) => {
  state.sources[business_id] ??= [];
  return state.sources[business_id];
};
const numberOf = (state: State, business_id: number, name: string) =>
  namesOf(state, business_id).find((source) => source.name === name)?.number;

/** The number of a label. New ones have the next: 1, 2 … Undefined if the business has too many others. */
export function numberOfLabel(state: State, business_id: number, name: string): number | undefined {
  const names = namesOf(state, business_id);
  const last = Math.max(0, ...names.map(({ number }) => number));
  if (numberOf(state, business_id, name) === undefined && last < MAX_LABELS) names.push({ name, number: last + 1 });
  return numberOf(state, business_id, name);
}
export const nameOf = (state: State, business_id: number, number: number): string | undefined =>
  namesOf(state, business_id).find((source) => source.number === number)?.name;

/** The numbers of sites that are not registered, never counted and are not listed: their names make room. The oldest first. */
function freeNumbers(state: State, business_id: number, listed: readonly string[]): number[] {
  const counted = Object.values(state.bySource[business_id] ?? {})
    .flatMap(Object.keys)
    .map(Number);
  const taken = [...sitesOf(state, business_id), ...listed];
  return namesOf(state, business_id)
    .filter(({ name, number }) => number < 0 && !taken.includes(name) && !counted.includes(number))
    .map(({ number }) => number)
    .sort((a, b) => b - a);
}
/** The numbers that these sites get: -1, -2 …, and then free ones. Undefined if there are too few. */
function numbersFor(state: State, business_id: number, listed: readonly string[]) {
  const added = listed.filter((site) => numberOf(state, business_id, site) === undefined);
  const used = -Math.min(0, ...namesOf(state, business_id).map(({ number }) => number));
  const fresh = Array.from({ length: Math.max(0, MAX_SITES - used) }, (_, index) => -used - index - 1);
  const numbers = added.length <= fresh.length ? fresh : [...fresh, ...freeNumbers(state, business_id, listed)];
  if (numbers.length < added.length) return undefined;
  return added.map((name, index) => ({ name, number: numbers[index] as number }));
}
export const canNameSites = (state: State, business_id: number, listed: readonly string[]): boolean =>
  numbersFor(state, business_id, listed) !== undefined;
export function nameSites(state: State, business_id: number, listed: readonly string[]): void {
  const added = numbersFor(state, business_id, listed) ?? [];
  const kept = namesOf(state, business_id).filter(({ number }) => !added.some((site) => site.number === number));
  state.sources[business_id] = [...kept, ...added];
}

/** The number of the source of a use with this label, which counts now and so names the label. Null if it has none. */
export function sourceOf(call: Call, label: string | undefined): number | null {
  const { state, origin, own, caller, key } = call;
  const { id } = businessOf(call);
  if (label !== undefined) return numberOfLabel(state, id, label) ?? null;
  if (key !== null && key.source !== null) return key.source;
  const isChecked = origin !== null && (caller === 'token' || origin !== own);
  const name = isChecked ? entryFor(sitesOf(state, id), origin) : null;
  return name === null ? null : (numberOf(state, id, name) ?? null);
}

/**
 * Adds uses of a source to a day, unless the day has too many others of its kind. Returns the number of the source under which they count.
 */
export function addToSource(
  state: State,
  business_id: number,
  day: string,
  number: number | null,
  uses: number,
): number | null {
  if (number === null) return null;
  state.bySource[business_id] ??= {};
  const days = state.bySource[business_id] as Record<string, Record<number, number>>;
  const counts = days[day] ?? {};
  const others = Object.keys(counts).filter((other) => kindOf(Number(other)) === kindOf(number));
  if (!(number in counts) && others.length >= MAX_PER_DAY[kindOf(number)]) return null;
  days[day] = { ...counts, [number]: (counts[number] ?? 0) + uses };
  return number;
}

type Report = { range: { from: string; to: string }; used: { date: string; count: number }[]; name: string };

/** A report of which the query asks for sources. */
export function readSources(call: Call, { range, used, name }: Report) {
  const { query, state } = call;
  const { id } = businessOf(call);
  const source = query.get('source');
  const days = state.bySource[id] ?? {};
  if (source !== null) {
    const number = numberOf(state, id, source);
    if (number === undefined)
      throw invalidField('source', 'must be a registered site or a label of the business, and must appear only once');
    const ofSource = used.map(({ date }) => ({ date, count: days[date]?.[number] ?? 0 }));
    return prefersCsv(call) ? csv(name, ['date', 'count'], ofSource) : success({ used: ofSource }, { Vary: 'Accept' });
  }
  const names = Object.fromEntries(namesOf(state, id).map(({ name, number }) => [number, name]));
  const uses = daysBetween(range.from, range.to).flatMap((date) => {
    const all = Object.entries(days[date] ?? {});
    const sum = all.reduce((total, [, count]) => total + count, 0);
    const rest = (used.find((day) => day.date === date)?.count ?? 0) - sum;
    return [
      ...all.map(([number, count]) => ({ date, source: names[number] ?? null, count })),
      { date, source: null, count: rest },
    ].filter(({ count }) => count > 0);
  });
  if (prefersCsv(call)) return csv(`${name}-by-source`, ['date', 'source', 'count'], uses);
  const sources = [...new Set(uses.map(({ source }) => source))].map((source) => {
    const own = uses.filter((each) => each.source === source);
    return { source, count: own.reduce((sum, { count }) => sum + count, 0), last_day: own.at(-1)?.date };
  });
  sources.sort((a, b) => b.count - a.count || ((a.source ?? '~') < (b.source ?? '~') ? -1 : 1));
  return success({ used, sources }, { Vary: 'Accept' });
}
