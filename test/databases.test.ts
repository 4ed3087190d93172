// Several databases: how the database is chosen for a request and for a new owner, and what happens if one fails or is not bound. The
// simulator (test/sim) checks which databases owners have, and who may import which token.
import { drizzle } from 'drizzle-orm/d1';
import { describe, expect, test, vi } from 'vitest';
import { createBusiness as createIn } from '../src/business/creation.ts';
import { claimHomeIn } from '../src/business/update.ts';
import { ALPHABET, newCredential } from '../src/core/credential.ts';
import { bindingOf, databaseFor, NotBound } from '../src/core/database.ts';
import { type BoundDatabases, noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { createKey as createKeyFor } from '../src/keys/statements.ts';
import { UNAUTHENTICATED } from './answers.ts';
import { boundTo, homeOf } from './ask.ts';
import { OF_A_BUSINESS } from './routes.ts';
import {
  ask,
  BASE,
  call,
  databases,
  dumpAll,
  eachOf,
  env,
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
const create = (databases: BoundDatabases, fields: { user_id: number; token?: string; database?: number }) =>
  createIn(databases, { ...FIELDS, ...fields }, {});

describe('the home of a new owner', () => {
  test('is a bound database, even if an unbound one has fewer owners', async () => {
    await env.DB.prepare(`insert into homes values (?, 5, 0, '2026-01-01T00:00:00.000000Z')`).bind(newUser()).run();
    const bound = homes.map(({ number }) => number);
    for (let owner = 0; owner < 5; owner++) expect(bound).toContain(await homeOf(all(), newUser()));
    await env.DB.prepare('delete from homes where database = 5').run();
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
});

describe('while a database fails', () => {
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
});

test('a token cannot be imported into any database while a business uses it, even while the business’s own database fails', async () => {
  for (const { number } of homes) {
    const token = `${IMPORTED}imported-into-${number}`;
    await create(all(), { user_id: newUser(), token, database: number });
    const others = number === 0 ? all() : without(number);
    for (const home of homes) {
      const settled = newUser();
      await homeOf(all(), settled, home.number);
      for (const user_id of [settled, newUser()])
        await expect(create(others, { user_id, token, database: home.number })).rejects.toThrow(
          'token must not be a current or former token of any business',
        );
    }
  }
});

test('a token is not claimed for an owner who cannot get the requested database', async () => {
  const [user_id, token] = [newUser(), `${IMPORTED}wrong-home`];
  const last = homes.length - 1;
  await env.DB.prepare(`insert into homes values (?, ?, 0, '2026-01-01T00:00:00.000000Z')`).bind(user_id, last).run();
  for (const database of [61, ...homes.slice(0, last).map(({ number }) => number)])
    await expect(create(all(), { user_id, token, database })).rejects.toThrow(/database must be /);
  await create(all(), { user_id: newUser(), token });
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
