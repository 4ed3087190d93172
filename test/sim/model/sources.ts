// The sources of uses (docs/api.md, "Sources").
import { businessOf, type Call, invalidField, sitesOf, success } from './call.ts';
import { csv, prefersCsv } from './csv.ts';
import { entryFor } from './sites.ts';
import type { State } from './state.ts';
import { daysBetween } from './time.ts';

const MAX_NAMES = 200;
const MAX_NAMES_PER_DAY = 100;

/** Gives a new name a number, unless the business has too many. */
export function nameSource(state: State, business_id: number, name: string): void {
  const names = state.sources[business_id] ?? [];
  state.sources[business_id] = names;
  if (!names.includes(name) && names.length < MAX_NAMES) names.push(name);
}

/** The number of the source of a use with this label, which counts now and so names the label. Null if it has none. */
export function sourceOf(call: Call, label: string | undefined): number | null {
  const { state, origin, own, caller } = call;
  const { id } = businessOf(call);
  if (label !== undefined) nameSource(state, id, label);
  const isChecked = origin !== null && (caller === 'token' || origin !== own);
  const name = label ?? (isChecked ? entryFor(sitesOf(state, id), origin) : null);
  const place = name === null ? -1 : (state.sources[id] ?? []).indexOf(name);
  return place === -1 ? null : place + 1;
}

/** Adds uses of a source to a day, unless the day has too many others. */
export function addToSource(state: State, business_id: number, day: string, number: number | null, uses: number): void {
  if (number === null) return;
  state.bySource[business_id] ??= {};
  const days = state.bySource[business_id] as Record<string, Record<number, number>>;
  days[day] ??= {};
  const counts = days[day];
  if (!(number in counts) && Object.keys(counts).length >= MAX_NAMES_PER_DAY) return;
  counts[number] = (counts[number] ?? 0) + uses;
}

type Report = { range: { from: string; to: string }; used: { date: string; count: number }[]; name: string };

/** A report of which the query asks for sources. */
export function readSources(call: Call, { range, used, name }: Report) {
  const { query, state } = call;
  const { id } = businessOf(call);
  const source = query.get('source');
  const days = state.bySource[id] ?? {};
  if (source !== null) {
    const number = (state.sources[id] ?? []).indexOf(source) + 1;
    if (number === 0)
      throw invalidField(
        'source',
        'must be a registered site or a label that the business has used, and must appear only once',
      );
    const ofSource = used.map(({ date }) => ({ date, count: days[date]?.[number] ?? 0 }));
    return prefersCsv(call) ? csv(name, ['date', 'count'], ofSource) : success({ used: ofSource }, { Vary: 'Accept' });
  }
  const names = state.sources[id] ?? [];
  const uses = daysBetween(range.from, range.to).flatMap((date) => {
    const all = Object.entries(days[date] ?? {});
    const sum = all.reduce((total, [, count]) => total + count, 0);
    const rest = (used.find((day) => day.date === date)?.count ?? 0) - sum;
    return [
      ...all.map(([number, count]) => ({ date, source: names[Number(number) - 1] ?? null, count })),
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
