// npm run verify -- URL --figures: measures requests to a deployed database, without and with stored ids, and names what differs from
// docs/performance.md. The time of a batch comes from the header Server-Timing. The rows that D1 bills are only in the log.

import type { Call } from '../cli/client.ts';
import { bindingOf } from '../core/database.ts';
import { MAX_USES_PER_CALL } from '../core/work.ts';
import { create, type Target } from './promises.ts';

const IDS = 100_000;
const [ROUNDS, LISTS] = [20, 5];
/**
 * What docs/performance.md states, in multiples of the time of a use: the p50 in "What a request costs", and for lists the estimates in
 * "What one database holds". Stored data does not slow requests down. Times themselves differ with the machine and the network.
 */
export const STATED = {
  'a use': 1,
  'a use with an id': 13 / 12,
  'a report': 9.6 / 12,
  'a list of 1,000 uses': 50 / 5,
};
/** A multiple differs if it is more than this many times as high or as low as the stated one. */
const TOLERANCE = 2;

const KINDS = Object.keys(STATED) as (keyof typeof STATED)[];
/** The means in milliseconds, because clocks of Workers count whole ones, without and with 100,000 ids. */
export type Figures = Record<keyof typeof STATED, [without: number, withIds: number]>;

/** Measures a database with a business of its own. Returns the lines to print. */
export async function measured(target: Target): Promise<string[]> {
  const { service, database, stopped } = target;
  const { id } = (await create(target)).data;
  const usage = `/business/usage/${id}`;
  let sent = 0;

  /** Returns how long a request waited for its database, in milliseconds. */
  async function timeOf(request: string, call?: Call): Promise<number> {
    stopped.throwIfAborted();
    const { headers } = await service.succeed(request, call);
    return Number(/^d1;dur=(\d+)$/.exec(`${headers['server-timing']}`)?.[1] ?? Number.NaN);
  }
  const newId = () => `id-${sent++}`;
  const sendList = () =>
    timeOf(`POST ${usage}`, { body: { uses: Array.from({ length: MAX_USES_PER_CALL }, () => ({ id: newId() })) } });

  /** Returns the mean of each kind of request. */
  async function means(): Promise<number[]> {
    const times = KINDS.map((): number[] => []);
    const [uses = [], withId = [], reports = [], lists = []] = times;
    for (let round = 0; round < ROUNDS; round++) {
      uses.push(await timeOf(`POST ${usage}`));
      withId.push(await timeOf(`POST ${usage}`, { headers: { 'Idempotency-Key': newId() } }));
      reports.push(await timeOf(`GET ${usage}`));
    }
    while (lists.length < LISTS) lists.push(await sendList());
    return times.map((all) => all.reduce((sum, ms) => sum + ms, 0) / all.length);
  }

  const without = await means();
  while (sent < IDS) await sendList();
  const withIds = await means();
  const figures = Object.fromEntries(KINDS.map((kind, index) => [kind, [without[index], withIds[index]]])) as Figures;
  return [
    `Figures of ${bindingOf(database)}: means in milliseconds, from sending a batch to its response (Server-Timing)`,
    `${' '.repeat(29)}0 ids   100,000 ids`,
    ...KINDS.map((kind) => row(kind, figures[kind])),
    ...differences(figures),
    `rows:     are only in the log. Save it during a run (docs/operating.md, "Querying the log"), then compare with docs/performance.md:`,
    `          jq -c 'select(.business_id == ${id}) | {operation, d1}' log.ndjson`,
  ];
}

/** Returns a line for each figure that differs from what docs/performance.md states. */
export function differences(figures: Figures): string[] {
  const [use] = figures['a use'];
  if (use <= 0) return ['differs:  a use takes less than the clock can measure, so nothing can be compared'];
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
