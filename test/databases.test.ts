// Several databases: how the database is chosen for a request and for a new owner, and what happens if one fails.
import { createScheduledController } from 'cloudflare:test';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { describe, expect, test, vi } from 'vitest';
import { createBusiness as createIn } from '../src/business/creation.ts';
import { deleteBusiness } from '../src/business/deletion.ts';
import { claimHomeIn } from '../src/business/update.ts';
import { Conflict } from '../src/core/conflict.ts';
import { ALPHABET, newCredential } from '../src/core/credential.ts';
import { bindingOf, databaseFor, databaseOfId, NotBound } from '../src/core/database.ts';
import { SCHEDULES } from '../src/core/schedule.ts';
import { type BoundDatabases, noCost } from '../src/db/batch.ts';
import { parseJson } from '../src/db/json.ts';
import { metered } from '../src/db/meter.ts';
import { businesses, formerTokens } from '../src/db/schema.ts';
import worker from '../src/index.ts';
import { createKey as createKeyFor } from '../src/keys/statements.ts';
import { UNAUTHENTICATED } from './answers.ts';
import { asking, boundTo, createBusiness, createKey, homeOf, revokeKey, rotateToken } from './ask.ts';
import { OF_A_BUSINESS } from './routes.ts';
import {
  ask,
  BASE,
  call,
  callerOf,
  claimToken,
  databases,
  dumpAll,
  eachOf,
  env,
  failingWith,
  type Home,
  homeOfId,
  homes,
  NOW,
  newApp,
  newBusiness,
  OPERATOR,
} from './support.ts';

const SECRET = 'x'.repeat(33);
const IMPORTED = 'Token-of-another-system-1';
const withLetter = (credential: string, letter: string) => credential.slice(0, 7) + letter + credential.slice(8);

describe('the database of a call', () => {
  test('is named by the first of the 34 characters after a credential’s prefix', () => {
    for (const [number, letter] of [...ALPHABET].entries()) {
      const credential = newCredential('bua_sk_', number);
      expect(credential).toMatch(new RegExp(`^bua_sk_${letter}[0-9A-Za-z]{33}$`));
      expect(databaseFor({ database: number }, 0, () => true)).toBe(number);
      expect(bindingOf(number)).toBe(number === 0 ? 'DB' : `DB_${number}`);
    }
    expect(bindingOf(62)).toBeNull();
  });

  test('for an imported token is named by the id in the path, or is DB if the path names no bound database', () => {
    const numberFor = (id: number) => databaseFor({ database: null }, id, (name) => name !== 'DB_7');
    expect([1, 1_000_000_000].map(numberFor)).toEqual([0, 0]);
    expect([1_000_000_001, 2_000_000_000].map(numberFor)).toEqual([1, 1]);
    expect([61_000_000_001, 62_000_000_000].map(numberFor)).toEqual([61, 61]);
    const none = [0, 7_000_000_001, 62_000_000_001, Number.MAX_SAFE_INTEGER];
    expect(none.map(numberFor)).toEqual([0, 0, 0, 0]);
    expect(databaseFor({ database: 7 }, 1, (name) => name !== 'DB_7')).toBeNull();
  });
});

eachOf(describe, OF_A_BUSINESS)('a call to $name', (route) => {
  const askWith = async (id: number | string, as: string) => {
    const { status, body, cost } = await ask(route, { id }, { as });
    return { answer: { status, body }, round_trips: cost.round_trips };
  };

  test('returns 401 without a query if the credential names an unbound database', async () => {
    const business = await newBusiness();
    for (const as of [withLetter(business.key, 'z'), withLetter(business.token, '9'), `bua_sk_z${SECRET}`]) {
      expect(await askWith(business.id, as)).toEqual({ answer: UNAUTHENTICATED, round_trips: 0 });
    }
  });

  test('returns 401 if the credential’s database letter is changed or left out', async () => {
    const business = await newBusiness();
    const before = await dumpAll();
    for (const credential of [business.key, business.token]) {
      for (const letter of ['0', '1', '2', ''].filter((letter) => letter !== credential[7])) {
        const { answer } = await askWith(business.id, withLetter(credential, letter));
        expect({ letter, answer }).toEqual({ letter, answer: UNAUTHENTICATED });
      }
    }
    expect(await dumpAll()).toBe(before);
  });

  test('gets the same response for a business in another database as for an unknown id', async () => {
    const mine = await newBusiness();
    const others = await Promise.all(homes.map(() => newBusiness()));
    for (const as of [mine.key, mine.token]) {
      const unknown = (await askWith(999, as)).answer;
      expect(unknown).toEqual(route.unknownBusiness);
      for (const { id } of others.filter(({ id }) => databaseOfId(id) !== databaseOfId(mine.id))) {
        expect(await askWith(id, as)).toEqual({ answer: unknown, round_trips: 1 });
      }
    }
  });

  test('looks up an imported token in DB if the path names no database, and rejects it if the path names a database that does not contain it', async () => {
    const { id } = await newBusiness({ token: `${IMPORTED}${route.name.replaceAll(' ', '')}` });
    const token = `${IMPORTED}${route.name.replaceAll(' ', '')}`;
    expect((await askWith(id, token)).answer.status).toBe(route.tokenRefusal === null ? 200 : 403);
    for (const path of ['0', 'abc', '99000000001']) {
      const answer = databaseOfId(id) === 0 ? route.unknownBusiness : UNAUTHENTICATED;
      expect(await askWith(path, token)).toEqual({ answer, round_trips: 1 });
    }
    const elsewhere = homes.filter(({ number }) => number !== databaseOfId(id));
    for (const { number } of elsewhere) {
      expect(await askWith(number * 1_000_000_000 + 1, token)).toEqual({ answer: UNAUTHENTICATED, round_trips: 1 });
    }
  });

  test('returns 503 only to owners in a failing database', async () => {
    for (const failed of homes) {
      const bindings = failingWith('D1_ERROR: D1 DB is overloaded.', 'before', failed);
      const businesses = await Promise.all(homes.map(() => newBusiness()));
      for (const business of businesses) {
        const { status } = await ask(route, business, { as: await callerOf(route, business), bindings });
        expect(status).toBe(business.home === failed ? 503 : (route.granted ?? 200));
      }
    }
  });
});

test('revoking a key and rotating a token take effect from the next request, in each database', async () => {
  for (const _ of homes) {
    const { id, key, token, usage, home, db, user_id } = await newBusiness();
    const second = await createKey(home, { user_id, name: 'second' }, NOW);
    const status = async (as: string) => (await call('GET', usage, { as })).status;
    expect(await Promise.all([key, token, second.api_key].map(status))).toEqual([200, 200, 200]);
    await revokeKey(db, second.id, user_id, NOW);
    const rotated = await rotateToken(home, id, NOW);
    expect(await Promise.all([second.api_key, token].map(status))).toEqual([401, 401]);
    expect(rotated).toMatch(new RegExp(`^bua_pk_${home.number}[0-9A-Za-z]{33}$`));
    expect(await status(rotated)).toBe(200);
  }
});

const FIELDS = {
  ...{ name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' },
  ...{ country_id: 1, business_size: 'small' },
};
const all = () => boundTo(homes, NOW);
let user = 50_000;
const newUser = () => ++user;
const broken = {
  prepare() {
    throw new Error('D1_ERROR: Network connection lost.');
  },
} as unknown as D1Database;
/** Returns all databases, with this one failing. */
const without = (number: number) =>
  boundTo(
    homes.map((home) => (home.number === number ? { ...home, db: drizzle(broken) } : home)),
    NOW,
  );
/** Creates a business as the route does. */
const create = async (databases: BoundDatabases, fields: { user_id: number; token?: string; database?: number }) =>
  parseJson((await createIn(databases, { ...FIELDS, ...fields })).business);
const remove = ({ home, id }: { home: Home; id: number }) =>
  deleteBusiness(asking(home, 'delete_business', NOW, id), FIELDS.name);

describe('ids', () => {
  test('of businesses, keys and entries start at the database number times 10⁹, plus 1', async () => {
    for (const home of homes) {
      const { number } = home;
      const business = await createBusiness(home, { ...FIELDS, user_id: newUser() }, NOW);
      const key = await createKey(home, { user_id: business.user_id, name: 'k' }, NOW);
      const answer = await call('POST', `/api/v1/business/${business.id}/access`, {
        as: key.api_key,
        body: { sites: ['https://a.example'] },
      });
      const [entry] = answer.body.data.access_list;
      for (const id of [business.id, key.id, entry.id]) expect(databaseOfId(id)).toBe(number);
    }
  });

  test('are in the database’s range even if SQL has set the last id below it', async () => {
    for (const home of homes) {
      const sequence = home.d1.prepare(`update sqlite_sequence set seq = 5 where name = 'api_keys' and ?1 > 0`);
      await sequence.bind(home.number).run();
      const { id } = await createKey(home, { user_id: newUser(), name: 'k' }, NOW);
      expect(databaseOfId(id)).toBe(home.number);
    }
  });
});

describe('the home of a new owner', () => {
  test('is the database with the fewest owners, or the lowest-numbered of several', async () => {
    await env.DB.prepare('delete from homes').run();
    const given: number[] = [];
    for (let owner = 0; owner < 7; owner++) given.push(await homeOf(all(), newUser()));
    expect(given).toEqual(Array.from({ length: 7 }, (_, owner) => owner % homes.length));
    const last = homes.length - 1;
    await env.DB.prepare('delete from homes where database = ?').bind(last).run();
    expect(await homeOf(all(), newUser())).toBe(last);
  });

  test('is a bound database, even if an unbound one has fewer owners', async () => {
    await env.DB.prepare(`insert into homes values (?, 5, 0, '2026-01-01T00:00:00.000000Z')`).bind(newUser()).run();
    const bound = homes.map(({ number }) => number);
    for (let owner = 0; owner < 5; owner++) expect(bound).toContain(await homeOf(all(), newUser()));
    await env.DB.prepare('delete from homes where database = 5').run();
  });

  test('is permanently the requested database: a request for another is refused', async () => {
    for (const { number } of homes) {
      const user_id = newUser();
      expect(await homeOf(all(), user_id, number)).toBe(number);
      expect(await homeOf(all(), user_id)).toBe(number);
      for (const { number: other } of homes.filter((home) => home.number !== number)) {
        expect(await homeOf(all(), user_id, other)).toBe(number);
        const refused = new Conflict('database', `must be ${number}, the database of user ${user_id}`);
        await expect(create(all(), { user_id, database: other })).rejects.toThrow(refused);
      }
    }
  });

  test('is a single database, even for concurrent requests', async () => {
    for (let round = 0; round < 10; round++) {
      const user_id = newUser();
      const wanted = (index: number) => homes[index % homes.length]?.number;
      const asked = Array.from({ length: 12 }, (_, index) =>
        homeOf(all(), user_id, round % 2 ? wanted(index) : undefined),
      );
      const settled = await Promise.allSettled(asked);
      const granted = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(new Set(granted).size).toBe(1);
      if (round % 2 === 0) expect(granted).toHaveLength(12);
    }
  });

  test('cannot be an unbound database, and requesting one claims nothing', async () => {
    const user_id = newUser();
    await expect(homeOf(all(), user_id, 61)).rejects.toThrow(
      `database must be the number of a bound database: ${homes.map(({ number }) => number).join(', ')}`,
    );
    expect(await homeOf(all(), user_id, homes.length - 1)).toBe(homes.length - 1);
  });

  test('is a single database for each of 20 concurrent owners, who are spread evenly', {
    tags: 'slow',
  }, async () => {
    await env.DB.prepare('delete from homes').run();
    const users = Array.from({ length: 20 }, newUser);
    const made = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const user_id = users[index % users.length] as number;
        const { id } = await createKeyFor(all(), { user_id, name: 'k' });
        return [user_id, databaseOfId(id)].join();
      }),
    );
    const pairs = [...new Set(made)].map((pair) => pair.split(','));
    expect(pairs.map(([user_id]) => Number(user_id)).sort()).toEqual(users);
    const owners = homes.map(({ number }) => pairs.filter(([, database]) => database === `${number}`).length);
    expect(owners.toSorted()).toEqual([6, 7, 7]);
  });

  test('is assigned in two round trips plus one per database and later found in one, and both read few rows, however many owners there are', async () => {
    const known = newUser();
    await homeOf(all(), known);
    await env.DB.prepare(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
      insert into homes select -i, i % ${homes.length}, 1000 + i, '2026-01-01T00:00:00.000000Z' from n`).run();
    const cost = noCost();
    const measured = boundTo(
      homes.map((home) => ({ ...home, db: drizzle(metered(home.d1, cost)) })),
      NOW,
    );
    await homeOf(measured, known);
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(cost.rows_read).toBeLessThanOrEqual(5);
    await homeOf(measured, newUser());
    expect(cost).toMatchObject({ round_trips: 1 + 1 + homes.length + 1, rows_written: 2 });
    expect(cost.rows_read).toBeLessThanOrEqual(35);
    await env.DB.prepare('delete from homes where user_id < 0').run();
  });

  test('does not change if the transfer of a business from another database is attempted', async () => {
    const [mine, other] = [await newBusiness(), await newBusiness()];
    const given = claimHomeIn(all(), other.user_id, mine.home.number);
    if (mine.home === other.home) await expect(given).resolves.toBeUndefined();
    else
      await expect(given).rejects.toThrow(
        `user_id must be a user of database ${mine.home.number}, which contains the business: user ${other.user_id} is in database ${other.home.number}`,
      );
    const user_id = newUser();
    await claimHomeIn(all(), user_id, mine.home.number);
    expect(await homeOf(all(), user_id)).toBe(mine.home.number);
  });
});

describe('while a database fails', () => {
  const FAILED = 'D1_ERROR: Network connection lost.';
  const homeRow = (user_id: number) =>
    env.DB.prepare('select user_id, database from homes where user_id = ?').bind(user_id).first();
  /** Requests that create something in this user's database, or transfer a business to the user. */
  const creations = (databases: BoundDatabases, user_id: number, token: string, number: number) => [
    () => createKeyFor(databases, { user_id, name: 'k' }),
    () => create(databases, { user_id }),
    () => create(databases, { user_id, token }),
    () => claimHomeIn(databases, user_id, number),
  ];

  test('owners of other databases are unaffected', async () => {
    for (const failed of homes.slice(1)) {
      for (const home of homes.filter((home) => home !== failed)) {
        const [user_id, token] = [newUser(), `${IMPORTED}beside${failed.number}in${home.number}`];
        await homeOf(all(), user_id, home.number);
        for (const make of creations(without(failed.number), user_id, token, home.number)) await make();
        expect(await home.db.$count(businesses, eq(businesses.user_id, user_id))).toBe(2);
      }
    }
  });

  test('new owners are assigned the other databases round-robin', async () => {
    for (const failed of homes.slice(1)) {
      const others = homes.filter((home) => home !== failed).map(({ number }) => number);
      await env.DB.prepare('delete from homes').run();
      const given: number[] = [];
      for (const _ of [...others, ...others]) given.push(await homeOf(without(failed.number), newUser()));
      expect(given).toEqual([...others, ...others]);
    }
  });

  test('a new owner is assigned another database after two seconds if one hangs', async () => {
    const asked = Promise.withResolvers<void>();
    const hanging = () => {
      asked.resolve();
      return new Promise<never>(() => {});
    };
    const { numbers, askIn } = all();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await env.DB.prepare('delete from homes where database = 2').run(); // makes it the next to be assigned
      const given = homeOf({ numbers, askIn: (number) => (number === 2 ? hanging : askIn(number)) }, newUser());
      await asked.promise;
      await vi.advanceTimersByTimeAsync(2000);
      expect([0, 1]).toContain(await given);
    } finally {
      vi.useRealTimers();
    }
  });

  test('nothing is created for its owners, and it is still assigned to a new owner who requests it', async () => {
    for (const failed of homes.slice(1)) {
      const user_id = newUser();
      const given = { user_id, database: failed.number };
      await expect(create(without(failed.number), given)).rejects.toThrow(FAILED);
      await expect(createKeyFor(without(failed.number), { user_id, name: 'k' })).rejects.toThrow(FAILED);
      expect(await homeRow(user_id)).toEqual(given);
      const { id } = await createKeyFor(all(), { user_id, name: 'k' });
      expect(databaseOfId(id)).toBe(failed.number);
    }
  });
});

describe('an imported token', () => {
  const importing = (user_id: number, token: string, databases = all(), database?: number) =>
    create(databases, { user_id, token, ...(database !== undefined && { database }) });
  const IN_USE = 'token must not be a current or former token of any business';
  const homeRow = (user_id: number) =>
    env.DB.prepare('select user_id, database from homes where user_id = ?').bind(user_id).first();

  test('belongs to one owner in all databases, and that owner can retry the import', async () => {
    const [one, two] = [newUser(), newUser()];
    const token = `${IMPORTED}claimed`;
    const home = await claimToken(all(), one, token);
    expect(await claimToken(all(), one, token)).toBe(home);
    await expect(claimToken(all(), two, token)).rejects.toThrow(IN_USE);
    const business = await importing(one, token);
    expect((await call('GET', `/api/v1/business/usage/${business.id}`, { as: token })).status).toBe(200);
    for (const user_id of [one, two]) await expect(importing(user_id, token)).rejects.toThrow(IN_USE);
  });

  test('of a business cannot be imported into any database, even while the business’s own database fails', async () => {
    for (const { number } of homes) {
      const token = `${IMPORTED}imported-into-${number}`;
      const owner = newUser();
      await importing(owner, token, all(), number);
      const others = number === 0 ? all() : without(number);
      for (const home of homes) {
        const settled = newUser();
        await homeOf(all(), settled, home.number);
        for (const user_id of [settled, newUser()])
          await expect(importing(user_id, token, others, home.number)).rejects.toThrow(IN_USE);
      }
      await expect(importing(owner, token)).rejects.toThrow(IN_USE);
    }
  });

  test('can be imported by only one of many concurrent owners', async () => {
    const token = `${IMPORTED}wanted-by-many`;
    const users = Array.from({ length: 12 }, newUser);
    const settled = await Promise.allSettled(
      users.map((user_id, index) => importing(user_id, token, all(), index % homes.length)),
    );
    const refused = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []));
    expect(refused).toEqual(Array.from({ length: 11 }, () => IN_USE));
    const owners = await Promise.all(users.map(homeRow));
    expect(owners.filter((row) => row !== null)).toHaveLength(1);
  });

  test('claims no home for the user if it is refused', async () => {
    const { token } = await newBusiness({ token: `${IMPORTED}taken` });
    const user_id = newUser();
    await expect(importing(user_id, token)).rejects.toThrow(IN_USE);
    expect(await homeRow(user_id)).toBeNull();
  });

  test('is not claimed for an owner who cannot get the requested database', async () => {
    const [user_id, token] = [newUser(), `${IMPORTED}wrong-home`];
    const last = homes.length - 1;
    await env.DB.prepare(`insert into homes values (?, ?, 0, '2026-01-01T00:00:00.000000Z')`).bind(user_id, last).run();
    for (const wanted of [61, ...homes.slice(0, last).map(({ number }) => number)])
      await expect(importing(user_id, token, all(), wanted)).rejects.toThrow(/database must be /);
    expect(await importing(newUser(), token)).toMatchObject({ token });
  });
});

describe('a token cannot be imported twice, even by its owner,', () => {
  const importing = (user_id: number, token: string) => create(all(), { user_id, token });
  type Imported = { id: number; home: Home };
  test.each([
    ['while the business uses it', async () => {}],
    ['after it was replaced without a grace period', ({ home, id }: Imported) => rotateToken(home, id, NOW)],
    [
      'after it was replaced and the business was deleted',
      async (imported: Imported) => {
        await rotateToken(imported.home, imported.id, NOW);
        await remove(imported);
      },
    ],
    ['after the business was deleted', remove],
  ])('%s', async (name, happen) => {
    const user_id = newUser();
    const token = `${IMPORTED}again-${name.replaceAll(' ', '-')}`;
    const { id } = await importing(user_id, token);
    await happen({ id, home: homeOfId(id) });
    await expect(importing(user_id, token)).rejects.toThrow(
      'token must not be a current or former token of any business',
    );
  });

  test('with a second claim, even if the first business has replaced the token', async () => {
    const user_id = newUser();
    const token = `${IMPORTED}raced`;
    const [home] = homes;
    await claimToken(all(), user_id, token, 0);
    await claimToken(all(), user_id, token, 0);
    const { id } = await createBusiness(home, { ...FIELDS, user_id, token }, NOW);
    await rotateToken(home, id, NOW, 3_600_000);
    const again = createBusiness(home, { ...FIELDS, user_id, token }, NOW);
    await expect(again).rejects.toThrow('token must not be a current or former token of any business');
  });

  test('but can be claimed again if no business was created', async () => {
    const user_id = newUser();
    const token = `${IMPORTED}claimed-only`;
    await claimToken(all(), user_id, token);
    expect(await importing(user_id, token)).toMatchObject({ user_id, token });
  });
});

describe('with owners in an unbound database', () => {
  test('nothing is created or claimed for these owners, and other owners are unaffected', async () => {
    const { home } = await newBusiness();
    const [elsewhere, anybody] = [newUser(), newUser()];
    await env.DB.prepare(`insert into homes values (?, 5, 0, '2026-01-01T00:00:00.000000Z')`).bind(elsewhere).run();
    const before = await dumpAll();
    const token = `${IMPORTED}unbound`;
    const creations = (user_id: number) => [
      () => claimHomeIn(all(), user_id, home.number),
      () => createKeyFor(all(), { user_id, name: 'k' }),
      () => create(all(), { user_id }),
      () => create(all(), { user_id, token }),
    ];
    for (const make of creations(elsewhere)) {
      await expect(make()).rejects.toThrow(new NotBound([5]));
    }
    expect(await dumpAll()).toBe(before);
    for (const make of creations(anybody)) await make();
    await env.DB.prepare('delete from homes where user_id = ?').bind(elsewhere).run();
  });

  test('lists over all owners and the health check return 503 and log the unbound databases, while owners in bound databases are served', async () => {
    const { id, key } = await newBusiness();
    await env.DB.prepare(
      `insert into homes values (1000001, 5, 1, '2026-01-01T00:00:00.000000Z'), (1000002, 5, 2, '2026-01-01T00:00:00.000000Z'), (1000003, 7, 1, '2026-01-01T00:00:00.000000Z')`,
    ).run();
    for (const path of ['usage', 'business', 'alerts', `user/1000001/keys`, 'business?user_id=1000003']) {
      const answer = await call('GET', `/api/v1/${path}`, { as: OPERATOR.full });
      expect(answer).toMatchObject({ status: 503, text: '{"message":"Service Unavailable"}' });
      expect(answer.headers.get('Retry-After')).toBe('10');
      const error = `${path.endsWith('1000003') ? 'DB_7' : 'DB_5'} has owners but is not bound in the configuration\n`;
      expect(answer.errors).toMatchObject([{ status: 503, error: expect.stringContaining(error) }]);
    }
    expect((await call('GET', '/api/v1/business', { as: key })).status).toBe(200);
    expect((await call('GET', `/api/v1/business/${id}`, { as: OPERATOR.full })).status).toBe(200);
    const { app, errors } = newApp();
    const health = await app.fetch(new Request(`${BASE}/api/v1/health`), databases());
    expect([health.status, await health.text()]).toEqual([503, '{"message":"Service Unavailable"}']);
    expect(errors).toMatchObject([{ error: expect.stringContaining('DB_5 has owners but is not bound') }]);
    await env.DB.prepare('delete from homes where user_id between 1000001 and 1000003').run();
    expect((await call('GET', '/api/v1/usage', { as: OPERATOR.full })).status).toBe(200);
  });
});

test('the scheduled run purges each database, even if another fails', async () => {
  const businesses = await Promise.all(homes.map(() => newBusiness()));
  for (const { home, id } of businesses) await rotateToken(home, id, NOW, 1);
  const [failed] = homes;
  const bindings = databases((d1) => (d1 === failed?.d1 ? broken : d1));
  const controller = createScheduledController({
    scheduledTime: NOW.getTime() + 2 * 86_400_000,
    cron: SCHEDULES.purge,
  });
  await expect(worker.scheduled(controller, bindings as never)).rejects.toThrow('purge: DB failed');
  const left = await Promise.all(homes.map(({ db }) => db.$count(formerTokens)));
  expect(left).toEqual(homes.map((home) => (home === failed ? expect.any(Number) : 0)));
  expect(left[0]).toBeGreaterThan(0);
});
