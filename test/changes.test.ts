// Changes: each change stores one row without secrets. The simulator (test/sim) checks what the lists of changes show to whom.
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { addSites, removeEntries, removeEntry } from '../src/access/statements.ts';
import type { Action } from '../src/core/change.ts';
import { sha256Hex } from '../src/core/credential.ts';
import { noCost, runBatch } from '../src/db/batch.ts';
import type { Call } from '../src/db/call.ts';
import { changes, formerTokens } from '../src/db/schema.ts';
import { readVerdict, type Statement } from '../src/db/statement.ts';
import { rotateToken, stopFormerTokens } from '../src/tokens/statements.ts';
import { importHistory } from '../src/usage/history.ts';
import { ruleNamed } from './ask.ts';
import { ROUTES } from './routes.ts';
import { OWN_ROLES } from './sim/model/may.ts';
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
  return { business, ...(await newKey(business)) };
}
const add = (business: Business, sites: string[], options: CallOptions = {}) =>
  call('POST', business.access, { as: business.key, body: { sites }, ...options });

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

describe('the list of changes', () => {
  test('returns fewer changes per page if they are long, but at least one, because D1 limits a text to 2 MB', {
    tags: 'slow',
  }, async () => {
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

  test('returns fewer changes per page if they are long, and continues on the next page', async () => {
    const business = await newBusiness();
    const long = Array.from({ length: 6 }, (_, index) => ({ id: index + 1, after: { sites: ['x'.repeat(200_000)] } }));
    for (const row of long) await store(business, [row]);
    expect(await page(business, '?search=sites')).toEqual({ ids: [6, 5, 4], next: 4 });
    expect(await page(business, '?search=sites&before=4')).toEqual({ ids: [3, 2, 1], next: null });
  });

  test('examines at most 1,000 changes per page, so pages before the last can be short or empty', {
    tags: 'slow',
  }, async () => {
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

test('after all operations, no table contains an API key and no change contains a token', {
  tags: 'slow',
}, async () => {
  const secrets: string[] = [];
  const tokens: string[] = [];
  for (const token of [undefined, 'Imported.Token_from~elsewhere/2']) {
    const business = await newBusiness({ sites: [A], ...(token && { token }) });
    const keys = [business.key, (await newKey(business)).key];
    for (const role of OWN_ROLES) {
      keys.push((await newKey(business, { role, business_id: business.id })).key);
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
      user_id: 0,
      namesUser: false,
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
