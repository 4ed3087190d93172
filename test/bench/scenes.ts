// Compares operations of the service with floors, the least that a Worker can do on the same database, or a large database with a small one.
import { bundled } from './bundle.ts';
import { CALLS, fill, type Size, SMALL } from './data.ts';
import type { Duel, Scene } from './duel.ts';
import { send } from './load.ts';
import { type Contender, open } from './stage.ts';

const SIZE: Size = { businesses: 1000, days: 365, sites: 500, uses: 100_000 };

const FLOORS: Duel[] = [
  { name: 'usage report, 31 days', call: CALLS.report, sides: ['service', 'one statement'] },
  { name: 'record a use', call: CALLS.record, sides: ['service', 'one statement'] },
  { name: 'record a use with an Idempotency-Key', call: CALLS.recordOnce, sides: ['service', 'one statement'] },
  { name: 'preflight', call: CALLS.preflight, sides: ['service', 'constant 204'] },
  { name: '401, malformed credential', call: CALLS.malformed, sides: ['service', 'constant 401'] },
  // The Worker's own CPU time: repeats a call within one request, so that no sockets are involved, and replays the database's results.
  { name: 'own time: usage report', call: CALLS.report, sides: ['repeated', 'bare Hono GET'], isRepeated: true },
  { name: 'own time: record a use', call: CALLS.record, sides: ['repeated', 'bare Hono POST'], isRepeated: true },
  { name: 'own time: list of 1,000 uses', call: CALLS.list, sides: ['repeated', 'bare Hono list'], isRepeated: true },
];

export async function floors(code: string): Promise<Scene> {
  const service: Contender = { name: 'service', code: { text: code }, database: 'stage' };
  const repeated = { ...service, name: 'repeated', around: 'repeated' } as const;
  const statement = { name: 'one statement', code: { file: 'statement.js' }, database: 'stage' };
  return {
    contenders: [service, repeated, statement, ...(await constantsOf(service))],
    sizes: { stage: SIZE },
    duels: FLOORS,
  };
}

/** Workers that return the service's responses without a database: constants, and bare routes. */
async function constantsOf(service: Contender): Promise<Contender[]> {
  await using stage = await open([service]);
  await fill(await stage.database('stage'), SMALL);
  const floors = FLOORS.filter(({ sides }) => sides[1] !== 'one statement');
  return await Promise.all(
    floors.map(async ({ call, sides: [, name], isRepeated }): Promise<Contender> => {
      const { status, headers, body } = await send(stage.url('service'), call);
      const sent = [...headers].filter(([header]) => !['content-length', 'date'].includes(header));
      const ANSWER = { status, headers: Object.fromEntries(sent), body: status === 204 ? null : body };
      if (!isRepeated) return { name, code: { file: 'constant.js' }, bindings: { ANSWER } };
      return { name, code: { text: bundled('bare.js') }, around: 'repeated', bindings: { ANSWER } };
    }),
  );
}

export const growth = (code: string): Scene => ({
  contenders: ['large', 'small'].map((name) => ({ name, code: { text: code }, database: name })),
  sizes: { small: SMALL, large: { businesses: 10_000, days: 366, sites: 500, uses: 1_000_000 } },
  duels: FLOORS.slice(0, 3).map((duel) => ({ ...duel, sides: ['large', 'small'] })),
});
