// A change of permissions affects every batch that reaches the database after it, even if its request was already running. The tests hold
// each batch, either before or after it runs in the database, until the change has been made.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { dailyUsage } from '../src/db/schema.ts';
import { granted, UNAUTHENTICATED } from './answers.ts';
import { listKeys, revokeKey, rotateToken } from './ask.ts';
import { refusalOf } from './hostile/origins.ts';
import { type Business, type CallOptions, call, databases, NOW, newBusiness, TODAY, withBatch } from './support.ts';

const IN_FLIGHT = 20;

/** Returns databases whose batches wait for `open` before or after they run. `full` resolves when IN_FLIGHT batches are waiting. */
function holding(where: 'before' | 'after') {
  const full = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  let waiting = 0;
  async function hold() {
    waiting += 1;
    if (waiting === IN_FLIGHT) full.resolve();
    await opened.promise;
  }
  const held = databases((d1) =>
    withBatch(d1, async (batch) => {
      if (where === 'before') await hold();
      const results = await batch();
      if (where === 'after') await hold();
      return results;
    }),
  );
  return { databases: held, full: full.promise, open: opened.resolve };
}

type Change = {
  name: string;
  sites?: string[];
  /** The credential that records the uses. It is valid until the change. */
  sent: (business: Business) => CallOptions;
  make: (business: Business) => Promise<unknown>;
  refusal: { status: number; body: object };
};
const CHANGES: Change[] = [
  {
    name: 'a key is revoked',
    sent: ({ key }) => ({ as: key }),
    make: async ({ user_id, db }) => revokeKey(db, (await listKeys(db, user_id, NOW))[0]?.id ?? 0, user_id, NOW),
    refusal: UNAUTHENTICATED,
  },
  {
    name: 'a token is rotated',
    sent: ({ token }) => ({ as: token }),
    make: ({ id, home }) => rotateToken(home, id, NOW),
    refusal: UNAUTHENTICATED,
  },
  {
    name: 'a site is removed',
    sites: ['https://a.example', 'https://b.example'],
    sent: ({ token }) => ({ as: token, origin: 'https://a.example' }),
    async make({ access, key }) {
      const { body } = await call('GET', access, { as: key });
      await call('DELETE', `${access}/${body.data.access_list[0].id}`, { as: key });
    },
    refusal: { status: 403, body: refusalOf('https://a.example') },
  },
  {
    name: 'the first site is registered',
    sent: ({ token }) => ({ as: token, origin: 'https://b.example' }),
    make: ({ access, key }) => call('POST', access, { as: key, body: { sites: ['https://a.example'] } }),
    refusal: { status: 403, body: refusalOf('https://b.example') },
  },
];

test.each(CHANGES)(
  'when $name, uses already stored in the database are counted, and uses that have not reached it are refused',
  async ({ sites, sent, make, refusal }) => {
    const business = await newBusiness(sites === undefined ? {} : { sites });
    const stored = () => business.db.select().from(dailyUsage).where(eq(dailyUsage.business_id, business.id));
    async function use(bindings: object) {
      const { status, body } = await call('POST', business.usage, { ...sent(business), bindings });
      return { status, body };
    }
    const uses = (bindings: object) => Promise.all(Array.from({ length: IN_FLIGHT }, () => use(bindings)));
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
      Array.from({ length: IN_FLIGHT }, (_, index) => granted({ date: TODAY, count: index + 1 })),
    );
    expect(await refusals).toEqual(Array(IN_FLIGHT).fill(refusal));
    expect(await stored()).toEqual(recorded);
  },
);
