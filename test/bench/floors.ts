// The service and what it is measured against: on one database, of which every operation has a floor.
import { type Bundle, bundled } from './bundle.ts';
import { CALLS, dayAgo, RANGE_DAYS } from './calls.ts';
import { fill, type Size, SMALL } from './data.ts';
import { type Duel, type Effort, measure, type Outcome, type Progress } from './duel.ts';
import type { Call, Span } from './load.ts';
import { OWN_ROWS, type OwnTime, ownDuel, ownTimeOf } from './own.ts';
import { type Contender, type Cost, costOf, open } from './stage.ts';

export const SIZE: Size = { businesses: 1000, days: 365, sites: 500, keys: 1, uses: 100_000, events: 1_000_000 };
/** The usual way takes so long that a slice of it is counted in requests. */
const USUAL: Span = { requests: 3 };
export const DATABASE = 'stage';

export const ROWS: { name: string; call: Call; status: number; floor: string }[] = [
  { name: `report, ${RANGE_DAYS} days, from a page`, call: CALLS.report, status: 200, floor: 'statement' },
  { name: `report, ${RANGE_DAYS} days, from a server`, call: CALLS.reportByServer, status: 200, floor: 'statement' },
  { name: 'record a use, from a page', call: CALLS.record, status: 200, floor: 'upsert' },
  { name: 'record a use, from a server', call: CALLS.recordByServer, status: 200, floor: 'upsert' },
  { name: 'record a use with an Idempotency-Key', call: CALLS.recordOnce, status: 200, floor: 'upsert' },
  { name: 'preflight', call: CALLS.preflight, status: 204, floor: 'preflight' },
  { name: '404', call: CALLS.notFound, status: 404, floor: 'notFound' },
  { name: '401, malformed bearer', call: CALLS.malformed, status: 401, floor: 'malformed' },
];
const FLOOR_LETTERS: Record<string, string> = { statement: 'b', upsert: 'c' };

export type Measured = Outcome & { floor: string; cost: Cost };

export async function compare(
  { code }: Bundle,
  how: Effort,
  progress: Progress,
): Promise<{ rows: Measured[]; own: OwnTime[]; usual: Outcome }> {
  const service: Contender = { name: 'service', code: { text: code }, databases: [DATABASE] };
  const constants = await constantsOf(service);
  const stage = await open([
    service,
    { ...service, name: 'counted', around: 'counted' },
    { ...service, name: 'repeated', around: 'repeated' },
    { name: 'statement', code: { file: 'statement.js' }, databases: [DATABASE] },
    { name: 'upsert', code: { file: 'upsert.js' }, databases: [DATABASE] },
    { name: 'usual', code: { file: 'usual.js' }, databases: [DATABASE] },
    ...constants,
  ]);
  try {
    progress('filling the database');
    await fill(await stage.database(DATABASE), SIZE, dayAgo(0));
    const chosen = ROWS.filter(({ name }) => name.includes(how.only));
    const duels = chosen.map(({ name, call, status, floor }): Duel => {
      const both = { call, status, span: how.span };
      return { name, side: { ...both, contender: 'service' }, against: { ...both, contender: floor } };
    });
    const report = { call: CALLS.report, status: 200 };
    const usual: Duel = {
      name: 'report, against the usual way',
      side: { ...report, contender: 'service', span: how.span },
      against: { ...report, contender: 'usual', span: USUAL },
    };
    const own = OWN_ROWS.filter(({ name }) => name.includes(how.only));
    const ownDuels = own.map((row) => ownDuel(row, 'repeated', row.bare));
    const outcomes = await measure(stage, [...duels, ...ownDuels, usual], how, progress);
    const rows: Measured[] = [];
    for (const [index, { call, floor }] of chosen.entries()) {
      const cost = await costOf(stage.url('counted'), call);
      rows.push({ ...(outcomes[index] as Outcome), floor: FLOOR_LETTERS[floor] ?? 'a', cost });
    }
    return { rows, own: outcomes.slice(rows.length, -1).map(ownTimeOf), usual: outcomes.at(-1) as Outcome };
  } finally {
    await stage.dispose();
  }
}

/** The Workers that answer exactly what the service answers: to what asks no database, and bare routes beside its own time. */
async function constantsOf(service: Contender): Promise<Contender[]> {
  const constant = { code: { file: 'constant.js' } };
  const bare = { code: { text: bundled('bare.js') }, around: 'repeated' } as const;
  const constants: [Contender, Call][] = [
    [{ name: 'preflight', ...constant }, CALLS.preflight],
    [{ name: 'notFound', ...constant }, CALLS.notFound],
    [{ name: 'malformed', ...constant }, CALLS.malformed],
    ...OWN_ROWS.map((row): [Contender, Call] => [{ name: row.bare, ...bare }, row.call]),
  ];
  const stage = await open([service]);
  try {
    await fill(await stage.database(DATABASE), SMALL, dayAgo(0));
    return await Promise.all(
      constants.map(async ([contender, { method, path, headers }]) => {
        const answer = await fetch(stage.url('service') + path, { method, headers });
        const sent = [...answer.headers].filter(([header]) => !['content-length', 'date'].includes(header));
        const body = answer.status === 204 ? null : await answer.text();
        const ANSWER = { status: answer.status, headers: Object.fromEntries(sent), body };
        return { ...contender, bindings: { ANSWER } };
      }),
    );
  } finally {
    await stage.dispose();
  }
}
