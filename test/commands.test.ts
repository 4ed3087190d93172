// The operator's commands on the database: who changed what, limits, narrow keys, and the end of a business.
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { describe, expect, test } from 'vitest';
import { asking, Databases } from '../src/cli/databases.ts';
import type { CommandName } from '../src/cli/former-commands.ts';
import { importHistory, readHistory } from '../src/cli/history.ts';
import { createKey } from '../src/cli/keys.ts';
import { RUNS } from '../src/cli/runs.ts';
import { hashOf } from '../src/core/credential.ts';
import { deleteBusiness } from '../src/db/deletion.ts';
import { forgetDeleted, purge } from '../src/db/purge.ts';
import { businesses, changes, deletions, ledger } from '../src/db/schema.ts';
import { call, everything, homes, NOW, newBusiness, setCount, TABLES, TODAY } from './support.ts';

const all = new Databases(homes);
const run = async <T = Record<string, never>>(name: CommandName, given: Record<string, unknown>): Promise<T> =>
  (await RUNS[name](all, given, NOW)) as T;
type Change = { id: number; at: string; actor: string; action: string; before: object | null; after: object | null };
const changesOf = async (given: { ID: number } | { user_id: number }) =>
  (await run<{ changes: Change[] }>('changes list', given)).changes;
const lastFour = (text: string) => `…${text.slice(-4)}`;
const FIELDS = {
  ...{ name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' },
  ...{ country_id: 1, business_size: 'small' },
};
let user = 90_000;

/** Runs a command, and then again: the change that it leaves, if any, and that it leaves it once. */
async function changeBy(name: CommandName, given: { ID: number } & Record<string, unknown>): Promise<Change | null> {
  const before = await changesOf({ ID: given.ID });
  await run(name, given);
  const after = await changesOf({ ID: given.ID });
  expect(after.slice(after.length - before.length)).toEqual(before);
  expect(after.length - before.length).toBeLessThanOrEqual(1);
  return after.length > before.length ? (after[0] as Change) : null;
}

describe('a change by the operator', () => {
  test('is written down once: who, when, what, and only what changed', async () => {
    const user_id = ++user;
    const { business } = await run<{ business: { id: number; token: string } }>('business create', {
      user_id,
      ...FIELDS,
    });
    const ID = business.id;
    const created = { ...FIELDS, user_id, token: lastFour(business.token), status: 'active' };
    const row = { at: '2026-03-15T12:00:00.000000Z', actor: 'operator', key_name: null };
    expect(await changesOf({ ID })).toEqual([
      { id: 1, ...row, action: 'create_business', before: null, after: created },
    ]);

    const update = { ...row, action: 'update_business' };
    expect(await changeBy('business update', { ID, name: 'Acme 2', country_id: 1 })).toEqual({
      ...update,
      ...{ id: 2, before: { name: 'Acme' }, after: { name: 'Acme 2' } },
    });
    expect(await changeBy('business update', { ID, name: 'Acme 2' })).toBeNull();
    expect(await changeBy('business status', { ID, STATUS: 'suspended' })).toEqual({
      ...update,
      ...{ id: 3, before: { status: 'active' }, after: { status: 'suspended' } },
    });
    expect(await changeBy('business status', { ID, STATUS: 'suspended' })).toBeNull();
    expect(await changeBy('business update', { ID, daily_limit: 5, monthly_limit: 'none' })).toEqual({
      ...update,
      ...{ id: 4, before: { daily_limit: null }, after: { daily_limit: 5 } },
    });
    expect(await changeBy('business update', { ID, daily_limit: 'none' })).toMatchObject({
      after: { daily_limit: null },
    });

    const rotated = await changeBy('business rotate-token', { ID, keep_old: 3_600_000 });
    const { business: shown } = await run<{ business: { token: string } }>('business show', { ID });
    expect(rotated).toEqual({
      ...{ ...row, id: 6, action: 'rotate_token' },
      before: { token: lastFour(business.token) },
      after: { token: lastFour(shown.token), former_works_until: '2026-03-15T13:00:00.000000Z' },
    });

    const key = await run<{ id: number; api_key: string }>('key create', { user_id, name: 'Narrow', business_id: ID });
    const made = { id: key.id, key: lastFour(key.api_key), name: 'Narrow', expires_on: null, business_id: ID };
    const full = { ...made, read_only: false, role: 'full' };
    expect((await changesOf({ ID }))[0]).toEqual({ ...row, id: 7, action: 'create_key', before: null, after: full });
    for (let time = 0; time < 2; time++) await run('key revoke', { ID: key.id });
    expect((await changesOf({ ID }))[0]).toMatchObject({ id: 8, action: 'revoke_key', after: null });
    expect(await changesOf({ user_id })).toEqual([]);
  });

  test('of a key for all businesses is one of its user', async () => {
    const user_id = ++user;
    const key = await run<{ id: number; api_key: string }>('key create', { user_id, role: 'record' });
    for (let time = 0; time < 2; time++) await run('key revoke', { ID: key.id });
    expect(await changesOf({ user_id })).toMatchObject([
      { id: 2, action: 'revoke_key', before: { id: key.id, key: lastFour(key.api_key), name: 'API key' }, after: null },
      {
        id: 1,
        action: 'create_key',
        before: null,
        after: { key: lastFour(key.api_key), read_only: false, role: 'record' },
      },
    ]);
  });

  test('of the history is written down where a count changes', async () => {
    const { id, db } = await newBusiness();
    const history = readHistory('2026-01-01,5\n2026-01-02,0\n2026-01-03,7', TODAY);
    const imports = async () => (await changesOf({ ID: id })).filter(({ action }) => action === 'import_usage');
    await importHistory(db, id, history, false, NOW);
    expect(await imports()).toMatchObject([{ actor: 'operator', before: null, after: { days: 3, uses: 12 } }]);
    await expect(importHistory(db, id, history, false, NOW)).rejects.toThrow('already has a count');
    await importHistory(db, id, history, true, NOW);
    expect(await imports()).toHaveLength(1);
    await importHistory(db, id, readHistory('2026-01-01,0\n2026-01-03,8', TODAY), true, NOW);
    expect(await imports()).toMatchObject([
      { before: { days: 2, uses: 12 }, after: { days: 2, uses: 8 } },
      { before: null, after: { days: 3, uses: 12 } },
    ]);
  });

  test('holds no secret', async () => {
    const user_id = ++user;
    const token = 'Imported-token-of-somebody-else';
    const { business } = await run<{ business: { id: number; token: string } }>('business create', {
      user_id,
      ...FIELDS,
      token,
    });
    const { api_key } = await run<{ api_key: string }>('key create', { user_id, business_id: business.id });
    const { business: rotated } = await run<{ business: { token: string } }>('business rotate-token', {
      ID: business.id,
    });
    expect(await everything()).not.toContain(api_key);
    const rows = JSON.stringify(await Promise.all(homes.map(({ db }) => db.select().from(changes))));
    for (const secret of [api_key, token, rotated.token, await hashOf(api_key)]) expect(rows).not.toContain(secret);
  });

  test('needs an ID or a user, not both', async () => {
    const rule = 'changes list needs either ID or --user 7';
    await expect(run('changes list', {})).rejects.toThrow(rule);
    await expect(run('changes list', { ID: 1, user_id: 7 })).rejects.toThrow(rule);
  });
});

test('limits are set, shown and lifted', async () => {
  const { id: ID, usage, key } = await newBusiness();
  const limits = async () => (await run<{ limits: object }>('business show', { ID })).limits;
  await run('business update', { ID, daily_limit: 0, monthly_limit: 7, billing_day: 15 });
  expect(await limits()).toEqual({ daily: 0, monthly: 7, billing_day: 15 });
  expect((await call('POST', usage, { as: key })).status).toBe(429);
  await run('business update', { ID, daily_limit: 'none' });
  expect(await limits()).toEqual({ daily: null, monthly: 7, billing_day: 15 });
  expect((await call('POST', usage, { as: key })).body.data.remaining).toBe(6);
});

describe('a narrow key', () => {
  test('is for a business of its user, and no other', async () => {
    const [mine, other] = [await newBusiness(), await newBusiness()];
    const given = { user_id: mine.user_id, business_id: mine.id, read_only: true };
    const { api_key, ...key } = await run<{ api_key: string; id: number }>('key create', given);
    expect(key).toMatchObject({ business_id: mine.id, read_only: true, role: 'read', last_used_on: null });
    expect((await call('GET', mine.usage, { as: api_key })).status).toBe(200);
    const { keys } = await run<{ keys: object[] }>('key list', { user_id: mine.user_id });
    expect(keys).toContainEqual({ ...key, last_used_on: TODAY });
    const refusal = `business_id must be a business of user ${mine.user_id}`;
    await expect(run('key create', { ...given, business_id: other.id })).rejects.toThrow(refusal);
  });
});

test('a key of each role may do what its role says', async () => {
  const { user_id, usage, access } = await newBusiness();
  const statusesOf = async (role: string) => {
    const { api_key: as } = await run<{ api_key: string }>('key create', { user_id, role });
    const calls = [
      call('GET', usage, { as }),
      call('POST', usage, { as }),
      call('GET', access, { as }),
      call('DELETE', access, { as }),
    ];
    return (await Promise.all(calls)).map(({ status }) => status);
  };
  expect(await statusesOf('full')).toEqual([200, 200, 200, 200]);
  expect(await statusesOf('read')).toEqual([200, 403, 200, 403]);
  expect(await statusesOf('record')).toEqual([200, 200, 403, 403]);
});

test('a console link opens the console of a user once; without such a user, or for a business of another, there is none', async () => {
  const [mine, other] = [await newBusiness(), await newBusiness()];
  const given = { user_id: mine.user_id, url: 'https://usage.example', business_id: mine.id, role: 'read', minutes: 5 };
  const { url, expires_at } = await run<{ url: string; expires_at: string }>('console-link create', given);
  expect(url).toMatch(/^https:\/\/usage\.example\/owner#code=[0-9A-Za-z]{34}$/);
  expect(expires_at).toBe('2026-03-15T12:02:00.000000Z');
  const open = () => call('POST', '/api/v1/session', { body: { code: url.slice(-34) } });
  const { session_key, ...session } = (await open()).body.data;
  expect(session).toEqual({ expires_at: '2026-03-15T12:05:00.000000Z', read_only: true });
  expect((await call('GET', mine.usage, { as: session_key })).status).toBe(200);
  expect((await open()).status).toBe(401);
  await expect(run('console-link create', { ...given, user_id: ++user })).rejects.toThrow(
    'There is no user with that id.',
  );
  const refusal = `business_id must be a business of user ${mine.user_id}`;
  await expect(run('console-link create', { ...given, business_id: other.id })).rejects.toThrow(refusal);
});

test('business create takes the id of another system: greater than any so far, and at most half a range', async () => {
  for (const { number } of homes) {
    const create = (id: number) =>
      run<{ business: { id: number } }>('business create', { user_id: ++user, ...FIELDS, database: number, id });
    const { business } = await run<{ business: { id: number } }>('business create', {
      user_id: ++user,
      ...FIELDS,
      database: number,
    });
    const next = business.id + 1000;
    expect((await create(next)).business.id).toBe(next);
    for (const id of [next, next - 1, business.id])
      await expect(create(id)).rejects.toThrow(`id must be greater than ${next}, the last id of its database`);
    const most = number * 1_000_000_000 + 500_000_000;
    await expect(create(most + 1)).rejects.toThrow(`id must be at most ${most}, so that there is room behind it`);
    const { business: after } = await run<{ business: { id: number } }>('business create', {
      user_id: ++user,
      ...FIELDS,
      database: number,
    });
    expect(after.id).toBe(next + 1);
  }
});

test('a command for a business that is unknown changes nothing, and gives nobody a home', async () => {
  const before = await everything();
  const unknown = 'There is no business with that id.';
  const ID = 999_999_999;
  await expect(run('business update', { ID, user_id: ++user })).rejects.toThrow(unknown);
  await expect(run('business stop-former-tokens', { ID })).rejects.toThrow(unknown);
  expect(await everything()).toBe(before);
});

test('access list shows what the API shows', async () => {
  const business = await newBusiness({ sites: ['https://b.example', 'https://a.example'] });
  const { body } = await call('GET', business.access, { as: business.key });
  expect(await run('access list', { ID: business.id })).toEqual({ business: body.data });
});

test('the mistakes of a file are told all at once, the first 20 by line', async () => {
  const csv = Array.from({ length: 25 }, (_, index) => (index % 2 ? 'x' : `2026-01-${index + 1},5`)).join('\n');
  const wrong = (line: number) => `line ${line} must be a day and a count, such as 2026-01-31,120`;
  const lines = Array.from({ length: 25 }, (_, index) => index + 1).filter((line) => line % 2 === 0 || line < 10);
  const told = async (csv: string) => {
    const { id, db } = await newBusiness();
    return importHistory(db, id, readHistory(csv, TODAY), false, NOW).catch((error: Error) =>
      error.message.split('\n'),
    );
  };
  expect(await told(csv)).toEqual(lines.slice(0, 17).map(wrong));
  const many = Array.from({ length: 30 }, () => 'x').join('\n');
  expect(await told(many)).toEqual([...Array.from({ length: 20 }, (_, index) => wrong(index + 1)), 'and 10 more']);
});

describe('deleting a business', () => {
  test('asks for its name', async () => {
    const { id: ID, name } = await newBusiness();
    const before = await everything();
    await expect(run('business delete', { ID, confirm: 'Acme' })).rejects.toThrow(
      `--confirm must be the name of the business: ${name}`,
    );
    expect(await everything()).toBe(before);
  });

  test('leaves one change and digests of its tokens, and touches nothing else', async () => {
    const token = 'Imported-token-of-the-deleted-one';
    const business = await newBusiness({ token, sites: ['https://shop.example'] });
    const { id: ID, user_id, name, home, db } = business;
    const sibling = await newBusiness({ user_id });
    await newBusiness();
    for (const of of [business, sibling]) {
      await setCount(of.id, '2026-03-01', 5);
      await call('POST', of.usage, { as: of.key, headers: { 'Idempotency-Key': 'order-1' } });
    }
    await call('GET', business.usage, { as: token, origin: 'https://evil.example' });
    const narrow = await createKey(home, { user_id, name: 'n', expires_on: null, business_id: ID }, NOW);
    await run('business rotate-token', { ID, keep_old: 3_600_000 });
    const { business: rotated } = await run<{ business: { token: string } }>('business show', { ID });
    const rowsOfOthers = async () => {
      const isOf = (row: Record<string, unknown>) =>
        row.business_id === ID || row.subject_id === ID || row.hash !== undefined;
      const tables = homes.map(async ({ d1 }) => {
        const names = (await d1.prepare(TABLES).all<{ name: string }>()).results.map(({ name }) => name);
        return d1.batch<Record<string, unknown>>(names.map((name) => d1.prepare(`select * from "${name}"`)));
      });
      return (await Promise.all(tables))
        .flat()
        .map(({ results }) => results.filter((row) => !isOf(row) && !(row.id === ID && row.user_id === user_id)));
    };
    const before = await rowsOfOthers();
    expect(await run('business delete', { ID, confirm: name })).toEqual({ deleted: { id: ID, name } });
    expect(await rowsOfOthers()).toEqual(before);

    const change = {
      action: 'delete_business',
      actor: 'operator',
      before: { user_id, name, main_domain: 'acme.example' },
    };
    expect(await changesOf({ ID })).toEqual([expect.objectContaining({ ...change, after: null })]);
    for (const as of [token, rotated.token, narrow.api_key]) {
      expect((await call('GET', business.usage, { as })).status).toBe(401);
    }
    expect((await call('GET', business.usage, { as: business.key })).status).toBe(422);
    expect(await db.$count(ledger, eq(ledger.business_id, ID))).toBe(0);
    await expect(run('business delete', { ID, confirm: name })).rejects.toThrow('There is no business with that id.');
    // Neither its tokens nor its id come back, not even to its owner.
    const again = run('business create', { ...FIELDS, user_id, token });
    await expect(again).rejects.toThrow('token must be one that no business has or had');
    const next = await newBusiness({ user_id });
    expect(next.id).toBeGreaterThan(ID);
    const tables = sql`select count(*) as n from ${businesses} where ${eq(businesses.id, ID)}`;
    expect((await db.run(tables)).results).toEqual([{ n: 0 }]);
  });

  test('is one batch, or two where a token could be imported again, whoever replaces the token before each', async () => {
    for (const [isOurs, batches] of [
      [true, 1],
      [false, 3],
    ] as const) {
      const business = await newBusiness();
      const { id: ID, name, home, db } = business;
      const foreign = (text: string) =>
        db
          .update(businesses)
          .set({ token: `${text}-${ID}` })
          .where(eq(businesses.id, ID));
      if (!isOurs) await foreign('put-in-by-SQL-long-ago');
      let asked = 0;
      const raced = {
        prepare: (sql: string) => home.d1.prepare(sql),
        async batch(statements: D1PreparedStatement[]) {
          asked += 1;
          if (isOurs) await call('POST', `/api/v1/business/${ID}/token`, { as: business.key });
          else if (asked === 2) await foreign('put-in-by-SQL-meanwhile');
          return home.d1.batch(statements);
        },
      };
      const ask = asking({ db: drizzle(raced as unknown as D1Database) }, 'delete_business', NOW, ID);
      await deleteBusiness(ask, name);
      expect(asked).toBe(batches);
      expect(await db.$count(businesses, eq(businesses.id, ID))).toBe(0);
      expect(await changesOf({ ID })).toMatchObject([{ action: 'delete_business' }, ...(isOurs ? [{}] : [])]);
      const again = (token: string) => run('business create', { ...FIELDS, user_id: business.user_id, token });
      if (!isOurs && home.number === 0)
        await expect(again(`put-in-by-SQL-meanwhile-${ID}`)).rejects.toThrow('token must be one that no business');
    }
  });

  test('deletes many ids and changes in steps, and goes on where it was interrupted', async () => {
    const { id: ID, name, home, db } = await newBusiness();
    await home.d1.batch([
      home.d1
        .prepare(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 4100)
          insert into changes select 'business', ?, i, '2026-03-15T00:00:00.000000Z', 'operator', 'update_business', null, '{}' from n`)
        .bind(ID),
      home.d1
        .prepare(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 4100)
          insert into ledger (business_id, digest, day, recorded_on) select ?, unhex(printf('%032x', i)), '${TODAY}', '${TODAY}' from n`)
        .bind(ID),
    ]);
    const left = async () => ({
      ids: await db.$count(ledger, eq(ledger.business_id, ID)),
      changes: (await changesOf({ ID })).length,
      going: await db.$count(deletions, eq(deletions.business_id, ID)),
    });
    await deleteBusiness(asking(home, 'delete_business', NOW, ID), name);
    expect(await left()).toEqual({ ids: 4100, changes: 4101, going: 1 });
    const written: number[] = [];
    let isInterrupted = false;
    const watched = {
      prepare: (sql: string) => watchedStatement(home.d1.prepare(sql)),
    };
    const watchedStatement = (bound: D1PreparedStatement): object => ({
      bind: (...values: unknown[]) => watchedStatement(bound.bind(...values)),
      all: () => bound.all(),
      raw: () => bound.raw(),
      async run() {
        if (isInterrupted) throw new Error('killed');
        const result = await bound.run();
        written.push(result.meta.changes);
        isInterrupted = written.length === 1;
        return result;
      },
    });
    await expect(forgetDeleted(drizzle(watched as unknown as D1Database))).rejects.toThrow();
    expect(await left()).toEqual({ ids: 100, changes: 4101, going: 1 });
    expect(written).toEqual([4000]);
    for (let minute = 0; minute < 12; minute++) await purge(db, new Date(NOW.getTime() + minute * 60_000));
    expect(await left()).toEqual({ ids: 0, changes: 1, going: 0 });
    expect(await changesOf({ ID })).toMatchObject([{ action: 'delete_business' }]);
  });
});
