// Compares each operation of the service with a floor: the least that a Worker can do on the same database.
import { bundled } from './bundle.ts';
import { CALLS, dayAgo, RANGE_DAYS } from './calls.ts';
import { fill, type Size, SMALL } from './data.ts';
import { countedOf, duel, type Scene } from './duel.ts';
import { type Call, type Span, send } from './load.ts';
import { type Contender, open } from './stage.ts';

const SIZE: Size = { businesses: 1000, days: 365, sites: 500, keys: 1, uses: 100_000 };
const SIZES = { stage: SIZE };
const databases = Object.keys(SIZES);
const REPORT = `report, ${RANGE_DAYS} days, from a page`;

/** The calls and their floors. */
const ROWS: [name: string, Call, floor: string][] = [
  [REPORT, CALLS.report, 'statement'],
  [`report, ${RANGE_DAYS} days, from a server`, CALLS.reportByServer, 'statement'],
  ['record a use, from a page', CALLS.record, 'upsert'],
  ['record a use, from a server', CALLS.recordByServer, 'upsert'],
  ['record a use with an Idempotency-Key', CALLS.recordOnce, 'upsert'],
  ['preflight', CALLS.preflight, 'preflight'],
  ['404', CALLS.notFound, 'not found'],
  ['401, malformed bearer', CALLS.malformed, 'malformed'],
];
/**
 * Benchmarks of the Worker's own CPU time. Each benchmark repeats a call within one request, so that no sockets are involved, and replays
 * recorded database results.
 */
const OWN_ROWS: typeof ROWS = [
  [`own time: ${REPORT}`, CALLS.report, 'bare report'],
  ['own time: record a use, from a page', CALLS.record, 'bare record'],
];
const REPEATED: Span = { repeats: 2000 };

const serviceOf = (name: string, text: string): Contender => ({ name, code: { text }, databases });

export async function floors(code: string): Promise<Scene> {
  const service = serviceOf('service', code);
  const files = ['statement', 'upsert'].map((name) => ({ name, code: { file: `${name}.js` }, databases }));
  return {
    contenders: [
      ...[service, countedOf(service), { ...service, name: 'repeated', around: 'repeated' as const }],
      ...[...files, ...(await constantsOf(service))],
    ],
    sizes: SIZES,
    duels: [
      ...ROWS.map(([name, call, floor]) => duel('floors', name, call, ['service', floor])),
      ...OWN_ROWS.map(([name, call, bare]) => duel('own', name, call, ['repeated', bare], REPEATED)),
    ],
  };
}

/** Workers that return the same responses without a database, and bare routes as the baseline for the service's own CPU time. */
async function constantsOf(service: Contender): Promise<Contender[]> {
  const bare = { code: { text: bundled('bare.js') }, around: 'repeated' } as const;
  const constants = [
    ...ROWS.slice(-3).map(([, call, name]) => ({ call, name, code: { file: 'constant.js' } })),
    ...OWN_ROWS.map(([, call, name]) => ({ call, name, ...bare })),
  ];
  await using stage = await open([service]);
  await fill(await stage.database('stage'), SMALL, dayAgo(0));
  return await Promise.all(
    constants.map(async ({ call, ...contender }) => {
      const { status, headers, body } = await send(stage.url('service'), call);
      const sent = [...headers].filter(([header]) => !['content-length', 'date'].includes(header));
      const ANSWER = { status, headers: Object.fromEntries(sent), body: status === 204 ? null : body };
      return { ...contender, bindings: { ANSWER } };
    }),
  );
}
