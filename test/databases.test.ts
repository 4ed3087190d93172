// Several databases: where a call goes, where a new owner goes, and what happens when one of them fails.
import { createScheduledController } from 'cloudflare:test';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { describe, expect, test } from 'vitest';
import { createBusiness, rotateToken } from '../src/cli/businesses.ts';
import { Databases } from '../src/cli/databases.ts';
import { claimToken, homeOf } from '../src/cli/homes.ts';
import { createKey, revokeKey } from '../src/cli/keys.ts';
import { RUNS } from '../src/cli/runs.ts';
import { ALPHABET, hashOf, newCredential } from '../src/core/credential.ts';
import { bindingOf, databaseFor, databaseOfId } from '../src/core/database.ts';
import { businesses, dailyUsage, formerTokens } from '../src/db/schema.ts';
import worker from '../src/index.ts';
import { OF_A_BUSINESS } from './routes.ts';
import { BASE, call, databases, everything, homes, NOW, newApp, newBusiness, setCount, TODAY } from './support.ts';

const SECRET = 'x'.repeat(33);
const IMPORTED = 'Token-of-another-system-1';
const UNAUTHENTICATED = { status: 401, body: { message: 'Unauthenticated.' } };
const withLetter = (credential: string, letter: string) => credential.slice(0, 7) + letter + credential.slice(8);

describe('the database of a call', () => {
  test('is the one that the credential names: the first of 34 characters, or DB with 33', () => {
    for (const [number, letter] of [...ALPHABET].entries()) {
      const credential = newCredential('bua_sk_', number);
      expect(credential).toMatch(new RegExp(`^bua_sk_${letter}[0-9A-Za-z]{33}$`));
      expect(databaseFor({ database: number }, 0, () => true)).toBe(number === 0 ? 'DB' : `DB_${number}`);
    }
    expect(bindingOf(62)).toBeNull();
  });

  test('is for an imported token that of the id in the path, or DB where the path names none that is bound', () => {
    const bindingFor = (id: number) => databaseFor({ database: null }, id, (name) => name !== 'DB_7');
    expect([1, 1_000_000_000].map(bindingFor)).toEqual(['DB', 'DB']);
    expect([1_000_000_001, 2_000_000_000].map(bindingFor)).toEqual(['DB_1', 'DB_1']);
    expect([61_000_000_001, 62_000_000_000].map(bindingFor)).toEqual(['DB_61', 'DB_61']);
    const none = [0, 7_000_000_001, 62_000_000_001, Number.MAX_SAFE_INTEGER];
    expect(none.map(bindingFor)).toEqual(['DB', 'DB', 'DB', 'DB']);
    expect(databaseFor({ database: 7 }, 1, (name) => name !== 'DB_7')).toBeNull();
  });
});

describe.each(OF_A_BUSINESS)('to $name', (route) => {
  const ask = async (id: number | string, as: string) => {
    const options = { as, headers: { ...route.headers }, ...(route.body === undefined ? {} : { body: route.body }) };
    const { status, body, cost } = await call(route.method, route.path({ id }), options);
    return { answer: { status, body }, round_trips: cost.round_trips };
  };

  test('a credential of a database that is not bound is 401, without any', async () => {
    const business = await newBusiness();
    for (const as of [withLetter(business.key, 'z'), withLetter(business.token, '9'), `bua_sk_z${SECRET}`]) {
      expect(await ask(business.id, as)).toEqual({ answer: UNAUTHENTICATED, round_trips: 0 });
    }
  });

  test('a credential whose letter is changed, or left out, is 401', async () => {
    const business = await newBusiness();
    const before = await everything();
    for (const credential of [business.key, business.token]) {
      for (const letter of ['0', '1', '2', ''].filter((letter) => letter !== credential[7])) {
        const { answer } = await ask(business.id, withLetter(credential, letter));
        expect({ letter, answer }).toEqual({ letter, answer: UNAUTHENTICATED });
      }
    }
    expect(await everything()).toBe(before);
  });

  test('a credential of one database gets, for a business in another, what an unknown id gets', async () => {
    const mine = await newBusiness();
    const others = await Promise.all(homes.map(() => newBusiness()));
    for (const as of [mine.key, mine.token]) {
      const unknown = (await ask(999, as)).answer;
      expect(unknown).toEqual(route.unknownBusiness);
      for (const { id } of others.filter(({ id }) => databaseOfId(id) !== databaseOfId(mine.id))) {
        expect(await ask(id, as)).toEqual({ answer: unknown, round_trips: 1 });
      }
    }
  });

  test('an imported token is looked up in DB where the path names no database, and unknown in another one', async () => {
    const { id } = await newBusiness({ token: `${IMPORTED}${route.name.replaceAll(' ', '')}` });
    const token = `${IMPORTED}${route.name.replaceAll(' ', '')}`;
    expect((await ask(id, token)).answer.status).toBe(route.tokenRefusal === null ? 200 : 403);
    for (const path of ['0', 'abc', '99000000001']) {
      const answer = databaseOfId(id) === 0 ? route.unknownBusiness : UNAUTHENTICATED;
      expect(await ask(path, token)).toEqual({ answer, round_trips: 1 });
    }
    const elsewhere = homes.filter(({ number }) => number !== databaseOfId(id));
    for (const { number } of elsewhere) {
      expect(await ask(number * 1_000_000_000 + 1, token)).toEqual({ answer: UNAUTHENTICATED, round_trips: 1 });
    }
  });

  test('a database that fails is 503 for its own owners, and for nobody else', async () => {
    const businesses = await Promise.all(homes.map(() => newBusiness()));
    const down = (d1: D1Database) => ({ ...d1, prepare: d1.prepare.bind(d1), batch: fail }) as unknown as D1Database;
    const fail = () => Promise.reject(new Error('D1_ERROR: D1 DB is overloaded.'));
    for (const failed of homes) {
      const bindings = databases((d1) => (d1 === failed.d1 ? down(d1) : d1));
      for (const business of businesses) {
        const headers = {
          ...route.headers,
          Authorization: `Bearer ${business.key}`,
          'Content-Type': 'application/json',
        };
        const init: RequestInit = { method: route.method, headers };
        if (route.body !== undefined) init.body = JSON.stringify(route.body);
        const { status } = await newApp().app.fetch(new Request(BASE + route.path(business), init), bindings);
        expect(status).toBe(business.home === failed ? 503 : (route.granted ?? 200));
      }
    }
  });
});

test('revoking and rotating take effect with the next request, in each database', async () => {
  for (const _ of homes) {
    const { id, key, token, usage, home, db, user_id } = await newBusiness();
    const second = await createKey(home, { user_id, name: 'second', expires_on: null }, NOW);
    const status = async (as: string) => (await call('GET', usage, { as })).status;
    expect(await Promise.all([key, token, second.api_key].map(status))).toEqual([200, 200, 200]);
    await revokeKey(db, second.id, NOW);
    const rotated = await rotateToken(home, id, NOW);
    expect(await Promise.all([second.api_key, token].map(status))).toEqual([401, 401]);
    expect(rotated?.token).toMatch(new RegExp(`^bua_pk_${home.number}[0-9A-Za-z]{33}$`));
    expect(await status(rotated?.token ?? '')).toBe(200);
  }
});

const FIELDS = {
  ...{ name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' },
  ...{ country_id: 1, business_size: 'small' },
};
const all = () => new Databases(homes);
let user = 50_000;
const newUser = () => ++user;
/** A database that cannot be asked. */
const broken = {
  prepare() {
    throw new Error('D1_ERROR: Network connection lost.');
  },
} as unknown as D1Database;
/** The databases, of which one cannot be asked. */
const without = (number: number) =>
  new Databases(homes.map((home) => (home.number === number ? { ...home, db: drizzle(broken) } : home)));

describe('ids', () => {
  test('of a database start at its number times 10⁹, plus 1: of businesses, keys and entries', async () => {
    for (const home of homes) {
      const { number } = home;
      const business = await createBusiness(home, { ...FIELDS, user_id: newUser() }, NOW);
      const key = await createKey(home, { user_id: business.user_id, name: 'k', expires_on: null }, NOW);
      const answer = await call('POST', `/api/v1/business/${business.id}/access`, {
        as: key.api_key,
        body: { sites: ['https://a.example'] },
      });
      const [entry] = answer.body.data.access_list;
      for (const id of [business.id, key.id, entry.id]) expect(databaseOfId(id)).toBe(number);
    }
  });

  test('that somebody gave by hand, below the range, do not keep later ones below it', async () => {
    for (const home of homes) {
      const sequence = home.d1.prepare(`update sqlite_sequence set seq = 5 where name = 'api_keys' and ?1 > 0`);
      await sequence.bind(home.number).run();
      const { id } = await createKey(home, { user_id: newUser(), name: 'k', expires_on: null }, NOW);
      expect(databaseOfId(id)).toBe(home.number);
    }
  });
});

describe('the home of a new owner', () => {
  test('is the database with the fewest businesses, the lowest of several', async () => {
    const home = await homeOf(all(), newUser());
    const counts = await Promise.all(
      homes.map(async ({ d1 }) => d1.prepare('select count(*) n from businesses').first('n')),
    );
    expect(home.number).toBe(counts.indexOf(Math.min(...(counts as number[]))));
  });

  test('is the one that is wanted, and stays it: another is refused', async () => {
    for (const { number } of homes) {
      const user_id = newUser();
      expect((await homeOf(all(), user_id, number)).number).toBe(number);
      expect((await homeOf(all(), user_id)).number).toBe(number);
      for (const other of homes.filter((home) => home.number !== number)) {
        await expect(homeOf(all(), user_id, other.number)).rejects.toThrow(
          `User ${user_id} is in database ${number}, ${homes[number]?.binding} (${homes[number]?.name}), and cannot be in another.`,
        );
      }
    }
  });

  test('is one, however many commands ask at once', async () => {
    for (let round = 0; round < 10; round++) {
      const user_id = newUser();
      const wanted = (index: number) => homes[index % homes.length]?.number;
      const asked = Array.from({ length: 12 }, (_, index) =>
        homeOf(all(), user_id, round % 2 ? wanted(index) : undefined),
      );
      const settled = await Promise.allSettled(asked);
      const granted = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value.number] : []));
      expect(new Set(granted).size).toBe(1);
      if (round % 2 === 0) expect(granted).toHaveLength(12);
    }
  });

  test('is not one that is not bound: to ask for it claims nothing', async () => {
    const user_id = newUser();
    await expect(homeOf(all(), user_id, 61)).rejects.toThrow('Database 61 is not bound.');
    expect((await homeOf(all(), user_id, homes.length - 1)).number).toBe(homes.length - 1);
  });

  test('of an owner from before is where his businesses or keys are', async () => {
    for (const home of homes) {
      const [byBusiness, byKey] = [newUser(), newUser()];
      await createBusiness(home, { ...FIELDS, user_id: byBusiness }, NOW);
      await createKey(home, { user_id: byKey, name: 'k', expires_on: null }, NOW);
      for (const user_id of [byBusiness, byKey]) expect((await homeOf(all(), user_id)).number).toBe(home.number);
    }
  });

  test('is not given while a database cannot be asked', async () => {
    for (const { number } of homes) {
      const user_id = newUser();
      await expect(homeOf(without(number), user_id)).rejects.toThrow('D1_ERROR: Network connection lost.');
      expect(await homes[0]?.d1.prepare('select * from homes where user_id = ?').bind(user_id).first()).toBeNull();
    }
  });

  test('is not changed by giving a business to an owner of another database', async () => {
    const [mine, other] = [await newBusiness(), await newBusiness()];
    const update = RUNS['business update'](all(), { ID: mine.id, user_id: other.user_id }, NOW);
    if (mine.home === other.home) await expect(update).resolves.toMatchObject({ business: { user_id: other.user_id } });
    else await expect(update).rejects.toThrow(`User ${other.user_id} is in database ${other.home.number}`);
    const user_id = newUser();
    const given = {
      business: expect.objectContaining({ id: mine.id, user_id }),
      limits: { daily: null, monthly: null },
    };
    expect(await RUNS['business update'](all(), { ID: mine.id, user_id }, NOW)).toEqual(given);
    expect((await homeOf(all(), user_id)).number).toBe(mine.home.number);
  });
});

describe('an imported token', () => {
  test('belongs to one owner, whatever the database, and he can try again', async () => {
    const [one, two] = [newUser(), newUser()];
    const token = `${IMPORTED}claimed`;
    await claimToken(all(), token, one, NOW);
    await claimToken(all(), token, one, NOW);
    await expect(claimToken(all(), token, two, NOW)).rejects.toThrow('This token is already in use.');
    const business = await newBusiness({ token, user_id: one });
    expect((await call('GET', business.usage, { as: token })).status).toBe(200);
    for (const user_id of [one, two]) {
      await expect(claimToken(all(), token, user_id, NOW)).rejects.toThrow('This token is already in use.');
    }
  });

  test('that is refused gives its owner no home', async () => {
    const { token } = await newBusiness({ token: `${IMPORTED}taken` });
    const user_id = newUser();
    const create = RUNS['business create'](all(), { ...FIELDS, user_id, token }, NOW);
    await expect(create).rejects.toThrow('This token is already in use.');
    expect(await homes[0]?.d1.prepare('select * from homes where user_id = ?').bind(user_id).first()).toBeNull();
  });

  test('from before the claims is in use where a business has it, or had it and keeps it', async () => {
    for (const home of homes) {
      const token = `${IMPORTED}before${home.number}`;
      const { id } = await createBusiness(home, { ...FIELDS, user_id: newUser(), token }, NOW);
      await home.d1
        .prepare('delete from retired_tokens where hash = ?')
        .bind(await hashOf(token))
        .run();
      await expect(claimToken(all(), token, newUser(), NOW)).rejects.toThrow('This token is already in use.');
      await rotateToken(home, id, NOW, 3_600_000);
      await expect(claimToken(all(), token, newUser(), NOW)).rejects.toThrow('This token is already in use.');
      await rotateToken(home, id, NOW); // the token is nobody's: who was refused before has not claimed it
      await claimToken(all(), token, newUser(), NOW);
    }
  });
});

describe('what was imported once is never imported again, not even by its owner', () => {
  const importing = (user_id: number, token: string) =>
    RUNS['business create'](all(), { ...FIELDS, user_id, token }, NOW) as unknown as Promise<{
      business: { id: number };
    }>;
  test.each([
    ['while the business has it', async () => {}],
    ['once it was replaced at once', (ID: number) => RUNS['business rotate-token'](all(), { ID }, NOW)],
    [
      'once it was replaced and the business is deleted',
      async (ID: number) => {
        await RUNS['business rotate-token'](all(), { ID }, NOW);
        await RUNS['business delete'](all(), { ID, confirm: FIELDS.name }, NOW);
      },
    ],
    ['once the business is deleted', (ID: number) => RUNS['business delete'](all(), { ID, confirm: FIELDS.name }, NOW)],
  ])('%s', async (name, happen) => {
    const user_id = newUser();
    const token = `${IMPORTED}again-${name.replaceAll(' ', '-')}`;
    const { business } = await importing(user_id, token);
    await happen(business.id);
    await expect(importing(user_id, token)).rejects.toThrow('This token is already in use.');
  });

  test('nor what was claimed before it was written down which imported token a business has', async () => {
    const user_id = newUser();
    const token = `${IMPORTED}claimed-before`;
    const claim = homes[0]?.d1.prepare('insert into imported_tokens (hash, user_id) values (?, ?)');
    await claim?.bind(await hashOf(token), user_id).run();
    await expect(importing(user_id, token)).rejects.toThrow('This token is already in use.');
  });

  test('not by two commands that both claimed it, though the first business has replaced it since', async () => {
    const user_id = newUser();
    const token = `${IMPORTED}raced`;
    const home = homes[0] as (typeof homes)[number];
    await claimToken(all(), token, user_id, NOW);
    await claimToken(all(), token, user_id, NOW);
    const { id } = await createBusiness(home, { ...FIELDS, user_id, token }, NOW);
    await rotateToken(home, id, NOW, 3_600_000);
    const again = createBusiness(home, { ...FIELDS, user_id, token }, NOW);
    await expect(again).rejects.toThrow('This token is already in use.');
  });

  test('but a claim whose business was not made may be repeated', async () => {
    const user_id = newUser();
    const token = `${IMPORTED}claimed-only`;
    await claimToken(all(), token, user_id, NOW);
    expect((await importing(user_id, token)).business).toMatchObject({ user_id, token });
  });
});

test('lists have what every database has, and name the one that failed', async () => {
  const businesses = await Promise.all(homes.map(() => newBusiness()));
  const ids = (result: unknown) => (result as { businesses: { id: number }[] }).businesses.map(({ id }) => id);
  const listed = ids(await RUNS['business list'](all(), {}, NOW));
  expect(listed).toEqual(expect.arrayContaining(businesses.map(({ id }) => id)));
  expect(listed).toEqual(listed.toSorted((a, b) => a - b));
  for (const { number, binding } of homes) {
    const some = without(number);
    const failure = `${binding} (${binding}) failed: D1_ERROR: Network connection lost.`;
    if (homes.length === 1) {
      await expect(RUNS['business list'](some, {}, NOW)).rejects.toThrow(failure);
      continue;
    }
    const rest = await RUNS['business list'](some, {}, NOW);
    expect(ids(rest)).toEqual(listed.filter((id) => databaseOfId(id) !== number));
    expect(rest.failures).toEqual([failure]);
  }
});

describe('with owners in a database that is not bound', () => {
  test('lists have the others, and say so', async () => {
    const { user_id, id } = await newBusiness();
    const { d1 } = homes[0] as (typeof homes)[number];
    const elsewhere = newUser();
    await d1.prepare('insert into homes (user_id, database) values (?, 5)').bind(elsewhere).run();
    for (const [name, given] of [
      ['business list', { user_id }],
      ['key list', { user_id }],
      ['changes list', { user_id }],
      ['database list', {}],
    ] as const) {
      const result = await RUNS[name](all(), given, NOW);
      if (name === 'business list') expect(JSON.stringify(result)).toContain(`"id":${id},`);
      expect(result.failures).toEqual(['DB_5 has owners, but the configuration does not bind it']);
    }
    await d1.prepare('delete from homes where user_id = ?').bind(elsewhere).run();
  });

  test('nothing is created, and nothing claimed: the user, or the token, could be in that database', async () => {
    const { id } = await newBusiness();
    const { d1 } = homes[0] as (typeof homes)[number];
    const [elsewhere, anybody] = [newUser(), newUser()];
    await d1.prepare('insert into homes (user_id, database) values (?, 5)').bind(elsewhere).run();
    const before = await everything();
    const token = `${IMPORTED}unbound`;
    for (const user_id of [elsewhere, anybody]) {
      for (const [name, given] of [
        ['key create', { user_id }],
        ['business create', { ...FIELDS, user_id }],
        ['business create', { ...FIELDS, user_id, token }],
        ['business update', { ID: id, user_id }],
      ] as const) {
        await expect(RUNS[name](all(), given, NOW)).rejects.toThrow(
          new Error('DB_5 has owners, but the configuration does not bind it'),
        );
      }
    }
    expect(await everything()).toBe(before);
    await d1.prepare('delete from homes where user_id = ?').bind(elsewhere).run();
  });

  test('a command for one of its ids names it; an id of no database is unknown', async () => {
    for (const [name, what] of [
      ['business show', 'business'],
      ['business status', 'business'],
      ['key revoke', 'key'],
    ] as const) {
      const run = (ID: number) => RUNS[name](all(), { ID, STATUS: 'active' }, NOW);
      await expect(run(5_000_000_001)).rejects.toThrow(
        'The id 5000000001 is one of DB_5, which the configuration does not bind.',
      );
      await expect(run(62_000_000_001)).rejects.toThrow(`There is no ${what} with that id.`);
    }
  });
});

const usesOf = async (db: (typeof homes)[number]['db']) =>
  (await db.select().from(dailyUsage).where(eq(dailyUsage.day, TODAY))).reduce((sum, { count }) => sum + count, 0);
test('database list shows each', async () => {
  for (const business of await Promise.all(homes.map(() => newBusiness())))
    await setCount(business.id, '2026-03-14', 7);
  const tomorrow = new Date(NOW.getTime() + 86_400_000);
  const [today, listed] = await Promise.all(
    [NOW, tomorrow].map((at) => RUNS['database list'](all(), {}, at) as Promise<{ databases: object[] }>),
  );
  expect(today?.databases).toMatchObject(homes.map(() => ({ uses: 7 })));
  for (const { number, binding, name, db } of homes) {
    expect(listed?.databases[number]).toEqual({
      letter: `${number}`,
      binding,
      name,
      region: null,
      bytes: expect.any(Number),
      businesses: await db.$count(businesses),
      uses: await usesOf(db),
    });
  }
});

test('the scheduled run purges each database; one that fails does not stop the others', async () => {
  const businesses = await Promise.all(homes.map(() => newBusiness()));
  for (const { home, id } of businesses) await rotateToken(home, id, NOW, 1);
  const [failed] = homes;
  const bindings = databases((d1) => (d1 === failed?.d1 ? broken : d1));
  const controller = createScheduledController({ scheduledTime: NOW.getTime() + 2 * 86_400_000, cron: '* * * * *' });
  await expect(worker.scheduled(controller, bindings as never)).rejects.toThrow('the purge of DB failed');
  const left = await Promise.all(homes.map(({ db }) => db.$count(formerTokens)));
  expect(left).toEqual(homes.map((home) => (home === failed ? expect.any(Number) : 0)));
  expect(left[0]).toBeGreaterThan(0);
});
