// Changes: each change stores one row without secrets, and a request that changes nothing stores none.
import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { addSites, removeEntries, removeEntry } from '../src/access/statements.ts';
import type { Action } from '../src/core/change.ts';
import { sha256Hex } from '../src/core/credential.ts';
import { noCost, runBatch } from '../src/db/batch.ts';
import type { Call } from '../src/db/call.ts';
import { apiKeys, changes, formerTokens } from '../src/db/schema.ts';
import { readVerdict, type Statement } from '../src/db/statement.ts';
import { rotateToken, stopFormerTokens } from '../src/tokens/statements.ts';
import { importHistory } from '../src/usage/history.ts';
import { invalid } from './answers.ts';
import { ruleNamed } from './ask.ts';
import { ROUTES } from './routes.ts';
import {
  addFormerToken,
  addSite,
  type Business,
  type CallOptions,
  call,
  callerOf,
  dumpAll,
  homes,
  INSERT_CHANGES,
  inBatches,
  NOW,
  newBusiness,
  newKey,
  newSession,
  OPERATOR,
  STAMP,
} from './support.ts';

type Change = { id: number; action: string };

const A = 'https://a.example';
const B = 'https://b.example';
const pathOf = ({ id }: { id: number }) => `/api/v1/business/${id}/changes`;
const list = async (business: Business, query = '', as = business.key) => {
  const { status, body, cost } = await call('GET', pathOf(business) + query, { as });
  expect(status).toBe(200);
  const { changes, next } = body.data as { changes: Change[]; next: number | null };
  return { changes, ids: changes.map(({ id }) => id), next, cost };
};
/** Creates a business with two keys: one for setup, and one whose changes are checked. */
async function owned(fields: Parameters<typeof newBusiness>[0] = {}) {
  const business = await newBusiness(fields);
  return { business, ...(await newKey(business)), key_name: 'narrow' };
}
const add = (business: Business, sites: string[], options: CallOptions = {}) =>
  call('POST', business.access, { as: business.key, body: { sites }, ...options });

describe('the row of a change', () => {
  test('lists the added sites, without existing ones, in the order of the call', async () => {
    const { business, key, actor, key_name } = await owned({ sites: [A] });
    await add(business, [B, 'https://C.example/path', A, 'https://c.example'], { as: key });
    expect((await list(business)).changes).toEqual([
      {
        id: 1,
        at: STAMP,
        actor,
        key_name,
        actor_name: null,
        action: 'add_sites',
        before: null,
        after: { sites: [B, 'https://c.example'] },
      },
    ]);
  });

  test('names the removed site', async () => {
    const { business, key, actor, key_name } = await owned({ sites: [A] });
    const entry = await addSite(business.id, B);
    expect((await call('DELETE', `${business.access}/${entry}`, { as: key })).status).toBe(200);
    expect((await list(business)).changes).toEqual([
      {
        id: 1,
        at: STAMP,
        actor,
        key_name,
        actor_name: null,
        action: 'remove_sites',
        before: { sites: [B] },
        after: null,
      },
    ]);
  });

  test('lists all sites if all are removed', async () => {
    const { business, key, actor, key_name } = await owned({ sites: [A, B] });
    expect((await call('DELETE', business.access, { as: key })).status).toBe(200);
    expect((await list(business)).changes).toEqual([
      {
        id: 1,
        at: STAMP,
        actor,
        key_name,
        actor_name: null,
        action: 'remove_sites',
        before: { sites: [A, B] },
        after: null,
      },
    ]);
  });

  test.each([
    [undefined, {}],
    [{ keep_old: '24h' }, { former_works_until: '2026-03-16T12:00:00.000000Z' }],
    [{ keep_old: '30d' }, { former_works_until: '2026-04-14T12:00:00.000000Z' }],
  ])(
    'shows when the old token will stop working, if it still works, after a rotation with body %j',
    async (body, kept) => {
      const { business, key, actor, key_name } = await owned();
      const options = body === undefined ? { as: key } : { as: key, body };
      const { token } = (await call('POST', `/api/v1/business/${business.id}/token`, options)).body.data;
      const tokens = {
        before: { token: `…${business.token.slice(-4)}` },
        after: { token: `…${token.slice(-4)}`, ...kept },
      };
      expect((await list(business)).changes).toEqual([
        { id: 1, at: STAMP, actor, key_name, actor_name: null, action: 'rotate_token', ...tokens },
      ]);
    },
  );

  test('lists the stopped former tokens that still worked, oldest first', async () => {
    const { business, key, actor, key_name } = await owned();
    const [first, , last] = [
      await addFormerToken(business, '2026-03-18T00:00:00.000000Z'),
      await addFormerToken(business, STAMP), // expires at the instant of the call
      await addFormerToken(business, '2026-03-17T00:00:00.000000Z'),
    ];
    expect((await call('DELETE', `/api/v1/business/${business.id}/token/former`, { as: key })).status).toBe(200);
    const tokens = [
      { last_four: first?.slice(-4), expires_at: '2026-03-18T00:00:00.000000Z' },
      { last_four: last?.slice(-4), expires_at: '2026-03-17T00:00:00.000000Z' },
    ];
    expect((await list(business)).changes).toEqual([
      {
        id: 1,
        at: STAMP,
        actor,
        key_name,
        actor_name: null,
        action: 'stop_former_tokens',
        before: { tokens },
        after: null,
      },
    ]);
  });

  test('counts as two rows written', async () => {
    for (const send of [
      (business: Business) => add(business, [B]),
      (business: Business) => call('DELETE', business.access, { as: business.key }),
      (business: Business) => call('POST', `/api/v1/business/${business.id}/token`, { as: business.key }),
      (business: Business) => call('DELETE', `/api/v1/business/${business.id}/token/former`, { as: business.key }),
    ]) {
      const business = await newBusiness({ sites: [A] });
      await addFormerToken(business);
      const { d1 } = business.home;
      const { rows_written } = (await send(business)).cost;
      expect((await list(business)).changes).toHaveLength(1);
      // Inserts a copy of the row, to measure the insert alone.
      const row = `${INSERT_CHANGES} select subject, subject_id, id + 1, at, actor, action, before, after from changes
        where subject = 'business' and subject_id = ?`;
      const { meta } = await d1.prepare(row).bind(business.id).run();
      expect(meta.rows_written).toBe(2);
      expect(rows_written).toBeGreaterThan(2);
    }
  });
});

describe.each(ROUTES)('a call to $name', (route) => {
  test(`stores ${route.action === null ? 'no change' : 'one change with the route’s action'}, as test/routes.ts specifies`, async () => {
    const { business, key, ...own } = await owned({ sites: [A, B] });
    await addFormerToken(business);
    const [entry] = (await call('GET', business.access, { as: key })).body.data.access_list;
    // The paths of some routes name an entry or key that does not exist.
    const { id } = route.action === 'revoke_key' ? own : entry;
    const path = route.granted === 404 ? route.path(business).replace(/[^/]+$/, id) : route.path(business);
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

describe('no change is stored', () => {
  const stored = async ({ id, db }: Business) => db.$count(changes, eq(changes.subject_id, id));

  test('for a request that changes nothing, is refused or records uses', { tags: 'slow' }, async () => {
    const { business, key } = await owned({ sites: [A] });
    const other = await newBusiness();
    const readOnly = (await newKey(business, { role: 'read' })).key;
    const recordOnly = (await newKey(business, { role: 'record' })).key;
    const token = `/api/v1/business/${business.id}/token`;
    const former = `${token}/former`;
    await addFormerToken(business);
    const [entry] = (await call('GET', business.access, { as: key })).body.data.access_list;
    const attempts: [number, string, string, CallOptions][] = [
      [200, 'POST', business.access, { body: { sites: [A] } }],
      [200, 'POST', business.access, { body: { sites: [A, 'https://A.example/', A] } }],
      [422, 'POST', business.access, { body: { sites: [B, 'no URL'] } }],
      [422, 'POST', business.access, { body: { sites: [B, 'https://*.co.uk'] } }],
      [422, 'POST', business.access, { body: '{' }],
      [404, 'DELETE', `${business.access}/999999999`, {}],
      [404, 'DELETE', `${business.access}/abc`, {}],
      [422, 'DELETE', `${business.access}/${entry.id}`, {}], // would remove the last site
      [422, 'POST', token, { body: { keepold: '24h' } }],
      [403, 'POST', business.access, { origin: B, body: { sites: [B] } }],
      [403, 'POST', business.access, { as: business.token, origin: A, body: { sites: [B] } }],
      [403, 'POST', business.access, { as: readOnly, body: { sites: [B] } }],
      [403, 'DELETE', business.access, { as: readOnly }],
      [403, 'POST', token, { as: readOnly }],
      [403, 'POST', business.access, { as: recordOnly, body: { sites: [B] } }],
      [403, 'DELETE', business.access, { as: recordOnly }],
      [403, 'POST', token, { as: recordOnly }],
      [403, 'DELETE', former, { as: readOnly }],
      [403, 'DELETE', former, { as: recordOnly }],
      [403, 'DELETE', former, { as: business.token, origin: A }],
      [401, 'DELETE', former, { as: other.key }],
      [422, 'DELETE', former, { body: { token: 'abcd' } }],
      [403, 'POST', token, { as: business.token, origin: A }],
      [401, 'POST', business.access, { as: other.key, body: { sites: [B] } }],
      [401, 'DELETE', business.access, { as: other.key }],
      [401, 'POST', token, { as: other.key }],
      [401, 'POST', token, { as: `bua_sk_0${'x'.repeat(33)}` }],
      [405, 'PUT', token, {}],
      [200, 'POST', business.usage, {}],
      [200, 'POST', business.usage, { body: { uses: [{ id: 'order-1' }] } }],
      [200, 'DELETE', `${business.access}/refused`, {}],
    ];
    for (const [status, method, path, options] of attempts) {
      const answer = await call(method, path, { as: key, ...options });
      expect({ method, path, options, status: answer.status }).toEqual({ method, path, options, status });
      expect(await stored(business)).toBe(0);
      expect(await stored(other)).toBe(0);
    }
    for (const { method, path } of ROUTES.filter(({ method }) => method === 'GET')) {
      await call(method, path(business), { as: key });
    }
    expect(await stored(business)).toBe(0);
  });

  test('for too many sites, or for removing all sites if there are none', async () => {
    const business = await newBusiness();
    expect((await call('DELETE', business.access, { as: business.key })).status).toBe(200);
    const sites = (round: number) => Array.from({ length: 100 }, (_, index) => `https://s${round}-${index}.example`);
    for (let round = 0; round < 5; round++) await add(business, sites(round));
    expect((await add(business, [A])).status).toBe(422);
    expect(await stored(business)).toBe(5);
  });

  test('for a request whose batch failed', async () => {
    const business = await newBusiness({ sites: [A] });
    const before = await dumpAll();
    const { d1 } = business.home;
    // The last statement of the batch fails, so the batch rolls back.
    await d1.prepare(`create trigger broken before insert on access begin select raise(abort, 'no'); end`).run();
    expect((await add(business, [B])).status).toBe(500);
    await d1.prepare('drop trigger broken').run();
    expect(await dumpAll()).toBe(before);
  });
});

const ACTION_RULE =
  'action must be add_sites, remove_sites, rotate_token, stop_former_tokens, create_business, update_business, delete_business, ' +
  'create_key, revoke_key, import_usage, or lower_uses';

describe('the list of changes', () => {
  test('is paginated, newest first', async () => {
    const business = await newBusiness();
    for (let index = 0; index < 7; index++) await add(business, [`https://s${index}.example`]);
    const pages = [await list(business, '?limit=3')];
    for (let page = pages[0]; page?.next; ) {
      page = await list(business, `?limit=3&before=${page.next}`);
      pages.push(page);
    }
    expect(pages.map(({ ids, next }) => ({ ids, next }))).toEqual([
      { ids: [7, 6, 5], next: 5 },
      { ids: [4, 3, 2], next: 2 },
      { ids: [1], next: null },
    ]);
    expect(await list(business, '?limit=7')).toMatchObject({ ids: [7, 6, 5, 4, 3, 2, 1], next: null });
    expect(await list(business, '?before=1')).toMatchObject({ ids: [], next: null });
    expect(await list(business, `?before=${Number.MAX_SAFE_INTEGER}&limit=1`)).toMatchObject({ ids: [7], next: 7 });
  });

  test('returns 20 changes per page by default and at most 100', async () => {
    const business = await newBusiness();
    const row = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 150)
      ${INSERT_CHANGES} select 'business', ?, i, '${STAMP}', 'operator', 'update_business', null, null from n`;
    await business.home.d1.prepare(row).bind(business.id).run();
    expect(await list(business)).toMatchObject({ ids: Array.from({ length: 20 }, (_, at) => 150 - at), next: 131 });
    const most = await list(business, '?limit=100');
    expect(most).toMatchObject({ next: 51, cost: { round_trips: 1, rows_written: 0 } });
    expect(most.ids).toHaveLength(100);
    expect(most.cost.rows_read).toBeLessThanOrEqual(310); // fewer rows than for changes made with keys
    const one = await list(business, '?limit=1');
    expect(one.cost.rows_read).toBeLessThanOrEqual(14);
  });

  test('returns fewer changes per page if they are long, but at least one, because D1 limits a text to 2 MB', async () => {
    const business = await newBusiness();
    const row = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 30)
      ${INSERT_CHANGES} select 'business', ?, i, '${STAMP}', 'key 1 (…abcd)', 'remove_sites',
        json_object('sites', json_array(hex(zeroblob(? / 2)))), null from n`;
    const fill = (bytes: number) => business.home.d1.prepare(row).bind(business.id, bytes).run();
    await fill(130_000);
    const ids: number[] = [];
    for (let before = 31, pages = 0; before > 0; pages++) {
      const page = await list(business, `?limit=100&before=${before}`);
      expect(page.ids).toHaveLength(before === 3 ? 2 : 4);
      expect(pages).toBeLessThan(10);
      ids.push(...page.ids);
      before = page.next ?? 0;
    }
    expect(ids).toEqual(Array.from({ length: 30 }, (_, at) => 30 - at));
    await business.home.d1.prepare('delete from changes where subject_id = ?').bind(business.id).run();
    await fill(600_000);
    expect(await list(business)).toMatchObject({ ids: [30], next: 30 });
    expect(await list(business, '?before=2')).toMatchObject({ ids: [1], next: null });
  });

  test.each([
    ['limit', '?limit=0', 'limit must be a whole number from 1 to 100'],
    ['limit', '?limit=101', 'limit must be a whole number from 1 to 100'],
    ['limit', '?limit=1e1', 'limit must be a whole number from 1 to 100'],
    ['limit', '?limit=', 'limit must be a whole number from 1 to 100'],
    ['limit', '?limit=1&limit=2', 'limit must be a whole number from 1 to 100, and must appear only once'],
    ['before', '?before=0', 'before must be an id, such as 17, and must appear only once'],
    ['before', '?before=9007199254740992', 'before must be an id, such as 17, and must appear only once'],
    ['before', '?before=2&before=1', 'before must be an id, such as 17, and must appear only once'],
    ['action', '?action=', ACTION_RULE],
    ['action', '?action=add_site', ACTION_RULE],
    ['action', '?action=Add_sites', ACTION_RULE],
    ['action', '?action=add_sites&action=add_sites', ACTION_RULE],
    ['search', '?search=', 'search must have 1 to 255 characters'],
    ['search', `?search=${'x'.repeat(256)}`, 'search must have 1 to 255 characters'],
    ['search', '?search=a&search=b', 'search must have 1 to 255 characters'],
    ['from', '?from=2026-02-30', 'from must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD'],
    ['to', '?to=tomorrow', 'to must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD'],
    ['from', '?from=2026-03-02&to=2026-03-01', 'from must not be after to (2026-03-01)'],
    [
      'after',
      '?after=2',
      'after is not a parameter of this list, which accepts limit, before, action, search, from, and to',
    ],
  ])('rejects an invalid %s: %s', async (field, query, message) => {
    const business = await newBusiness();
    const { status, body } = await call('GET', pathOf(business) + query, { as: business.key });
    expect({ status, body }).toEqual(invalid(field, message));
  });

  test('contains the changes of one business only, with ids that start at 1', async () => {
    const first = await newBusiness();
    const second = await newBusiness({ user_id: first.user_id });
    const stranger = await newBusiness({ user_id: first.user_id + homes.length * 200_000 });
    const made = [first, second, stranger];
    for (const [round, business] of [...made, ...made, first].entries()) {
      await add(business, [`https://s${round}.example`]);
    }
    // The same table contains users' changes, stored under the user's id.
    await first.db.insert(changes).values({
      ...{ subject: 'user', subject_id: first.id, id: 9, at: STAMP, actor: 'operator', action: 'create_key' },
    });
    const sites = async (business: Business) =>
      (await list(business)).changes.map(({ id, after }: Change & { after?: { sites: string[] } }) => [
        id,
        ...(after?.sites ?? []),
      ]);
    expect(await sites(first)).toEqual([
      [3, 'https://s6.example'],
      [2, 'https://s3.example'],
      [1, 'https://s0.example'],
    ]);
    expect(await sites(second)).toEqual([
      [2, 'https://s4.example'],
      [1, 'https://s1.example'],
    ]);
    expect(await sites(stranger)).toEqual([
      [2, 'https://s5.example'],
      [1, 'https://s2.example'],
    ]);
    for (const as of [first.key, second.key]) {
      const { status, body } = await call('GET', pathOf(stranger), { as });
      expect({ status, body }).toEqual({ status: 401, body: { status: false, message: 'Id is not valid' } });
    }
  });

  test('names the operator as the actor of a change that the operator made', async () => {
    const business = await newBusiness();
    const row = { id: 1, at: STAMP, actor: 'operator', action: 'update_business' };
    const [before, after] = [{ status: 'active' }, { status: 'suspended' }];
    await business.db.insert(changes).values({
      ...{ ...row, subject: 'business', subject_id: business.id },
      ...{ before: JSON.stringify(before), after: JSON.stringify(after) },
    });
    expect((await list(business)).changes).toEqual([{ ...row, key_name: null, actor_name: null, before, after }]);
  });
});

describe('the filtered list of changes', () => {
  type Row = { id: number; at?: string; action?: string; before?: unknown; after?: unknown };
  const store = async ({ id, home }: Business, rows: Row[]) => {
    const insert = `${INSERT_CHANGES} select 'business', ?, value ->> 'id', value ->> 'at', 'operator', value ->> 'action',
      value -> 'before', value -> 'after' from json_each(?)`;
    const stored = rows.map((row) => ({ at: STAMP, action: 'update_business', ...row }));
    await home.d1.prepare(insert).bind(id, JSON.stringify(stored)).run();
  };
  const page = async (business: Business, query: string) => {
    const { ids, next } = await list(business, query);
    return { ids, next };
  };
  /** Stores `count` empty changes with ids from 1. */
  const fill = (business: Business, count: number, at = STAMP) =>
    store(
      business,
      Array.from({ length: count }, (_, index) => ({ id: index + 1, at, action: 'rotate_token' })),
    );

  test('contains the changes with the requested action', async () => {
    const { business, key } = await owned();
    await add(business, [A, B], { as: key });
    await call('POST', `/api/v1/business/${business.id}/token`, { as: key });
    await add(business, ['https://c.example'], { as: key });
    await call('DELETE', business.access, { as: key });
    const all = (await list(business)).changes;
    for (const action of ['add_sites', 'rotate_token', 'remove_sites', 'stop_former_tokens']) {
      const matching = all.filter((change) => change.action === action);
      expect(await list(business, `?action=${action}`)).toMatchObject({ changes: matching, next: null });
      expect(await list(business, `?action=${action}`, OPERATOR.full)).toMatchObject({ changes: matching, next: null });
    }
    expect((await list(business, '?action=add_sites')).ids).toEqual([3, 1]);
  });

  test.each([
    ['example', [6, 4, 3, 2, 1]],
    ['EXAMPLE', [6, 4, 3, 2, 1]],
    ['shop.example', [4, 1]],
    ['https://shop.example', [1]],
    ['suspended', [3]],
    ['monthly_limit', [2]],
    ['%', [2]],
    ['_', [4, 3, 2]],
    ['s%p', []],
    ['*.', [4]],
    ['Büro "12" \\', [3]],
    ['BÜRO', [3]],
    ['élan', [6]],
    ['ÉLAN vital', [6]],
    ['https://école.example', [6]],
    ['École', [6]],
    ['null', []],
    ['operator', []],
    [`${'x'.repeat(200)}.example`, [3]],
  ])('contains the changes whose before or after value includes the search text: %j', async (search, ids) => {
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
    expect(await page(business, `?search=${encodeURIComponent(search)}`)).toEqual({ ids, next: null });
  });

  test('contains the changes in an inclusive range of days', async () => {
    const business = await newBusiness();
    await store(business, [
      { id: 1, at: '2026-03-01T23:59:59.999000Z' },
      { id: 2, at: '2026-03-02T00:00:00.000000Z' },
      { id: 3, at: '2026-03-03T23:59:59.999000Z' },
      { id: 4, at: '2026-03-04T00:00:00.000000Z' },
    ]);
    expect(await page(business, '?from=2026-03-02')).toEqual({ ids: [4, 3, 2], next: null });
    expect(await page(business, '?to=2026-03-03')).toEqual({ ids: [3, 2, 1], next: null });
    expect(await page(business, '?from=2026-03-02&to=2026-03-03')).toEqual({ ids: [3, 2], next: null });
    expect(await page(business, '?from=2026-03-02&to=2026-03-02')).toEqual({ ids: [2], next: null });
    expect(await page(business, '?from=1970-01-01&to=9999-12-31')).toEqual({ ids: [4, 3, 2, 1], next: null });
    expect(await page(business, '?from=2026-03-05')).toEqual({ ids: [], next: null });
    expect(await page(business, '?to=2026-02-28')).toEqual({ ids: [], next: null });
  });

  test('contains the changes that match all filters, in pages', async () => {
    const business = await newBusiness();
    const rows = Array.from({ length: 40 }, (_, index) => ({
      ...{ id: index + 1, action: index % 2 ? 'add_sites' : 'remove_sites' },
      at: `2026-03-${index < 20 ? '01' : '02'}T00:00:00.000000Z`,
      after: { sites: [index % 3 ? A : B] },
    }));
    await store(business, rows);
    const filter = 'action=add_sites&search=B.example&to=2026-03-01&limit=2';
    expect(await page(business, `?${filter}`)).toEqual({ ids: [16, 10], next: 10 });
    expect(await page(business, `?${filter}&before=10`)).toEqual({ ids: [4], next: null });
  });

  test('returns fewer changes per page if they are long, and continues on the next page', async () => {
    const business = await newBusiness();
    const long = Array.from({ length: 6 }, (_, index) => ({ id: index + 1, after: { sites: ['x'.repeat(200_000)] } }));
    for (const row of long) await store(business, [row]);
    expect(await page(business, '?search=sites')).toEqual({ ids: [6, 5, 4], next: 4 });
    expect(await page(business, '?search=sites&before=4')).toEqual({ ids: [3, 2, 1], next: null });
  });

  test('examines at most 1,000 changes per page, so pages before the last can be short or empty', async () => {
    const business = await newBusiness();
    await fill(business, 2_500);
    await business.home.d1
      .prepare(
        `update changes set action = 'import_usage' where subject_id = ? and id in (1, 3, 500, 1500, 1501, 2500)`,
      )
      .bind(business.id)
      .run();
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

  describe('with a search, which compares at most 500,000 bytes per page (about the size of the largest page),', {
    tags: 'slow',
  }, () => {
    /** Stores changes of these sizes with ids from 1. Those with ids in `marked` contain the text to search for. */
    const storeLong = async (business: Business, bytes: number[], marked: number[]) => {
      for (const [index, length] of bytes.entries()) {
        const text = (marked.includes(index + 1) ? 'here' : '').padEnd(length - '{"name":""}'.length, 'x');
        const side = index % 2 ? 'before' : 'after';
        await store(business, [{ id: index + 1, action: 'add_sites', [side]: { name: text } }]);
      }
    };
    const pages = async (business: Business, query: string) => {
      const read = [await list(business, query)];
      for (let next = read[0]?.next; next; next = read.at(-1)?.next) {
        read.push(await list(business, `${query}&before=${next}`));
        expect(read.at(-1)?.next ?? 0).toBeLessThan(next);
      }
      return read;
    };

    test('ends the page with the change that reaches the maximum', async () => {
      const business = await newBusiness();
      await storeLong(business, Array(12).fill(100_000), [2, 9]);
      const read = await pages(business, '?search=here');
      expect(read.map(({ ids, next }) => ({ ids, next }))).toEqual([
        { ids: [9], next: 8 },
        { ids: [], next: 3 },
        { ids: [2], next: null },
      ]);
      // Reads the lengths of at most six changes, at three rows each, and the texts of at most five, at one row each.
      for (const { cost } of read) expect(cost.rows_read).toBeLessThanOrEqual(3 * 6 + 5 + 11);
      await business.home.d1.prepare('update changes set after = ? where id = 11').bind('{"name":"x"}').run();
      expect(await page(business, '?search=here')).toEqual({ ids: [9], next: 7 });
      // Other filters do not compare text.
      expect(await page(business, '?action=remove_sites')).toEqual({ ids: [], next: null });
      expect(await page(business, '?to=2026-03-14')).toEqual({ ids: [], next: null });
    });

    test('compares each change that exceeds the maximum on a page of its own', async () => {
      const business = await newBusiness();
      await storeLong(business, Array(4).fill(600_000), [1, 3]);
      expect((await pages(business, '?search=here')).map(({ ids, next }) => ({ ids, next }))).toEqual([
        { ids: [], next: 4 },
        { ids: [3], next: 3 },
        { ids: [], next: 2 },
        { ids: [1], next: null },
      ]);
    });

    test('finds each match once across all pages', async () => {
      const business = await newBusiness();
      const bytes = Array.from({ length: 60 }, (_, index) => 11 + ((index * 7_919) % 130_000));
      const marked = Array.from({ length: 20 }, (_, index) => 60 - 3 * index);
      await storeLong(business, bytes, marked);
      for (const limit of [1, 3, 100]) {
        const read = await pages(business, `?search=here&limit=${limit}`);
        expect(read.flatMap(({ ids }) => ids)).toEqual(marked.filter((id) => (bytes[id - 1] ?? 0) > 20));
      }
    });
  });

  test('takes one round trip and reads at most 1,000 rows in addition to the page’s, or 5,000 with a search', {
    tags: 'slow',
  }, async () => {
    const { business, id } = await owned();
    const other = await newBusiness({ user_id: business.user_id });
    await fill(business, 5_000);
    await fill(other, 100);
    await business.home.d1
      .prepare(`update changes set actor = ? where subject_id = ?`)
      .bind(`key ${id} (…abcd)`, business.id)
      .run();
    for (const as of [business.key, OPERATOR.full]) {
      for (const filter of ['action=add_sites', 'search=shop.example', 'from=2026-03-16', 'to=2026-03-14']) {
        const { ids, cost } = await list(business, `?${filter}`, as);
        expect(ids).toEqual([]);
        expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
        const lengths = filter.startsWith('search') ? 3 * 1_000 : 0;
        expect(cost.rows_read).toBeLessThanOrEqual(lengths + 1_000 + 11);
      }
      for (const limit of [1, 20, 100]) {
        const { ids, cost } = await list(business, `?action=rotate_token&limit=${limit}`, as);
        expect(ids).toHaveLength(limit);
        // Stops when the page is full.
        expect(cost.rows_read).toBeLessThanOrEqual(4 * limit + 11);
      }
    }
    await business.home.d1
      .prepare(`update changes set action = 'add_sites' where subject_id = ? and id between 4001 and 4100`)
      .bind(business.id)
      .run();
    const { ids, cost } = await list(business, '?action=add_sites&limit=100');
    expect(ids).toHaveLength(100);
    expect(cost.rows_read).toBeLessThanOrEqual(1_000 + 3 * 100 + 11);

    // A search by name reads the key of each change.
    await business.home.d1
      .prepare(
        `update changes set action = 'revoke_key', actor = 'operator', before = json_object('id', ?) where subject_id = ?`,
      )
      .bind(id, business.id)
      .run();
    expect((await list(business, '?search=no-such-name')).cost.rows_read).toBeLessThanOrEqual(5_000 + 11);
    const named = await list(business, '?search=narrow&limit=100');
    expect(named.ids).toHaveLength(100);
    expect(named.cost.rows_read).toBeLessThanOrEqual(5_000 + 4 * 100 + 11);
    expect((await list(business, '?limit=100')).cost.rows_read).toBeLessThanOrEqual(4 * 100 + 11);
  });
});

describe('a transfer to another user', () => {
  const OTHERS = { country_id: 1, business_size: 'small', database: 0 };
  const send = async (method: string, path: string, body?: object) => {
    const answer = await call(method, `/api/v1${path}`, { as: OPERATOR.full, body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };
  const [ANNA, BERT] = [990_001, 990_002];
  const OF_ANNA = { user_id: ANNA, name: 'Anna', main_domain: 'anna.example', site: 'https://anna.example' };
  const OF_BERT = { user_id: BERT, name: 'Bert', main_domain: 'bert.example', site: 'https://bert.example' };

  test('shows neither user the values of the other, in no list or search, until they are that user’s own', async () => {
    const { id } = await send('POST', '/business', { ...OF_ANNA, ...OTHERS });
    await send('POST', `/user/${ANNA}/keys`, { name: 'Anna laptop', business_id: id });
    const ofAnna = (await send('POST', `/user/${ANNA}/keys`, { name: 'Anna server' })).api_key;
    await send('PATCH', `/business/${id}`, OF_BERT);
    const ofBert = (await send('POST', `/user/${BERT}/keys`, { name: 'Bert laptop' })).api_key;
    const { country_id, business_size } = OTHERS;
    const created = {
      ...OF_ANNA,
      country_id,
      business_size,
      token: expect.stringMatching(/^….{4}$/),
      status: 'active',
    };
    const listed = async (as: string, query = '') =>
      (await call('GET', `/api/v1/business/${id}/changes${query}`, { as })).body.data.changes
        .filter(({ action }: Change) => !action.endsWith('_key'))
        .map(({ before, after }: Record<string, unknown>) => ({ before, after }));
    for (const as of [ofBert, OPERATOR.full]) {
      expect(await listed(as)).toEqual([
        { before: null, after: OF_BERT },
        { before: null, after: null },
      ]);
      expect(await listed(as, '?search=anna')).toEqual([]);
      expect(await listed(as, '?search=bert')).toHaveLength(1);
    }
    const userChanges = async (user_id: number) => JSON.stringify(await send('GET', `/user/${user_id}/changes`));
    expect(await userChanges(ANNA)).not.toMatch(/bert|990002/i);
    expect(await userChanges(BERT)).not.toMatch(/anna|990001/i);

    await send('PATCH', `/business/${id}`, { user_id: ANNA });
    for (const as of [ofAnna, OPERATOR.full])
      expect(await listed(as)).toEqual([
        { before: null, after: { user_id: ANNA } },
        { before: OF_ANNA, after: null },
        { before: null, after: created },
      ]);
  });
});

describe('the name of the key that made a change', () => {
  const namesOf = async (business: Business, as = business.key) =>
    (await list(business, '', as)).changes.map((change) => (change as Change & { key_name: string | null }).key_name);
  const rename = ({ home }: Business, id: number, name: string) =>
    home.db.update(apiKeys).set({ name }).where(eq(apiKeys.id, id));
  const give = (business: Business, user_id: number) =>
    call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { user_id } });

  test('is the current name, even if the key is revoked, is limited to one business, or started the session that made the change', async () => {
    const { business, key, id } = await owned();
    const narrow = await newKey(business, { business_id: business.id });
    const session = await newKey(business, { ends_at: '2026-03-16T00:00:00.000000Z', session_of: id });
    await add(business, [A], { as: key });
    await add(business, [B], { as: narrow.key });
    await add(business, ['https://c.example'], { as: session.key });
    await rename(business, id, 'Büro "12"');
    await rename(business, narrow.id, 'key 1 (…abcd)');
    await business.home.d1.prepare('update api_keys set revoked_at = ? where id = ?').bind(STAMP, id).run();
    expect(await namesOf(business)).toEqual(['Büro "12"', 'key 1 (…abcd)', 'Büro "12"']);
    expect(await namesOf(business, OPERATOR.full)).toEqual(['Büro "12"', 'key 1 (…abcd)', 'Büro "12"']);
    expect(await namesOf(business, narrow.key)).toEqual(['Büro "12"', 'key 1 (…abcd)', 'Büro "12"']);
  });

  test('is null if the operator or a console link made the change', async () => {
    const business = await newBusiness();
    await add(business, [A], { as: (await newSession(business)).key });
    await add(business, [B], { as: OPERATOR.full });
    expect(await namesOf(business)).toEqual([null, null]);
  });

  test('is null for every caller after the business is transferred, until it is transferred back', async () => {
    const { business, key } = await owned();
    const narrow = await newKey(business, { business_id: business.id });
    await add(business, [A], { as: key });
    await add(business, [B], { as: narrow.key });
    const heir = await newBusiness({ user_id: business.user_id + homes.length * 300_000 });
    expect((await give(business, heir.user_id)).status).toBe(200);
    const ofHeir = await newKey(heir, { business_id: business.id });
    await add(business, ['https://c.example'], { as: ofHeir.key });
    for (const as of [heir.key, ofHeir.key, OPERATOR.full])
      expect(await namesOf(business, as)).toEqual(['narrow', null, null, null]);
    expect((await call('GET', pathOf(business), { as: key })).status).toBe(401);
    expect((await give(business, business.user_id)).status).toBe(200);
    expect(await namesOf(business)).toEqual([null, null, null, 'narrow', 'narrow']);
  });

  test('is null for unknown keys and other actors', async () => {
    const { business } = await owned();
    const insert = `${INSERT_CHANGES} select 'business', ?, key + 1, '${STAMP}', value, 'update_business', null, null from json_each(?)`;
    const actors = ['key 999999999 (…abcd)', 'console link (…abcd)', 'operator (…abcd)', 'operator'];
    await business.home.d1.prepare(insert).bind(business.id, JSON.stringify(actors)).run();
    expect(await namesOf(business)).toEqual(actors.map(() => null));
  });

  describe('if the change created or revoked a one-business key', () => {
    const OTHERS = 'Büro "12" of others';
    /** Creates a business with a revoked key. SQL renames the key after its changes are stored. */
    async function withKey() {
      const business = await newBusiness();
      const keys = `/api/v1/user/${business.user_id}/keys`;
      const body = { name: 'Before', business_id: business.id };
      const { id, last_four } = (await call('POST', keys, { as: OPERATOR.full, body })).body.data;
      await call('DELETE', `${keys}/${id}`, { as: OPERATOR.full });
      await rename(business, id, OTHERS);
      const created = {
        key: `…${last_four}`,
        expires_on: null,
        business_id: business.id,
        read_only: false,
        role: 'full',
      };
      return { business, id, created: { ...created, id }, revoked: { id, key: `…${last_four}` } };
    }
    const shown = async (business: Business, as: string, query = '') =>
      (await list(business, query, as)).changes.map((change) => {
        const { action, before, after } = change as Change & { before: object; after: object };
        return { action, before, after };
      });

    test('is accompanied by that key’s current name, which is hidden from a new owner', async () => {
      const { business, created, revoked } = await withKey();
      const own = [
        { action: 'revoke_key', before: { ...revoked, name: OTHERS }, after: null },
        { action: 'create_key', before: null, after: { ...created, name: OTHERS } },
      ];
      expect(await shown(business, business.key)).toEqual(own);
      expect(await shown(business, business.key, '?from=2026-03-01')).toEqual(own);
      expect(await shown(business, business.key, '?search=B%C3%BCro')).toEqual(own);
      expect(await shown(business, business.key, '?search=before')).toEqual([]);

      const heir = await newBusiness({ user_id: business.user_id + homes.length * 300_000 });
      expect((await give(business, heir.user_id)).status).toBe(200);
      for (const as of [heir.key, OPERATOR.full]) {
        for (const query of ['', '?search=key', '?to=2026-03-15']) {
          const changes = await shown(business, as, query);
          expect(changes.slice(-2)).toEqual([
            { action: 'revoke_key', before: revoked, after: null },
            { action: 'create_key', before: null, after: created },
          ]);
          expect(JSON.stringify(changes)).not.toMatch(/Before|Büro/);
        }
        for (const name of ['B%C3%BCro', 'Before', 'of others'])
          expect(await shown(business, as, `?search=${name}`)).toEqual([]);
      }
    });

    test('is not accompanied by that key’s name if the row is old and contains no key id', async () => {
      const { business, created } = await withKey();
      const { id: _, ...before } = created;
      const store = business.home.d1.prepare(
        `update changes set after = ? where subject_id = ? and action = 'create_key'`,
      );
      await store.bind(JSON.stringify({ ...before, name: 'Before' }), business.id).run();
      expect((await shown(business, business.key)).at(-1)?.after).toEqual(before);
    });
  });

  test('adds at most one row read for each change', async () => {
    const { business, id } = await owned();
    const insert = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
      ${INSERT_CHANGES} select 'business', ?, i, '${STAMP}', ?, 'update_business', null, null from n`;
    const fill = (actor: string) => business.home.d1.prepare(insert).bind(business.id, actor).run();
    const clear = () => business.home.d1.prepare('delete from changes where subject_id = ?').bind(business.id).run();
    for (const as of [business.key, OPERATOR.full]) {
      await fill('operator');
      const { rows_read } = (await list(business, '?limit=99', as)).cost;
      await clear();
      await fill(`key ${id} (…abcd)`);
      const named = await list(business, '?limit=99', as);
      expect(named.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      // The 100th row is read only to determine whether there is another page.
      expect(named.cost.rows_read - rows_read).toBeLessThanOrEqual(100);
      expect(named.cost.rows_read - rows_read).toBeGreaterThan(0);
      await clear();
    }
  });
});

test('20 concurrent changes receive 20 distinct ids', async () => {
  const business = await newBusiness();
  const { key } = await newKey(business);
  const sites = Array.from({ length: 20 }, (_, index) => `https://s${index}.example`);
  const answers = await Promise.all(sites.map((site, index) => add(business, [site], index % 2 ? { as: key } : {})));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const rows = await business.db
    .select()
    .from(changes)
    .where(and(eq(changes.subject, 'business'), eq(changes.subject_id, business.id)))
    .orderBy(changes.id);
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(rows.map(({ after }) => JSON.parse(after ?? '').sites[0]).sort()).toEqual([...sites].sort());
});

test('20 concurrent calls that add the same site make one change', async () => {
  const business = await newBusiness();
  await Promise.all(Array.from({ length: 20 }, () => add(business, [A])));
  expect((await list(business)).ids).toEqual([1]);
});

test('after all operations, no table contains an API key and no change contains a token', {
  tags: 'slow',
}, async () => {
  const secrets: string[] = [];
  const tokens: string[] = [];
  for (const token of [undefined, 'Imported.Token_from~elsewhere/2']) {
    const business = await newBusiness({ sites: [A], ...(token && { token }) });
    const keys = [business.key, (await newKey(business)).key];
    for (const role of [{ role: 'read' }, { role: 'record' }] as const) {
      keys.push((await newKey(business, { ...role, business_id: business.id })).key);
    }
    for (const as of [...keys, business.token]) {
      for (const route of ROUTES) {
        for (const origin of [undefined, A, 'https://evil.example', `https://${as.toLowerCase().slice(-7)}.example`]) {
          const body = route.body === undefined ? {} : { body: route.body };
          const headers = { ...route.headers };
          const answer = await call(route.method, route.path(business), {
            as,
            headers,
            ...body,
            origin,
          });
          const shown: unknown = answer.body?.data?.token;
          if (typeof shown === 'string' && !shown.includes('…')) tokens.push(shown);
        }
        await addSite(business.id, `https://s${secrets.length}-${tokens.length}-${ROUTES.indexOf(route)}.example`);
      }
      if (as !== business.token) secrets.push(as);
    }
    const [, entry] = (await call('GET', business.access, { as: business.key })).body.data.access_list;
    expect((await call('DELETE', `${business.access}/${entry.id}`, { as: business.key })).status).toBe(200);
    tokens.push(business.token);
  }
  const stored = await dumpAll();
  const refused = await Promise.all(homes.map(({ d1 }) => d1.prepare('select * from refused_origins').all()));
  const all = stored + JSON.stringify(refused.map(({ results }) => results));
  for (const { db } of homes) {
    const rows = JSON.stringify(await db.select().from(changes));
    for (const token of tokens) expect(rows).not.toContain(token.slice(-8));
    expect(rows).not.toMatch(/…[^"\\)]{5}/);
  }
  for (const key of secrets) for (const part of [key, key.slice(7), key.slice(-8)]) expect(all).not.toContain(part);
  expect(new Set(tokens).size).toBeGreaterThan(5);
  const actions = await Promise.all(homes.map(({ db }) => db.select({ action: changes.action }).from(changes)));
  expect(new Set(actions.flat().map(({ action }) => action))).toContain('rotate_token');
  expect(all).toContain(NOW.toISOString().slice(0, 10));
});

describe('the steps of a change', () => {
  // Deletes the large changes that earlier tests stored.
  beforeAll(() => Promise.all(homes.map(({ db }) => db.delete(changes))));

  type Steps = Record<string, Statement>;
  const orders = (names: string[]): string[][] =>
    names.length < 2
      ? [names]
      : names.flatMap((name) => orders(names.filter((other) => other !== name)).map((rest) => [name, ...rest]));
  /** Runs the `decided` step and then the others in the given order, with the owner's key. */
  const run = async ({ id, key, home }: Business, { decided, ...others }: Steps, order: string[]) => {
    const credential = { kind: 'key', lookupValue: await sha256Hex(key) } as const;
    const steps = { decided, ...Object.fromEntries(order.map((name) => [name, others[name]])) } as Steps;
    const call: Call = {
      rule: ruleNamed('change_access'),
      credential,
      business_id: id,
      namesBusiness: true,
      origin: null,
      ownOrigin: '',
      now: NOW,
      deadline: Date.now() + 10_000,
    };
    await runBatch(home.d1, call, readVerdict, steps, noCost());
  };
  const newToken = () => `bua_pk_0${crypto.randomUUID().replaceAll('-', 'x').slice(0, 33)}`;
  const shortened = (token: string) => ({ token: `…${token.slice(-4)}` });
  const KEPT_UNTIL = '2026-03-16T12:00:00.000000Z';

  type Example = {
    action: Action;
    before: string[];
    make: (entry: number, token: string) => Steps;
    /** The names of the steps, in order. */
    steps: string[];
    after: string[];
    /** True if former tokens remain. */
    keepsFormer: boolean;
    /** True if the old token becomes a former token. */
    keepsToken?: boolean;
    recorded: (oldToken: string, token: string, former: string) => { before: object | null; after: object | null };
  };
  const STEPS = ['decided', 'recorded', 'applied'];
  const CHANGES: Example[] = [
    {
      ...{ action: 'add_sites', before: [A], make: () => addSites([B], true), after: [A, B] },
      steps: [...STEPS, 'named'],
      keepsFormer: true,
      recorded: () => ({ before: null, after: { sites: [B] } }),
    },
    {
      ...{ action: 'remove_sites', before: [A, B], make: (entry) => removeEntry(entry), steps: STEPS, after: [B] },
      keepsFormer: true,
      recorded: () => ({ before: { sites: [A] }, after: null }),
    },
    {
      ...{ action: 'remove_sites', before: [A, B], make: () => removeEntries(), steps: STEPS, after: [] },
      keepsFormer: true,
      recorded: () => ({ before: { sites: [A, B] }, after: null }),
    },
    {
      ...{ action: 'rotate_token', before: [A], make: (_, token) => rotateToken(token, null), after: [A] },
      ...{ steps: ['decided', 'recorded', 'kept', 'applied', 'dropped'], keepsFormer: false },
      recorded: (oldToken, token) => ({ before: shortened(oldToken), after: shortened(token) }),
    },
    {
      ...{ action: 'rotate_token', before: [A], make: (_, token) => rotateToken(token, KEPT_UNTIL), after: [A] },
      ...{ steps: ['decided', 'recorded', 'kept', 'applied', 'dropped'], keepsFormer: true, keepsToken: true },
      recorded: (oldToken, token) => ({
        before: shortened(oldToken),
        after: { ...shortened(token), former_works_until: KEPT_UNTIL },
      }),
    },
    {
      ...{ action: 'stop_former_tokens', before: [A], make: () => stopFormerTokens(), after: [A] },
      ...{ steps: STEPS, keepsFormer: false },
      recorded: (_, __, former) => ({
        before: { tokens: [{ last_four: former.slice(-4), expires_at: KEPT_UNTIL }] },
        after: null,
      }),
    },
    {
      ...{ action: 'import_usage', before: [A], after: [A], keepsFormer: true },
      make: () => importHistory([{ date: '2026-03-01', count: 5 }], false).steps,
      steps: ['decided', 'recorded', 'forgotten', 'imported', 'applied', 'dropped', 'reached'],
      recorded: () => ({ before: null, after: { days: 1, uses: 5 } }),
    },
  ];
  const shown = async (business: Business) => (await call('GET', business.access, { as: business.key })).body.data;
  /** Creates a business with a former token, and returns the steps of the change to make. */
  async function prepared({ before, make }: Example) {
    const business = await newBusiness({ sites: before });
    const former = await addFormerToken(business, KEPT_UNTIL);
    const token = newToken();
    return { business, former, token, steps: make((await shown(business)).access_list[0].id, token) };
  }
  async function expectApplied({ action, after }: Example, business: Business, token: string) {
    const { access_list, token: current } = await shown(business);
    expect(access_list.map(({ site }: { site: string }) => site)).toEqual(after);
    expect(current).toBe(action === 'rotate_token' ? token : business.token);
  }

  test.each(CHANGES)('$action on $before: $steps run in an order that stores correct values', async (example) => {
    const { business, former, token, steps } = await prepared(example);
    expect(Object.keys(steps)).toEqual(example.steps);
    const { decided: _, ...others } = steps;
    await run(business, steps, Object.keys(others));
    await expectApplied(example, business, token);
    const actor = expect.stringContaining(`…${business.key.slice(-4)}`);
    expect((await list(business)).changes).toEqual([
      {
        id: 1,
        at: STAMP,
        actor,
        key_name: 'test',
        actor_name: null,
        action: example.action,
        ...example.recorded(business.token, token, former),
      },
    ]);
    const left = business.db.select().from(formerTokens).where(eq(formerTokens.business_id, business.id));
    expect((await left.orderBy(formerTokens.place)).map(({ token }) => token)).toEqual([
      ...(example.keepsFormer ? [former] : []),
      ...(example.keepsToken ? [business.token] : []),
    ]);
  });

  // If the steps run in another order, some stored values may be wrong. Every step still runs, because each depends only on the decision.
  test.each(CHANGES)(
    '$action on $before: $steps all run in any order, because each depends only on the decision',
    { tags: 'slow' },
    async (example) => {
      await inBatches(orders(example.steps.slice(1)), async (order) => {
        const { business, token, steps } = await prepared(example);
        await run(business, steps, order);
        await expectApplied(example, business, token);
        expect((await list(business)).changes, `${order}`).toMatchObject([{ id: 1, action: example.action }]);
      });
    },
  );

  test.each(CHANGES)(
    '$action on $before: $steps do nothing without the decision, even after another change',
    async ({ make }) => {
      const { decided: _, ...others } = make(1, newToken());
      const business = await newBusiness({ sites: [A, B] });
      await addFormerToken(business);
      await add(business, ['https://c.example']);
      const before = await dumpAll();
      await run(business, { decided: readVerdict, ...others }, Object.keys(others));
      expect(await dumpAll()).toBe(before);
    },
  );
});
