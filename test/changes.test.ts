// Changes: each change stores one row without secrets. The simulator (test/sim) checks what the lists of changes show to whom.
import { describe, expect, test } from 'vitest';
import { changes } from '../src/db/schema.ts';
import { ROUTES } from './routes.ts';
import { OWN_ROLES } from './sim/model/callers.ts';
import {
  addFormerToken,
  addSite,
  ask,
  type Business,
  call,
  callerOf,
  dumpAll,
  homes,
  INSERT_CHANGES,
  newBusiness,
  newKey,
  newLimitedBusiness,
  OPERATOR,
  STAMP,
} from './support.ts';

const A = 'https://a.example';
const list = async (business: Business, query = '', as = business.key) => {
  const { status, body, cost } = await call('GET', `/api/v1/business/${business.id}/changes${query}`, { as });
  expect(status).toBe(200);
  const { changes, next } = body.data as { changes: { id: number }[]; next: number | null };
  return { ids: changes.map(({ id }) => id), next, cost };
};

describe.each(ROUTES)('a call to $name', (route) => {
  test(`stores ${route.action === null ? 'no change' : 'one change with the route’s action'}, as test/routes.ts specifies`, async () => {
    const business = await newLimitedBusiness({ monthly_limit: 1000 }, { sites: [A, 'https://b.example'] });
    const { key, ...own } = await newKey(business);
    await addFormerToken(business);
    const shown = (await call('GET', `/api/v1/business/${business.id}`, { as: key })).body.data;
    // The paths of some routes name an entry, a key or a former token that does not exist.
    const ids: Record<string, number> = { revoke_key: own.id, stop_former_tokens: shown.former_tokens[0].id };
    const id = ids[`${route.action}`] ?? shown.access_list[0].id;
    const path = route.granted === 404 ? route.path(business).replace(/[^/]+$/, `${id}`) : route.path(business);
    const { method, body, headers = {} } = route;
    const as = route.keyRefusal === null ? key : await callerOf(route, business);
    const actor = as === key ? own.actor : 'operator (…ffff)';
    const stored = async () => (await Promise.all(homes.map(({ db }) => db.select().from(changes)))).flat();
    const before = new Set((await stored()).map((row) => JSON.stringify(row)));
    const { status } = await call(method, path, { as, headers, body });
    expect(status).toBe(200);
    const rows = (await stored()).filter((row) => !before.has(JSON.stringify(row)));
    const subject = route.action?.endsWith('_key') ? 'user' : 'business';
    const expected = route.action === null ? [] : [{ subject, actor, action: route.action }];
    expect(rows.map(({ subject, actor, action }) => ({ subject, actor, action }))).toEqual(expected);
  });
});

describe('the filtered list of changes', () => {
  type Row = { id: number; action?: string; before?: unknown; after?: unknown };
  const store = async ({ id, home }: Business, rows: Row[]) => {
    const insert = `${INSERT_CHANGES} select 'business', ?, value ->> 'id', '${STAMP}', 'operator (…abcd)', value ->> 'action',
      value -> 'before', value -> 'after' from json_each(?)`;
    const stored = rows.map((row) => ({ action: 'update_business', ...row }));
    await home.d1.prepare(insert).bind(id, JSON.stringify(stored)).run();
  };
  const page = async (business: Business, query: string) => {
    const { ids, next } = await list(business, query);
    return { ids, next };
  };
  /** Stores `count` empty changes with ids from 1. */
  const fill = (business: Business, count: number) =>
    store(
      business,
      Array.from({ length: count }, (_, index) => ({ id: index + 1, action: 'rotate_token' })),
    );
  const update = ({ id, home }: Business, set: string, where = 'true') =>
    home.d1.prepare(`update changes set ${set} where subject_id = ? and ${where}`).bind(id).run();

  test('finds the names that it shows: of the key that made a change, and of the person whom a console link names', async () => {
    const business = await newBusiness();
    const { user_id, home } = business;
    const nameOf = async (name: string, owner = business) => {
      const { id } = await newKey(owner);
      await home.d1.prepare('update api_keys set name = ? where id = ?').bind(name, id).run();
      return `'key ${id} (…abcd)'`;
    };
    await fill(business, 6);
    await update(business, `actor = ${await nameOf('Büro "12" Ärzte')}`, 'id = 1');
    await update(business, `actor = ${await nameOf('null')}`, 'id = 2');
    const stranger = await newBusiness({ user_id: user_id + homes.length * 100_000 });
    await update(business, `actor = ${await nameOf('Shop', stranger)}`, 'id = 3');
    await update(business, `actor_name = 'Zoë Shop', actor_user_id = ${user_id}`, 'id = 4');
    await update(business, `actor_name = 'Zoë Shop', actor_user_id = ${stranger.user_id}`, 'id = 5');
    for (const [ids, ...texts] of [
      [[1], 'büro "12"', 'BÜRO', 'ÄRZTE', '"'],
      [[2], 'null', 'NULL'],
      [[4], 'shop', 'zoë', 'Zoë S'],
      [[], '""', 'narrow', 'key', 'operator'],
    ] as [number[], ...string[]][])
      for (const text of texts)
        expect(await page(business, `?search=${encodeURIComponent(text)}`), text).toEqual({ ids, next: null });
  });

  test('contains the changes whose before or after value includes the search text', async () => {
    const business = await newBusiness();
    await store(business, [
      { id: 1, action: 'add_sites', after: { sites: ['https://Shop.example', 'https://a.example'] } },
      { id: 2, before: { monthly_limit: 5, name: 'https://a.example 100%' }, after: { monthly_limit: 6 } },
      {
        id: 3,
        before: { status: 'active', main_domain: `${'x'.repeat(200)}.example` },
        after: { status: 'suspended', name: 'Büro "12" \\', main_domain: 'x' },
      },
      { id: 4, action: 'remove_sites', before: { sites: ['https://*.shop.example'], main_domain: '' } },
      { id: 5, action: 'import_usage' },
      { id: 6, after: { name: 'Élan Vital', site: 'https://xn--cole-9oa.example' } },
    ]);
    const MATCHES: [ids: number[], ...texts: string[]][] = [
      [[6, 4, 3, 2, 1], 'example', 'EXAMPLE'],
      [[4, 1], 'shop.example'],
      [[4, 3, 2], '_'],
      [[6], 'élan', 'ÉLAN vital', 'https://école.example', 'École'],
      [[4], '*.'],
      [[3], 'suspended', 'Büro "12" \\', 'BÜRO', `${'x'.repeat(200)}.example`],
      [[2], 'monthly_limit', '%'],
      [[1], 'https://shop.example'],
      [[], 's%p', 'null', 'operator'],
    ];
    for (const [ids, ...texts] of MATCHES)
      for (const text of texts)
        expect(await page(business, `?search=${encodeURIComponent(text)}`), text).toEqual({ ids, next: null });
  });

  test('returns fewer changes per page if they are long, because D1 limits a text to 2 MB, and continues on the next page', async () => {
    const business = await newBusiness();
    for (let id = 1; id <= 6; id++) await store(business, [{ id, after: { sites: ['x'.repeat(200_000)] } }]);
    for (const query of ['?', '?search=sites&']) {
      expect(await page(business, query)).toEqual({ ids: [6, 5, 4], next: 4 });
      expect(await page(business, `${query}before=4`)).toEqual({ ids: [3, 2, 1], next: null });
    }
  });

  test('examines at most 1,000 changes per page, so pages before the last can be short or empty', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    await fill(business, 2_500);
    await update(business, `action = 'import_usage'`, 'id in (1, 3, 500, 1500, 1501, 2500)');
    const pages = [await page(business, '?action=import_usage')];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
      pages.push(await page(business, `?action=import_usage&before=${next}`));
    expect(pages).toEqual([
      { ids: [2500, 1501], next: 1501 },
      { ids: [1500], next: 501 },
      { ids: [500, 3, 1], next: null },
    ]);
    expect(await page(business, '?action=add_sites')).toEqual({ ids: [], next: 1501 });
    expect(await page(business, '?action=add_sites&before=1001')).toEqual({ ids: [], next: null });
    expect(await page(business, '?action=add_sites&before=1002')).toEqual({ ids: [], next: 2 });
    expect(await page(business, '?action=add_sites&before=2')).toEqual({ ids: [], next: null });
    expect(await page(business, '?action=import_usage&limit=1')).toEqual({ ids: [2500], next: 2500 });
    expect(await page(business, '?action=import_usage&limit=2')).toEqual({ ids: [2500, 1501], next: 1501 });
  });

  test('with a search compares at most 500,000 bytes per page, about the size of the largest page, and at least one change', {
    tags: 'slow',
  }, async () => {
    /** Stores changes of this size with ids from 1. Those with ids in `marked` contain the text to search for. */
    const storeLong = async (business: Business, { count, bytes }: Record<string, number>, marked: number[]) => {
      for (let id = 1; id <= Number(count); id++) {
        const text = (marked.includes(id) ? 'here' : '').padEnd(Number(bytes) - '{"name":""}'.length, 'x');
        await store(business, [{ id, action: 'add_sites', [id % 2 ? 'after' : 'before']: { name: text } }]);
      }
    };
    const pages = async (business: Business) => {
      const read = [await list(business, '?search=here')];
      for (let next = read[0]?.next; next; next = read.at(-1)?.next)
        read.push(await list(business, `?search=here&before=${next}`));
      // Reads the lengths of at most six changes, at three rows each, and the texts of at most five, at one row each.
      for (const { cost } of read) expect(cost.rows_read).toBeLessThanOrEqual(3 * 6 + 5 + 15);
      return read.map(({ ids, next }) => ({ ids, next }));
    };
    const [long, longer] = [await newBusiness(), await newBusiness()];
    await storeLong(long, { count: 12, bytes: 100_000 }, [2, 9]);
    expect(await pages(long)).toEqual([
      { ids: [9], next: 8 },
      { ids: [], next: 3 },
      { ids: [2], next: null },
    ]);
    await update(long, `after = '{"name":"x"}'`, 'id = 11');
    expect(await page(long, '?search=here')).toEqual({ ids: [9], next: 7 });
    // Other filters do not compare text.
    for (const filter of ['action=remove_sites', 'to=2026-03-14'])
      expect(await page(long, `?${filter}`)).toEqual({ ids: [], next: null });
    await storeLong(longer, { count: 4, bytes: 600_000 }, [1, 3]);
    expect(await pages(longer)).toEqual([
      { ids: [], next: 4 },
      { ids: [3], next: 3 },
      { ids: [], next: 2 },
      { ids: [1], next: null },
    ]);
    expect(await page(longer, '')).toEqual({ ids: [4], next: 4 });
  });

  test('takes one round trip and reads at most 1,000 rows in addition to the page’s, or 6,000 with a search', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    const { id } = await newKey(business);
    const other = await newBusiness({ user_id: business.user_id });
    await fill(business, 5_000);
    await fill(other, 100);
    await update(business, `actor = 'key ${id} (…abcd)'`);
    for (const as of [business.key, OPERATOR.full]) {
      for (const filter of ['action=add_sites', 'search=shop.example', 'from=2026-03-16', 'to=2026-03-14']) {
        const { ids, cost } = await list(business, `?${filter}`, as);
        expect(ids).toEqual([]);
        // A key writes what the page takes from its owner's allowance.
        expect(cost).toMatchObject({ round_trips: 1, rows_written: as === business.key ? 1 : 0 });
        // A search reads lengths, and the key that made each change.
        const more = filter.startsWith('search') ? 4 * 1_000 : 0;
        expect(cost.rows_read).toBeLessThanOrEqual(more + 1_000 + 15);
      }
      for (const limit of [1, 20, 100]) {
        const { ids, cost } = await list(business, `?action=rotate_token&limit=${limit}`, as);
        expect(ids).toHaveLength(limit);
        // Stops when the page is full.
        expect(cost.rows_read).toBeLessThanOrEqual(4 * limit + 15);
      }
    }
    await update(business, `action = 'add_sites'`, 'id between 4001 and 4100');
    const { ids, cost } = await list(business, '?action=add_sites&limit=100');
    expect(ids).toHaveLength(100);
    expect(cost.rows_read).toBeLessThanOrEqual(1_000 + 3 * 100 + 15);

    // A search reads the key of each change of keys, too.
    await update(business, `action = 'revoke_key', before = json_object('id', ${id})`);
    expect((await list(business, '?search=no-such-name')).cost.rows_read).toBeLessThanOrEqual(6_000 + 15);
    const named = await list(business, '?search=narrow&limit=100');
    expect(named.ids).toHaveLength(100);
    expect(named.cost.rows_read).toBeLessThanOrEqual(6_000 + 5 * 100 + 15);
    expect((await list(business, '?limit=100')).cost.rows_read).toBeLessThanOrEqual(5 * 100 + 16);
  });
});

test('after all operations, no table contains an API key and no change contains a token', {
  tags: 'slow',
}, async () => {
  const keys: string[] = [];
  const tokens: string[] = [];
  let added = 0;
  for (const token of [undefined, 'Imported.Token_from~elsewhere/2']) {
    const business = await newBusiness({ sites: [A], ...(token && { token }) });
    const own = [business.key, (await newKey(business)).key];
    for (const role of OWN_ROLES) own.push((await newKey(business, { role, business_id: business.id })).key);
    for (const as of [...own, business.token]) {
      for (const route of ROUTES) {
        for (const origin of [undefined, A, 'https://evil.example', `https://${as.toLowerCase().slice(-7)}.example`]) {
          const answer = await ask(route, business, { as, origin });
          const shown: unknown = answer.body?.data?.token;
          if (typeof shown === 'string' && !shown.includes('…')) tokens.push(shown);
        }
        await addSite(business.id, `https://s${added++}.example`);
      }
    }
    keys.push(...own);
    tokens.push(business.token);
  }
  const refused = await Promise.all(homes.map(({ d1 }) => d1.prepare('select * from seen_origins').all()));
  const stored = (await dumpAll()) + JSON.stringify(refused.map(({ results }) => results));
  for (const key of keys) for (const part of [key.slice(7), key.slice(-8)]) expect(stored).not.toContain(part);
  const recorded = JSON.stringify(await Promise.all(homes.map(({ db }) => db.select().from(changes))));
  for (const token of tokens) expect(recorded).not.toContain(token.slice(-8));
  expect(recorded).not.toMatch(/…[^"\\)]{5}/);
  expect(recorded).toContain('rotate_token');
  expect(new Set(tokens).size).toBeGreaterThan(5);
});
