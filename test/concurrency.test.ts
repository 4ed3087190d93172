// A change of rights holds for whatever reaches the database after it, also for requests that were under way: their batches are
// held here, in front of the database or behind it, until the change is made.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { rotateToken } from '../src/cli/businesses.ts';
import { listKeys, revokeKey } from '../src/cli/keys.ts';
import { dailyUsage } from '../src/db/schema.ts';
import { refusalOf } from './hostile/origins.ts';
import { BASE, call, db, env, NOW, newApp, newBusiness, TODAY } from './support.ts';

const IN_FLIGHT = 20;

/** The database, where batches wait for `open` before or after their work; `full` once IN_FLIGHT of them wait. */
function holding(where: 'before' | 'after') {
  const full = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  let waiting = 0;
  async function hold() {
    waiting += 1;
    if (waiting === IN_FLIGHT) full.resolve();
    await opened.promise;
  }
  const DB = {
    prepare: (sql: string) => env.DB.prepare(sql),
    async batch(statements: D1PreparedStatement[]) {
      if (where === 'before') await hold();
      const results = await env.DB.batch(statements);
      if (where === 'after') await hold();
      return results;
    },
  };
  return { DB: DB as unknown as D1Database, full: full.promise, open: opened.resolve };
}

type Business = Awaited<ReturnType<typeof newBusiness>>;
type Change = {
  name: string;
  sites?: string[];
  /** What a use is recorded with, until the change. */
  headers: (business: Business) => Record<string, string>;
  make: (business: Business) => Promise<unknown>;
  refusal: { status: number; body: object };
};
const unauthenticated = { status: 401, body: { message: 'Unauthenticated.' } };
const CHANGES: Change[] = [
  {
    name: 'a key is revoked',
    headers: ({ key }) => ({ Authorization: `Bearer ${key}` }),
    make: async ({ user_id }) => revokeKey(db, (await listKeys(db, user_id))[0]?.id ?? 0, NOW),
    refusal: unauthenticated,
  },
  {
    name: 'a token is rotated',
    headers: ({ token }) => ({ Authorization: `Bearer ${token}` }),
    make: ({ id }) => rotateToken(db, id, NOW),
    refusal: unauthenticated,
  },
  {
    name: 'a domain is removed',
    sites: ['https://a.example', 'https://b.example'],
    headers: ({ token }) => ({ Authorization: `Bearer ${token}`, Origin: 'https://a.example' }),
    async make({ access, key }) {
      const { body } = await call('GET', access, { as: key });
      await call('DELETE', `${access}/${body.data.access_list[0].id}`, { as: key });
    },
    refusal: { status: 403, body: refusalOf('https://a.example') },
  },
  {
    name: 'the first domain is registered',
    headers: ({ token }) => ({ Authorization: `Bearer ${token}`, Origin: 'https://b.example' }),
    make: ({ access, key }) => call('POST', access, { as: key, body: { sites: ['https://a.example'] } }),
    refusal: { status: 403, body: refusalOf('https://b.example') },
  },
];

test.each(CHANGES)(
  'when $name, the uses that the database has count, and those on their way to it are refused',
  async ({ sites, headers, make, refusal }) => {
    const business = await newBusiness(sites === undefined ? {} : { sites });
    const stored = () => db.select().from(dailyUsage).where(eq(dailyUsage.business_id, business.id));
    const { app } = newApp();
    async function use(DB: D1Database) {
      const init = { method: 'POST', headers: headers(business) };
      const answer = await app.fetch(new Request(BASE + business.usage, init), { DB });
      return { status: answer.status, body: (await answer.json()) as { data: { count: number } } };
    }
    const uses = (DB: D1Database) => Promise.all(Array.from({ length: IN_FLIGHT }, () => use(DB)));
    const [early, late] = [holding('after'), holding('before')];
    const [answers, refusals] = [uses(early.DB), uses(late.DB)];
    await Promise.all([early.full, late.full]);
    const recorded = [{ business_id: business.id, day: TODAY, count: IN_FLIGHT }];
    expect(await stored()).toEqual(recorded);

    await make(business);
    expect(await use(env.DB)).toEqual(refusal);
    early.open();
    late.open();
    expect((await answers).sort((a, b) => a.body.data.count - b.body.data.count)).toEqual(
      Array.from({ length: IN_FLIGHT }, (_, index) => ({
        status: 200,
        body: { status: true, data: { date: TODAY, count: index + 1 } },
      })),
    );
    expect(await refusals).toEqual(Array(IN_FLIGHT).fill(refusal));
    expect(await stored()).toEqual(recorded);
  },
);
