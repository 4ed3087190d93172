// A change of rights holds for whatever reaches the database after it, also for requests that were under way: their batches are
// held here, in front of the database or behind it, until the change is made.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { dailyUsage } from '../src/db/schema.ts';
import { listKeys, revokeKey, rotateToken } from './ask.ts';
import { refusalOf } from './hostile/origins.ts';
import { BASE, call, databases, NOW, newApp, newBusiness, TODAY } from './support.ts';

const IN_FLIGHT = 20;

/** The databases, where batches wait for `open` before or after their work; `full` once IN_FLIGHT of them wait. */
function holding(where: 'before' | 'after') {
  const full = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  let waiting = 0;
  async function hold() {
    waiting += 1;
    if (waiting === IN_FLIGHT) full.resolve();
    await opened.promise;
  }
  const held = databases((d1) => {
    const holding = {
      prepare: (sql: string) => d1.prepare(sql),
      async batch(statements: D1PreparedStatement[]) {
        if (where === 'before') await hold();
        const results = await d1.batch(statements);
        if (where === 'after') await hold();
        return results;
      },
    };
    return holding as unknown as D1Database;
  });
  return { databases: held, full: full.promise, open: opened.resolve };
}

type Bindings = ReturnType<typeof databases>;
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
    make: async ({ user_id, db }) => revokeKey(db, (await listKeys(db, user_id, NOW))[0]?.id ?? 0, user_id, NOW),
    refusal: unauthenticated,
  },
  {
    name: 'a token is rotated',
    headers: ({ token }) => ({ Authorization: `Bearer ${token}` }),
    make: ({ id, home }) => rotateToken(home, id, NOW),
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
    const stored = () => business.db.select().from(dailyUsage).where(eq(dailyUsage.business_id, business.id));
    const { app } = newApp();
    async function use(bindings: Bindings) {
      const init = { method: 'POST', headers: headers(business) };
      const answer = await app.fetch(new Request(BASE + business.usage, init), bindings);
      return { status: answer.status, body: (await answer.json()) as { data: { count: number } } };
    }
    const uses = (bindings: Bindings) => Promise.all(Array.from({ length: IN_FLIGHT }, () => use(bindings)));
    const [early, late] = [holding('after'), holding('before')];
    const [answers, refusals] = [uses(early.databases), uses(late.databases)];
    await Promise.all([early.full, late.full]);
    const recorded = [{ business_id: business.id, day: TODAY, count: IN_FLIGHT }];
    expect(await stored()).toEqual(recorded);

    await make(business);
    expect(await use(databases())).toEqual(refusal);
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
