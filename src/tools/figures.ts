// npm run verify -- URL --figures: measures requests to a deployed database, without and with stored ids, and names what differs from
// docs/performance.md. Responses do not contain the rows that D1 bills, so the rows are only in the log.
import { setTimeout as wait } from 'node:timers/promises';
import { bindingOf } from '../core/database.ts';
import { MAX_USES_PER_CALL } from '../core/use.ts';
import { create, PUBLIC, type Target } from './promises.ts';
import type { Call } from './service.ts';

const IDS = 100_000;
const [ROUNDS, LISTS] = [20, 5];
/**
 * What docs/performance.md states, in multiples of the time of a use: the p50 in "What a request costs", and for lists the estimates in
 * "What one database holds". Stored data does not slow requests down. Times themselves differ with the machine and the network.
 */
const STATED = { 'a use': 1, 'a use with an id': 5.6 / 4.8, 'a report': 4.5 / 4.8, 'a list of 1,000 uses': 50 / 5 };
/** A multiple differs if it is more than this many times as high or as low as the stated one. */
const TOLERANCE = 2;

const KINDS = Object.keys(STATED) as (keyof typeof STATED)[];
/** The medians in milliseconds, without and with 100,000 ids. */
export type Figures = Record<keyof typeof STATED, [without: number, withIds: number]>;

/** Measures a database with a business of its own. Returns the lines to print. */
export async function measured(target: Target): Promise<string[]> {
  const { service, database, stopped } = target;
  const { id } = (await create(target)).data;
  const usage = `/business/usage/${id}`;
  let sent = 0;

  /** Returns the duration of a request in milliseconds. Waits and repeats a request that is over a rate limit. */
  async function timeOf(request: string, call?: Call): Promise<number> {
    for (;;) {
      stopped.throwIfAborted();
      const began = performance.now();
      const { outcome, headers, text } = await service.send(request, call);
      const ms = performance.now() - began;
      if (outcome === '200' || outcome === '204') return ms;
      if (outcome !== '429 rate_limited') throw new Error(`${request} returned ${outcome} ${text}`);
      await wait(Number(headers['retry-after']) * 1000, undefined, { signal: stopped });
    }
  }
  const newId = () => `id-${sent++}`;
  const sendList = () =>
    timeOf(`POST ${usage}`, { body: { uses: Array.from({ length: MAX_USES_PER_CALL }, () => ({ id: newId() })) } });

  /** Returns the median of each kind of request, and of a preflight, which does not use a database. */
  async function medians() {
    const times = KINDS.map((): number[] => []);
    const [uses = [], withId = [], reports = [], lists = []] = times;
    const floors: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      floors.push(await timeOf('OPTIONS /business', PUBLIC));
      uses.push(await timeOf(`POST ${usage}`));
      withId.push(await timeOf(`POST ${usage}`, { headers: { 'Idempotency-Key': newId() } }));
      reports.push(await timeOf(`GET ${usage}`));
    }
    while (lists.length < LISTS) lists.push(await sendList());
    return { times: times.map(median), floor: median(floors) };
  }

  const without = await medians();
  while (sent < IDS) await sendList();
  const both = [without, await medians()];
  const floors = both.map(({ floor }) => floor);
  const ofKind = (index: number) => both.map(({ times, floor }) => (times[index] ?? Number.NaN) - floor);
  const figures = Object.fromEntries(KINDS.map((kind, index) => [kind, ofKind(index)])) as Figures;
  return [
    `Figures of ${bindingOf(database)}: medians in milliseconds, less the time of a preflight, which does not use a database`,
    `${' '.repeat(29)}0 ids   100,000 ids`,
    row('a preflight', floors),
    ...KINDS.map((kind) => row(kind, figures[kind])),
    ...differences(figures),
    `rows:     are only in the log. Save it during a run (docs/operating.md, "Querying the log"), then compare with docs/performance.md:`,
    `          jq -c 'select(.business_id == ${id}) | {operation, d1}' log.ndjson`,
  ];
}

/** Returns a line for each figure that differs from what docs/performance.md states. */
export function differences(figures: Figures): string[] {
  const [use] = figures['a use'];
  if (use <= 0) return ['differs:  a use takes no longer than a preflight, so nothing can be compared'];
  return KINDS.flatMap((kind) =>
    figures[kind].flatMap((ms, withIds) => {
      const [multiple, stated] = [ms / use, STATED[kind]];
      if (multiple <= stated * TOLERANCE && multiple >= stated / TOLERANCE) return [];
      const what = `${kind}${withIds ? ' with 100,000 ids' : ''} takes ${multiple.toFixed(1)} times as long as a use`;
      return [`differs:  ${what}; docs/performance.md states ${stated.toFixed(1)} times`];
    }),
  );
}

const row = (name: string, [without = 0, withIds = 0]: number[]) =>
  `${name.padEnd(24)}${without.toFixed(1).padStart(10)}${withIds.toFixed(1).padStart(14)}`;

function median(sample: number[]): number {
  return sample.toSorted((a, b) => a - b)[Math.floor(sample.length / 2)] ?? Number.NaN;
}
