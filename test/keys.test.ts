// Narrow keys: those for a single business, those that can only read, those that can only record, and those that are for one and can
// only do the other, on every route.
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apiKeys, businesses } from '../src/db/schema.ts';
import { refused } from './answers.ts';
import { type AnyRoute, OF_A_BUSINESS, ROUTES } from './routes.ts';
import {
  addFormerToken,
  addSite,
  type Business,
  type CallOptions,
  call,
  everything,
  homes,
  newBusiness,
  newKey,
  type Scope,
} from './support.ts';

const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
/** What a narrow key is told where it may not do what its owner may. What no key may is said first. */
const refusedTo = ({ keyRefusal }: AnyRoute, body: object) =>
  keyRefusal === null ? body : { status: false, message: keyRefusal };
const READ_ONLY = { status: false, message: 'This API key can only read.' };
const RECORD_ONLY = { status: false, message: 'This API key can only record.' };
const ALL_ROLES = { read_only: 0, record_only: 0 } as const;
const SCOPES = [
  { scope: 'of all businesses', narrow: false, ...ALL_ROLES },
  { scope: 'for one business', narrow: true, ...ALL_ROLES },
  { scope: 'to read only', narrow: false, ...ALL_ROLES, read_only: 1 },
  { scope: 'for one business, to read only', narrow: true, ...ALL_ROLES, read_only: 1 },
  { scope: 'to record only', narrow: false, ...ALL_ROLES, record_only: 1 },
  { scope: 'for one business, to record only', narrow: true, ...ALL_ROLES, record_only: 1 },
] as const;

const scopeOf = ({ narrow, read_only, record_only }: (typeof SCOPES)[number], { id }: Business): Scope => ({
  read_only,
  record_only,
  ...(narrow ? { business_id: id } : {}),
});

/** A business with a site, another of the same owner, and one of somebody else. */
async function world(status = 'active') {
  const mine = await newBusiness({ sites: [SHOP], status });
  const sibling = await newBusiness({ sites: [SHOP], status, user_id: mine.user_id });
  const strange = await newBusiness({ sites: [SHOP], status, user_id: mine.user_id + homes.length * 100_000 });
  for (const business of [mine, sibling, strange]) await addFormerToken(business);
  return { mine, sibling, strange, unknown: { id: mine.id + 999_999 } };
}
type Target = keyof Awaited<ReturnType<typeof world>>;
const TARGETS: Target[] = ['mine', 'sibling', 'strange', 'unknown'];

/** Sends what a route takes, or what it refuses with 422. */
const ask = (route: AnyRoute, business: { id: number }, isBad: boolean, options: CallOptions) => {
  const { body, headers } = isBad ? route.bad : route;
  return call(route.method, route.path(business) + ((isBad && route.bad.query) || ''), {
    body,
    headers,
    ...options,
  });
};

type Example = { target: Target; status: string; origin: string | undefined; isBad: boolean };

/** The rules once more: the status and the body of a refusal, or null if the call is let in. */
function refusalOf(route: AnyRoute, scope: (typeof SCOPES)[number], { target, status, origin, isBad }: Example) {
  const isKnown = target === 'mine' || (target === 'sibling' && !scope.narrow);
  if (route.unknownBusiness !== null && !isKnown) return route.unknownBusiness;
  if (route.keyRefusal !== null) return refused(route.keyRefusal);
  if (scope.read_only && route.writes) return { status: 403, body: READ_ONLY };
  if (scope.record_only && !route.allowsRecordKey) return { status: 403, body: RECORD_ONLY };
  if (status !== 'active' && route.inactiveRefusal !== null) return refused(route.inactiveRefusal);
  const advice = ' Register it from a server, or from an authorized page.';
  if (origin === EVIL && route.unknownBusiness !== null) {
    return refused(`Origin ${EVIL} is not authorized for this business.${advice}`);
  }
  const isWrong = isBad && Object.keys(route.bad).length > 0;
  return isWrong
    ? { status: 422, body: { status: false, message: expect.any(String), errors: expect.any(Object) } }
    : null;
}

const idAndToken = ({ id, token }: { id: number; token: string }) => ({ id, token });

describe.each(SCOPES)('with a key $scope', { tags: 'slow' }, (scope) => {
  test.each(ROUTES)('$name is refused in the order of the rules, or done', async (route) => {
    // What makes a request of its own: not every route takes input, or names a business.
    const inputs = Object.keys(route.bad).length > 0 ? [false, true] : [false];
    const targets = route.unknownBusiness === null ? (['mine'] as const) : TARGETS;
    const calls = (['active', 'suspended'] as const).map(async (status) => {
      const all = await world(status);
      const { key } = await newKey(all.mine, scopeOf(scope, all.mine));
      const hidesTokens = scope.read_only || scope.record_only;
      const secrets = [all.strange.token, ...(hidesTokens ? [all.mine.token, all.sibling.token] : [])];
      return [undefined, SHOP, EVIL].flatMap((origin) =>
        inputs.flatMap((isBad) =>
          targets.map((target) => {
            const example: Example = { target, status, isBad, origin };
            async function send() {
              const answer = await ask(route, all[target], isBad, { as: key, origin });
              for (const secret of secrets) expect(answer.text).not.toContain(secret);
              return answer;
            }
            return { example, refusal: refusalOf(route, scope, example), send };
          }),
        ),
      );
    });
    const all = (await Promise.all(calls)).flat();

    const before = await everything();
    const rowsOfUnknown = new Set<number>();
    const refusals = all.map(async ({ example, refusal, send }) => {
      if (refusal === null) return;
      const answer = await send();
      expect({ example, status: answer.status, body: answer.body }).toEqual({ example, ...refusal });
      expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      if (refusal === route.unknownBusiness && !example.isBad) rowsOfUnknown.add(answer.cost.rows_read);
    });
    await Promise.all(refusals);
    expect(await everything()).toBe(before);
    expect(rowsOfUnknown.size).toBeLessThanOrEqual(1);
    for (const { example, refusal, send } of all) {
      if (refusal !== null) continue;
      expect({ example, status: (await send()).status }).toEqual({ example, status: route.granted ?? 200 });
    }
  });
});

describe.each(SCOPES.filter(({ record_only }) => !record_only))('with a key $scope', (scope) => {
  test('the list has the businesses of the key and says whether it can only read', async () => {
    const { mine, sibling } = await world();
    const { key } = await newKey(mine, scopeOf(scope, mine));
    const shown = ({ id, token }: Business) => ({
      id,
      token: scope.read_only ? `bua_pk_…${token.slice(-4)}` : token,
    });
    const fromItself = mine.id === 1 ? '' : `?after=${mine.id - 1}`; // 0 is no id
    for (const query of ['', '?limit=50', fromItself]) {
      const { body } = await call('GET', `/api/v1/business${query}`, { as: key });
      expect(body.data.businesses.map(idAndToken)).toEqual((scope.narrow ? [mine] : [mine, sibling]).map(shown));
      expect(body.data.read_only).toBe(scope.read_only === 1);
    }
    const rest = await call('GET', `/api/v1/business?after=${mine.id}`, { as: key });
    expect(rest.body.data.businesses.map(idAndToken)).toEqual((scope.narrow ? [] : [sibling]).map(shown));
  });
});

test('what a key that can only record may do costs as much as with any other key', async () => {
  const business = await newBusiness({ sites: [SHOP] });
  const { key } = await newKey(business, { record_only: 1 });
  for (const route of OF_A_BUSINESS.filter(({ allowsRecordKey }) => allowsRecordKey)) {
    const by = async (as: string) => {
      const { status, cost } = await ask(route, business, false, { as, origin: SHOP });
      return { name: route.name, status, cost };
    };
    await by(business.key); // what is there already costs less to write
    expect(await by(key)).toEqual({ ...(await by(business.key)), status: 200 });
  }
});

test('no key can only read and only record', async () => {
  const business = await newBusiness();
  const both = newKey(business, { read_only: 1, record_only: 1 });
  await expect(both).rejects.toMatchObject({ cause: { message: expect.stringContaining('CHECK constraint failed') } });
  for (const [made, other] of [
    ['read_only', 'record_only'],
    ['record_only', 'read_only'],
  ] as const) {
    const { id } = await newKey(business, { [made]: 1 });
    const widened = business.db
      .update(apiKeys)
      .set({ [other]: 1 })
      .where(eq(apiKeys.id, id));
    await expect(widened).rejects.toMatchObject({
      cause: { message: expect.stringContaining('CHECK constraint failed') },
    });
  }
});

test('a key that can only read sees the last four characters of an imported token, too', async () => {
  const token = 'Imported.Token_from~elsewhere/Last';
  const business = await newBusiness({ token });
  const { key } = await newKey(business, { read_only: 1 });
  const shown = (await call('GET', business.access, { as: key })).body.data.token;
  const [listed] = (await call('GET', '/api/v1/business', { as: key })).body.data.businesses;
  expect([shown, listed.token]).toEqual(['bua_pk_…Last', 'bua_pk_…Last']);
  for (const as of [shown, shown.replace('…', '')]) {
    const headers = { Authorization: `Bearer ${encodeURIComponent(as)}` };
    expect((await call('POST', business.usage, { headers })).status).toBe(401);
  }
});

test('a key to read only reads all that its owner reads, but for the token', async () => {
  const business = await newBusiness({ sites: [SHOP] });
  await call('POST', business.usage, { as: business.key });
  await call('POST', business.access, { as: business.key, body: { sites: ['https://other.example'] } });
  const { key } = await newKey(business, { read_only: 1 });
  for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
    const [wide, narrow] = [business.key, key].map((as) => call('GET', route.path(business), { as }));
    const masked = (await wide)?.text.replaceAll(business.token, `bua_pk_…${business.token.slice(-4)}`);
    expect((await narrow)?.text.replace('"read_only":true', '"read_only":false')).toBe(masked);
  }
});

test('a key for a business of somebody else opens none', async () => {
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
/** What can happen to a business and to those beside it. `as` is one of the keys of the owner. */
const EVENTS: Record<string, (world: World, as: string) => Promise<unknown>> = {
  'rotate at once': ({ mine }, as) => call('POST', `/api/v1/business/${mine.id}/token`, { as }),
  'rotate with overlap': ({ mine }, as) =>
    call('POST', `/api/v1/business/${mine.id}/token`, { as, body: { keep_old: '1h' } }),
  'rotate the other': ({ sibling }, as) => call('POST', `/api/v1/business/${sibling.id}/token`, { as }),
  'add a site': ({ mine }, as) => call('POST', mine.access, { as, body: { sites: ['https://b.example'] } }),
  'remove all sites': ({ mine }, as) => call('DELETE', mine.access, { as }),
  'remove all sites of the other': ({ sibling }, as) => call('DELETE', sibling.access, { as }),
  use: ({ mine }, as) => call('POST', mine.usage, { as }),
  list: (_, as) => call('GET', '/api/v1/business?limit=1', { as }),
  suspend: (world) => set(world, { status: 'suspended' }),
  close: (world) => set(world, { status: 'closed' }),
  activate: (world) => set(world, { status: 'active' }),
  'give it to somebody else': (world) => set(world, { user_id: world.strange.user_id }),
  'give it back': (world) => set(world, { user_id: world.sibling.user_id }),
  'another business': ({ mine }) => newBusiness({ user_id: mine.user_id }),
  'another key': async (world) => world.keys.push((await newKey(world.mine)).key),
};

test('a narrow key never becomes wider, whatever happens', { tags: 'slow' }, async () => {
  const step = fc.record({ event: fc.constantFrom(...Object.keys(EVENTS)), who: fc.nat() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const made = await world();
      const { mine, sibling, strange } = made;
      const narrow = await Promise.all(
        ([0, 1] as const).map((read_only) => newKey(mine, { business_id: mine.id, read_only })),
      );
      const reader = await newKey(mine, { read_only: 1 });
      const recorders = [
        await newKey(mine, { record_only: 1 }),
        await newKey(mine, { business_id: mine.id, record_only: 1 }),
      ];
      const all: World = { ...made, keys: [mine.key, ...narrow.map(({ key }) => key)] };
      for (const { event, who } of steps) await EVENTS[event]?.(all, all.keys[who % all.keys.length] ?? '');
      for (const { key } of narrow) {
        const { businesses } = (await call('GET', '/api/v1/business?limit=50', { as: key })).body.data;
        expect([[], [mine.id]]).toContainEqual(businesses.map(({ id }: Business) => id));
        for (const { id } of [sibling, strange]) {
          for (const route of OF_A_BUSINESS) {
            const { status, body } = await ask(route, { id }, false, { as: key });
            expect({ status, body }).toEqual(route.unknownBusiness);
          }
        }
      }
      const before = await everything();
      for (const key of [reader.key, narrow[1]?.key ?? '']) {
        for (const route of OF_A_BUSINESS.filter(({ writes }) => writes)) {
          for (const { id } of [mine, sibling, strange]) {
            const { status, body } = await ask(route, { id }, false, { as: key });
            const refusal = { status: 403, body: refusedTo(route, READ_ONLY) };
            expect([refusal, route.unknownBusiness]).toContainEqual({ status, body });
          }
        }
      }
      for (const { key } of recorders) {
        for (const route of ROUTES.filter(({ allowsRecordKey }) => !allowsRecordKey)) {
          for (const { id } of [mine, sibling, strange]) {
            const { status, body } = await ask(route, { id }, false, { as: key });
            const refusal = { status: 403, body: refusedTo(route, RECORD_ONLY) };
            expect([refusal, route.unknownBusiness]).toContainEqual({ status, body });
          }
        }
      }
      expect(await everything()).toBe(before);
    }),
    { numRuns: 6 },
  );
});

test('a key for one business works no longer once the business belongs to somebody else', async () => {
  const { mine, strange } = await world();
  const { key } = await newKey(mine, { business_id: mine.id });
  const status = async () => (await call('GET', mine.usage, { as: key })).status;
  expect(await status()).toBe(200);
  await addSite(mine.id, 'https://other.example');
  await mine.db.update(businesses).set({ user_id: strange.user_id }).where(eq(businesses.id, mine.id));
  expect(await status()).toBe(422);
});
