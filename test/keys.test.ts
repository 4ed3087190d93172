// Narrow keys on every route: keys for one business, read-only keys, record-only keys, and their combinations.
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { businesses } from '../src/db/schema.ts';
import { refused } from './answers.ts';
import { type AnyRoute, OF_A_BUSINESS, ROUTES } from './routes.ts';
import { isOfKeys, KEY_ROLES, type KeyRole, may, ROLES, refusalOf } from './sim/model/may.ts';
import {
  addFormerToken,
  addSite,
  type Business,
  type CallOptions,
  call,
  dumpAll,
  homes,
  inBatches,
  newBusiness,
  newKey,
  OPERATOR,
  type Scope,
} from './support.ts';

const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
/** The kinds of keys. A narrow one is restricted to one business. */
const SCOPES = KEY_ROLES.flatMap((role) =>
  [false, true].map((narrow) => ({ role, narrow, scope: narrow ? `${role}, for one business` : role })),
);
const scopeOf = ({ narrow, role }: { narrow: boolean; role: KeyRole }, { id }: Business): Scope => ({
  role,
  ...(narrow ? { business_id: id } : {}),
});
/** Returns the refusal of a key with this role. */
const refusedTo = (role: KeyRole, { operation }: AnyRoute) => refused(refusalOf(role, operation)?.[1] ?? '');

/** Creates two businesses of one owner and one of another owner, each with a site. */
async function world(status = 'active') {
  const mine = await newBusiness({ sites: [SHOP], status });
  const sibling = await newBusiness({ sites: [SHOP], status, user_id: mine.user_id });
  const strange = await newBusiness({ sites: [SHOP], status, user_id: mine.user_id + homes.length * 100_000 });
  for (const business of [mine, sibling, strange]) await addFormerToken(business);
  return { mine, sibling, strange, unknown: { id: mine.id + 999_999 } };
}
/** Calls a route with valid input or with input that it rejects with 422. */
const ask = (route: AnyRoute, business: { id: number; user_id?: number }, isBad: boolean, options: CallOptions) => {
  const { body, headers } = isBad ? route.bad : route;
  const path = route.path(business) + ((isBad && route.bad.query) || '');
  return call(route.method, path, { body, headers, ...options });
};

const idAndToken = ({ id, token }: { id: number; token: string }) => ({ id, token });

describe.each(SCOPES)('a call with a key ($scope)', { tags: 'slow' }, (kind) => {
  const { role, narrow } = kind;

  test('is allowed for the key’s operations and businesses, from servers and registered pages', async () => {
    const told = await inBatches(
      ROUTES.filter(({ operation }) => may(role, operation) && !(narrow && isOfKeys(operation))),
      async (route) => {
        const { mine, sibling, strange } = await world();
        const { key } = await newKey(mine, scopeOf(kind, mine));
        const lines: string[] = [];
        for (const business of narrow || route.unknownBusiness === null ? [mine] : [mine, sibling]) {
          for (const origin of [undefined, SHOP]) {
            const { status, text } = await ask(route, business, false, { as: key, origin });
            const hidden = [strange, ...(role === 'full' ? [] : [mine, sibling])];
            const shows = hidden.some(({ token }) => text.includes(token)) ? ', and it shows a token' : '';
            if (status !== (route.granted ?? 200) || shows) lines.push(`${route.name} from ${origin}: ${text}${shows}`);
          }
        }
        if (Object.keys(route.bad).length > 0) {
          const { status, body } = await ask(route, mine, true, { as: key });
          if (status !== 422 || body.errors === undefined) lines.push(`${route.name} with wrong input: ${status}`);
        }
        return lines;
      },
    );
    expect(told.flat()).toEqual([]);
  });

  // test/matrix.test.ts covers every origin and inactive businesses.
  test('is refused for every other operation before origin and input are checked, identically for all unknown businesses', async () => {
    const { mine, sibling, strange, unknown } = await world();
    const { key } = await newKey(mine, scopeOf(kind, mine));
    const before = await dumpAll();
    const told = await inBatches(ROUTES, async (route) => {
      const lines: string[] = [];
      async function expectRefused({ id }: { id: number }, expected: { status: number; body: object }) {
        const named = { id, user_id: mine.user_id };
        const valid = await ask(route, named, false, { as: key });
        const wrong = await ask(route, named, true, { as: key, origin: EVIL });
        for (const { status, body, cost } of [valid, wrong]) {
          const got = JSON.stringify([{ status, body }, cost.round_trips, cost.rows_written]);
          if (got !== JSON.stringify([expected, 1, 0])) lines.push(`${route.name} of ${id}: ${got}`);
        }
        return valid.cost.rows_read;
      }
      if (!may(role, route.operation)) await expectRefused(mine, refusedTo(role, route));
      else if (narrow && isOfKeys(route.operation))
        await expectRefused(mine, refused('This API key is only for one business.'));
      const { unknownBusiness } = route;
      if (unknownBusiness === null) return lines;
      const foreign = [strange, unknown, ...(narrow ? [sibling] : [])];
      const read = await Promise.all(foreign.map((business) => expectRefused(business, unknownBusiness)));
      return new Set(read).size === 1 ? lines : [...lines, `${route.name}, rows read: ${read}`];
    });
    expect(told.flat()).toEqual([]);
    expect(await dumpAll()).toBe(before);
  });
});

describe.each(SCOPES.filter(({ role }) => may(role, 'list_businesses')))(
  'the list of businesses for a key ($scope)',
  (scope) => {
    test("contains the key's businesses and shows whether the key is read-only", async () => {
      const { mine, sibling } = await world();
      const { key } = await newKey(mine, scopeOf(scope, mine));
      const shownToken = (token: string) => (scope.role === 'full' ? token : `bua_pk_…${token.slice(-4)}`);
      const shown = ({ id, token }: Business) => ({ id, token: shownToken(token) });
      const fromItself = mine.id === 1 ? '' : `?after=${mine.id - 1}`; // 0 is not an id
      for (const query of ['', '?limit=50', fromItself]) {
        const { body } = await call('GET', `/api/v1/business${query}`, { as: key });
        expect(body.data.businesses.map(idAndToken)).toEqual((scope.narrow ? [mine] : [mine, sibling]).map(shown));
        expect(body.data.read_only).toBe(ROLES[scope.role].readOnly);
      }
      const rest = await call('GET', `/api/v1/business?after=${mine.id}`, { as: key });
      expect(rest.body.data.businesses.map(idAndToken)).toEqual((scope.narrow ? [] : [sibling]).map(shown));
    });
  },
);

test('a request costs the same with a record-only key as with a full key', { tags: 'slow' }, async () => {
  const business = await newBusiness({ sites: [SHOP] });
  const { key } = await newKey(business, { role: 'record' });
  for (const route of OF_A_BUSINESS.filter(({ operation }) => may('record', operation))) {
    const by = async (as: string) => {
      const { status, cost } = await ask(route, business, false, { as, origin: SHOP });
      return { name: route.name, status, cost };
    };
    await by(business.key); // creates the day's row, which costs more than an update
    expect(await by(key)).toEqual({ ...(await by(business.key)), status: 200 });
  }
});

test('a key of each role is created and listed as requested, and only a full key may do everything', async () => {
  const business = await newBusiness();
  const path = `/api/v1/user/${business.user_id}/keys`;
  for (const role of KEY_ROLES) {
    const created = await call('POST', path, { as: OPERATOR.full, body: { role } });
    expect(created.body.data).toMatchObject({ role, read_only: ROLES[role].readOnly });
    const refusals = await Promise.all(
      OF_A_BUSINESS.map((route) => ask(route, business, false, { as: created.body.data.api_key })),
    );
    const isRefused = refusals.some(({ headers }) => headers.get('Error-Code')?.endsWith('_only_key'));
    expect([role, isRefused]).toEqual([role, role !== 'full']);
  }
  const { keys } = (await call('GET', path, { as: OPERATOR.full })).body.data;
  expect(keys.slice(-KEY_ROLES.length).map(({ role }: { role: string }) => role)).toEqual(KEY_ROLES);
});

test('a key has a known role, and a role that a later version stored may do nothing', async () => {
  const business = await newBusiness();
  const { key, id } = await newKey(business);
  const unknown = `update api_keys set role = 'of_a_later_version' where id = ${id}`;
  await expect(business.home.d1.exec(unknown)).rejects.toThrow('CHECK constraint failed');
  await business.home.d1.exec(
    `pragma ignore_check_constraints = on; ${unknown}; pragma ignore_check_constraints = off`,
  );
  for (const route of ROUTES.filter(({ keyRefusal }) => keyRefusal === null)) {
    const { status, headers } = await call(route.method, route.path(business), { as: key, body: route.body });
    expect([route.name, status, headers.get('Error-Code')]).toEqual([route.name, 403, 'record_only_key']);
  }
});

test('a read-only key can read only the last four characters of an imported token', async () => {
  const token = 'Imported.Token_from~elsewhere/Last';
  const business = await newBusiness({ token });
  const { key } = await newKey(business, { role: 'read' });
  const shown = (await call('GET', business.access, { as: key })).body.data.token;
  const [listed] = (await call('GET', '/api/v1/business', { as: key })).body.data.businesses;
  expect([shown, listed.token]).toEqual(['bua_pk_…Last', 'bua_pk_…Last']);
  for (const as of [shown, shown.replace('…', '')]) {
    const headers = { Authorization: `Bearer ${encodeURIComponent(as)}` };
    expect((await call('POST', business.usage, { headers })).status).toBe(401);
  }
});

test('a read-only key reads everything that a full key reads except the token', async () => {
  const business = await newBusiness({ sites: [SHOP] });
  await call('POST', business.usage, { as: business.key });
  await call('POST', business.access, { as: business.key, body: { sites: ['https://other.example'] } });
  const { key } = await newKey(business, { role: 'read' });
  for (const route of ROUTES.filter(
    ({ method, operation }) => method === 'GET' && may('read', operation) === may('full', operation),
  )) {
    const [wide, narrow] = [business.key, key].map((as) => call('GET', route.path(business), { as }));
    const masked = (await wide)?.text.replaceAll(business.token, `bua_pk_…${business.token.slice(-4)}`);
    expect((await narrow)?.text.replace('"read_only":true', '"read_only":false')).toBe(masked);
  }
});

test('a key for another owner’s business grants access to no business', { tags: 'slow' }, async () => {
  const { mine, sibling, strange } = await world();
  const { key } = await newKey(mine, { business_id: strange.id });
  for (const route of OF_A_BUSINESS) {
    for (const business of [mine, sibling, strange]) {
      const { status, body } = await ask(route, business, false, { as: key });
      expect({ status, body }).toEqual(route.unknownBusiness);
    }
  }
  expect((await call('GET', '/api/v1/business', { as: key })).body.data.businesses).toEqual([]);
});

type World = Awaited<ReturnType<typeof world>> & { keys: string[] };
const set = ({ mine }: World, fields: Partial<typeof businesses.$inferInsert>) =>
  mine.db.update(businesses).set(fields).where(eq(businesses.id, mine.id));
/** Events that could affect a key's access. `as` is one of the owner's keys. */
const EVENTS: Record<string, (world: World, as: string) => Promise<unknown>> = {
  'rotate the token immediately': ({ mine }, as) => call('POST', `/api/v1/business/${mine.id}/token`, { as }),
  'rotate the token with a grace period': ({ mine }, as) =>
    call('POST', `/api/v1/business/${mine.id}/token`, { as, body: { keep_old: '1h' } }),
  'rotate the token of the sibling': ({ sibling }, as) => call('POST', `/api/v1/business/${sibling.id}/token`, { as }),
  'add a site': ({ mine }, as) => call('POST', mine.access, { as, body: { sites: ['https://b.example'] } }),
  'remove all sites': ({ mine }, as) => call('DELETE', mine.access, { as }),
  'remove all sites of the sibling': ({ sibling }, as) => call('DELETE', sibling.access, { as }),
  'record a use': ({ mine }, as) => call('POST', mine.usage, { as }),
  'list businesses': (_, as) => call('GET', '/api/v1/business?limit=1', { as }),
  suspend: (world) => set(world, { status: 'suspended' }),
  close: (world) => set(world, { status: 'closed' }),
  activate: (world) => set(world, { status: 'active' }),
  'transfer the business': (world) => set(world, { user_id: world.strange.user_id }),
  'transfer the business back': (world) => set(world, { user_id: world.sibling.user_id }),
  'create a business': ({ mine }) => newBusiness({ user_id: mine.user_id }),
  'create a key': async (world) => world.keys.push((await newKey(world.mine)).key),
};

test('a narrow key never gains access, regardless of the sequence of events', { tags: 'slow' }, async () => {
  const step = fc.record({ event: fc.constantFrom(...Object.keys(EVENTS)), who: fc.nat() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const made = await world();
      const { mine, sibling, strange } = made;
      const narrow = await Promise.all(
        (['full', 'read'] as const).map((role) => newKey(mine, { business_id: mine.id, role })),
      );
      const reader = await newKey(mine, { role: 'read' });
      const recorders = [
        await newKey(mine, { role: 'record' }),
        await newKey(mine, { business_id: mine.id, role: 'record' }),
      ];
      const all: World = { ...made, keys: [mine.key, ...narrow.map(({ key }) => key)] };
      for (const { event, who } of steps) await EVENTS[event]?.(all, all.keys[who % all.keys.length] ?? '');
      const before = await dumpAll();
      for (const { key } of narrow) {
        const { businesses } = (await call('GET', '/api/v1/business?limit=50', { as: key })).body.data;
        expect([[], [mine.id]]).toContainEqual(businesses.map(({ id }: Business) => id));
      }
      const forbidden = (role: KeyRole, routes = ROUTES) => routes.filter(({ operation }) => !may(role, operation));
      const every = [mine, sibling, strange];
      /** The calls that must be refused for each key, either because of its role or because the business is unknown to the key. */
      const tries = [
        ...narrow.map(({ key }) => ({ as: key, routes: OF_A_BUSINESS, of: [sibling, strange], role: null })),
        ...[reader, narrow[1]].map((one) => ({
          as: one?.key,
          routes: forbidden('read', OF_A_BUSINESS),
          of: every,
          role: 'read' as const,
        })),
        ...recorders.map(({ key }) => ({ as: key, routes: forbidden('record'), of: every, role: 'record' as const })),
      ].flatMap(({ routes, of, ...one }) => routes.flatMap((route) => of.map(({ id }) => ({ ...one, route, id }))));
      const told = await inBatches(tries, async ({ as, role, route, id }) => {
        const { status, body } = await ask(route, { id, user_id: mine.user_id }, false, { as });
        const right = [route.unknownBusiness, ...(role === null ? [] : [refusedTo(role, route)])];
        const got = JSON.stringify({ status, body });
        return right.some((one) => JSON.stringify(one) === got) ? [] : [`${route.name} of ${id}: ${got}`];
      });
      expect(told.flat()).toEqual([]);
      expect(await dumpAll()).toBe(before);
    }),
    { numRuns: 6 },
  );
});

test('a key for one business stops working when the business is transferred to another user', async () => {
  const { mine, strange } = await world();
  const { key } = await newKey(mine, { business_id: mine.id });
  const status = async () => (await call('GET', mine.usage, { as: key })).status;
  expect(await status()).toBe(200);
  await addSite(mine.id, 'https://other.example');
  await mine.db.update(businesses).set({ user_id: strange.user_id }).where(eq(businesses.id, mine.id));
  expect(await status()).toBe(422);
});
