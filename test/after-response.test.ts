// Writes after a response do not delay it. A failed write logs one line.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { markFormerToken, markKey } from '../src/db/last-use.ts';
import { metered } from '../src/db/meter.ts';
import { apiKeys, formerTokens, seenOrigins } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { granted, refused } from './answers.ts';
import { addFormerToken, BASE, type Business, call, databases, newApp, newBusiness, TODAY } from './support.ts';

/** An origin that no other test file uses, so that late writes from those files are not counted here. */
const EVIL = 'https://stalled.example';
const restricted = () => newBusiness({ sites: ['https://shop.example'] });
const stored = ({ db, id }: Business) =>
  db
    .select()
    .from(seenOrigins)
    .where(and(eq(seenOrigins.business_id, id), eq(seenOrigins.origin, EVIL)));

/**
 * Holds the writes that follow a response until `release` is called, or makes them fail. Any other statement contains the
 * permission, or depends on the step before it.
 */
function later(work: 'held' | 'failing') {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const isOwn = new WeakSet<object>();
  async function wait() {
    begun.resolve();
    if (work === 'failing') throw new Error('D1_ERROR: disk I/O error');
    await released.promise;
  }
  const held = databases((d1) => {
    const bound = (statement: D1PreparedStatement, after: boolean): D1PreparedStatement => {
      const run = async () => {
        await wait();
        return statement.run();
      };
      const guarded = after ? ({ run, all: run } as unknown as D1PreparedStatement) : statement;
      if (!after) isOwn.add(statement);
      else originals.set(guarded, statement);
      return guarded;
    };
    const originals = new Map<object, D1PreparedStatement>();
    const holding = {
      prepare: (sql: string) => ({
        bind: (...values: unknown[]) => bound(d1.prepare(sql).bind(...values), !/permission|changes\(\)/.test(sql)),
      }),
      async batch(statements: D1PreparedStatement[]) {
        if (!statements.every((statement) => isOwn.has(statement))) await wait();
        return d1.batch(statements.map((statement) => originals.get(statement) ?? statement));
      },
    };
    return holding as unknown as D1Database;
  });
  return { databases: held, begun: begun.promise, release: released.resolve };
}

const formerOf = ({ db, id }: Business) => db.select().from(formerTokens).where(eq(formerTokens.business_id, id));
const keyOf = async ({ db, user_id }: Business) => {
  const [key] = await db.select().from(apiKeys).where(eq(apiKeys.user_id, user_id));
  return key;
};

describe.each([
  {
    name: 'remembering a refused origin',
    operation: 'remember_origin',
    headers: async ({ token }: Business) => ({ Authorization: `Bearer ${token}`, Origin: EVIL }),
    expected: refused(`Origin ${EVIL} is not authorized for this business.`),
    isWritten: async (business: Business) => (await stored(business)).length === 1,
  },
  {
    name: 'marking a key as used',
    operation: 'mark_used',
    headers: async ({ key }: Business): Promise<Record<string, string>> => ({ Authorization: `Bearer ${key}` }),
    expected: granted({ date: TODAY, count: 1 }),
    isWritten: async (business: Business) => (await keyOf(business))?.last_used_on === TODAY,
  },
  {
    name: 'marking a former token as used',
    operation: 'mark_used',
    headers: async (business: Business) => ({
      Authorization: `Bearer ${await addFormerToken(business)}`,
      Origin: 'https://shop.example',
    }),
    expected: granted({ date: TODAY, count: 1 }),
    isWritten: async (business: Business) => (await formerOf(business))[0]?.last_used_on === TODAY,
  },
])('$name', ({ operation, headers, expected, isWritten }) => {
  async function ask(business: Business, bindings: Partial<Bindings>) {
    const { app, lines, errors } = newApp();
    const context = createExecutionContext();
    const request = new Request(BASE + business.usage, {
      method: 'POST',
      headers: { ...(await headers(business)), 'X-Request-Id': 'request-1' },
    });
    const response = await app.fetch(request, bindings, context);
    const answer = { status: response.status, body: await response.json() };
    return { answer, lines, errors, context };
  }

  test('does not delay the response', async () => {
    const business = await restricted();
    const { databases, begun, release } = later('held');
    const { answer, lines, errors, context } = await ask(business, databases);
    expect(answer).toEqual(expected);
    await begun;
    expect(await isWritten(business)).toBe(false);
    expect([lines.length, errors]).toEqual([1, []]);
    release();
    await waitOnExecutionContext(context);
    expect(await isWritten(business)).toBe(true);
  });

  test('logs one line and leaves the response unchanged if it fails', async () => {
    const business = await restricted();
    const { answer, lines, errors, context } = await ask(business, later('failing').databases);
    await waitOnExecutionContext(context);
    expect(answer).toEqual(expected);
    expect(lines).toMatchObject([{ status: expected.status, request_id: 'request-1', d1: { round_trips: 1 } }]);
    expect(errors).toEqual([
      {
        operation,
        database: business.home.binding,
        request_id: 'request-1',
        error: expect.stringContaining('disk I/O error'),
      },
    ]);
    expect(JSON.stringify(errors)).not.toMatch(/stalled|params/); // no bound values
    expect(await isWritten(business)).toBe(false);
  });
});

test('the day on which a key was last used is written once a day, however many calls there are', async () => {
  const { usage, key } = await newBusiness();
  const writes: number[] = [];
  for (const day of ['2026-03-15', '2026-03-15', '2026-03-16', '2026-03-16'])
    writes.push((await call('GET', usage, { as: key, at: new Date(`${day}T12:00:00Z`) })).later.rows_written);
  expect(writes).toEqual([1, 0, 1, 0]);
});

test('the day on which a key or a former token was last used is written once by concurrent calls, and never moves to an earlier day', async () => {
  const business = await restricted();
  const [former, pages] = [await addFormerToken(business), await addFormerToken(business)];
  const day = '2026-03-16';
  const key = (await keyOf(business))?.id ?? 0;
  for (const store of [
    (d1: D1Database, on: string) => markKey(d1, key, on),
    (d1: D1Database, on: string) => markFormerToken(d1, former, on, null),
    (d1: D1Database, on: string) => markFormerToken(d1, pages, on, 'https://shop.example'),
  ]) {
    const cost = noCost();
    const mark = (on: string) => store(metered(business.home.d1, cost), on);
    await Promise.all(Array.from({ length: 20 }, () => mark(day)));
    await mark('2026-03-15'); // a call made before midnight and written after midnight
    expect(cost.rows_written).toBe(1);
  }
  const marked = { last_used_on: day };
  expect(await keyOf(business)).toMatchObject(marked);
  const stored = await business.db.select().from(formerTokens).where(eq(formerTokens.business_id, business.id));
  expect(stored).toMatchObject([
    { ...marked, used_from: '{}' },
    { ...marked, used_from: JSON.stringify({ 'https://shop.example': day }) },
  ]);
});
