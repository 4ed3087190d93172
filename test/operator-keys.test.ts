// Operator keys: what each role may do on every route, and where the keys are refused.
import { beforeAll, describe, expect, test } from 'vitest';
import { newOperatorKey } from '../src/core/credential.ts';
import { OPERATOR_SECRETS as OPERATOR_SECRET_NAMES } from '../src/core/operator.ts';
import { OPERATOR_ROLES } from '../src/core/policy.ts';
import { changes } from '../src/db/schema.ts';
import { answerOf, refused, UNAUTHENTICATED } from './answers.ts';
import { boundTo, homeOf } from './ask.ts';
import { NEW_BUSINESS, ROUTES, type Route } from './routes.ts';
import { OPERATORS, refusalOf } from './sim/model/may.ts';
import {
  addFormerToken,
  ask,
  BASE,
  call,
  homes,
  NOW,
  newBusiness,
  OPERATOR,
  OPERATOR_SECRETS,
  tagsOf,
} from './support.ts';

const OF_ROLES = ROUTES.flatMap((route) => OPERATOR_ROLES.map((role) => ({ ...route, role })));

const expectNoDatabase = ({ cost, later }: Awaited<ReturnType<typeof call>>) =>
  expect([cost.round_trips, later.round_trips]).toEqual([0, 0]);

/** Creates the home of NEW_BUSINESS's owner in advance, because creating an owner's first business costs more round trips. */
beforeAll(async () => void (await homeOf(boundTo(homes, NOW), NEW_BUSINESS.user_id)));

describe.each(OF_ROLES)('$name: an operator key with the role $role', ({ role, ...route }) => {
  const as = OPERATOR[role];
  const forbidden = refusalOf(OPERATORS[role], route.operation);
  const may = forbidden === null;
  const refusal = refused(forbidden?.[1] ?? '');

  test(may ? 'is allowed for any business or user' : 'is refused without a query', async () => {
    for (const _ of homes) {
      const business = await newBusiness({ sites: ['https://shop.example'] });
      const answer = await ask(route, business, { as });
      if (may) {
        expect(answer.status).toBe(route.granted ?? 200);
        expect(answer.cost.round_trips).toBe(route.round_trips === 'each' ? homes.length : (route.round_trips ?? 1));
        expect(answer.lines).toMatchObject([{ credential: { kind: 'operator', last_four: as.slice(-4) } }]);
      } else {
        expect(answerOf(answer)).toEqual(refusal);
        expectNoDatabase(answer);
      }
    }
  });

  test('is refused from a page before any database query', tagsOf(route), async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const origins = ['https://shop.example', 'https://evil.example', 'null', BASE, ''];
    const fetched = ['same-origin', 'same-site', 'cross-site', 'none', 'anything'];
    const pages = [
      ...origins.map((origin) => ({ Origin: origin })),
      ...fetched.map((site) => ({ 'Sec-Fetch-Site': site })),
      { Origin: 'https://shop.example', 'Sec-Fetch-Site': 'same-origin' },
    ];
    const [shop] = pages;
    const calls = [
      ...pages.map((headers) => ({ id: business.id, headers })),
      ...[999_999_999, 'abc'].map((id) => ({ id, headers: shop })),
    ];
    for (const { id, headers } of calls) {
      const answer = await ask(route, { id }, { as, headers });
      expect(answerOf(answer), JSON.stringify(headers)).toEqual(refused('An operator key works only on servers.'));
      expect(answer.headers.get('Error-Code')).toBe('operator_key_in_page');
      expectNoDatabase(answer);
    }
    for (const id of [business.id, 999_999_999, 'abc']) {
      const unknown = await ask(route, { id }, { as: newOperatorKey(), headers: shop });
      expect(answerOf(unknown)).toEqual(UNAUTHENTICATED);
      expectNoDatabase(unknown);
    }
  });

  test('is unknown if its secret is missing, malformed or another key’s', tagsOf(route), async () => {
    const business = await newBusiness();
    const own = OPERATOR_SECRETS[role === 'full' ? 'OPERATOR_KEY_1' : 'OPERATOR_KEY_2'];
    const malformed = [own.toUpperCase(), own.slice(0, -1), `${own}0`, own.replace(role, 'admin'), ` ${own}`, as, ''];
    for (const secret of [undefined, `full:${'0'.repeat(64)}`, ...malformed]) {
      const bindings = { OPERATOR_KEY_1: undefined, OPERATOR_KEY_2: undefined, OPERATOR_KEY_4: secret };
      const answer = await call(route.method, route.path(business), { as, bindings });
      expect(answerOf(answer), secret).toEqual(UNAUTHENTICATED);
      expect(answer.cost.round_trips).toBe(0);
    }
  });

  if (route.unknownBusiness !== null) {
    const { unknownBusiness } = route as Route;
    test(
      may
        ? 'gets the same response as an owner for an unknown business, and is allowed for an inactive business'
        : 'is refused for unknown and inactive businesses',
      tagsOf(route),
      async () => {
        for (const id of [999_999_999, 61_000_000_001, '0', '01', 'abc', '9007199254740993']) {
          expect(answerOf(await ask(route, { id }, { as }))).toEqual(may ? unknownBusiness : refusal);
        }
        const suspended = await newBusiness({ status: 'suspended' });
        const answer = await ask(route, suspended, { as });
        if (may) expect(answer.status).toBe(route.granted ?? 200);
        else expect(answerOf(answer)).toEqual(refusal);
      },
    );
  }

  if (may && Object.keys(route.bad).length > 0) {
    test('gets 422 for invalid input', async () => {
      const business = await newBusiness();
      const { query = '', ...bad } = route.bad;
      expect((await call(route.method, route.path(business) + query, { as, ...bad })).status).toBe(422);
    });
  }

  if (may && route.action !== null) {
    test('is named as the actor of its changes', async () => {
      const business = await newBusiness({ sites: ['https://shop.example'] });
      await addFormerToken(business);
      const made = async () => (await Promise.all(homes.map(({ db }) => db.select().from(changes)))).flat();
      const before = new Set((await made()).map((row) => JSON.stringify(row)));
      const answer = await ask(route, business, { as });
      const expected = answer.status === 404 ? [] : [{ actor: 'operator (…ffff)', action: route.action }];
      const after = (await made()).filter((row) => !before.has(JSON.stringify(row)));
      expect(after).toMatchObject(expected);
    });
  }
});

test('each of the four secrets works while the others are malformed, and the log names the malformed secrets', async () => {
  const { usage } = await newBusiness();
  for (const name of OPERATOR_SECRET_NAMES) {
    const broken = {
      OPERATOR_KEY_1: 'full:abc',
      OPERATOR_KEY_2: '',
      OPERATOR_KEY_3: 'x'.repeat(99),
      OPERATOR_KEY_4: '…',
    };
    const bindings = {
      ...broken,
      ADDRESS_LIMIT: { limit: async ({ key }: { key: string }) => ({ success: key !== '198.51.100.1' }) },
      [name]: OPERATOR_SECRETS.OPERATOR_KEY_2,
    };
    const errors: object[] = [];
    const send = async (as: string, address: string) => {
      const answer = await call('GET', usage, { as, headers: { 'CF-Connecting-IP': address }, bindings });
      errors.push(...answer.errors);
      return answer.status;
    };
    expect(await send(OPERATOR.record, '198.51.100.2')).toBe(200);
    expect(await send(newOperatorKey(), '198.51.100.1')).toBe(429);
    expect(errors).toEqual([]);
    expect(await send(newOperatorKey(), '198.51.100.2')).toBe(401);
    const named = OPERATOR_SECRET_NAMES.filter((other) => other !== name);
    const error = `${named.join(', ')} must be full: or record: followed by 64 hex digits`;
    expect(errors).toEqual([{ operation: 'operator_key', error }]);
  }
});

test('an operator key with two roles gets the narrower role, whatever the order of its secrets', async () => {
  const { access } = await newBusiness();
  const hash = OPERATOR_SECRETS.OPERATOR_KEY_1.slice('full:'.length);
  for (const roles of [
    ['full', 'record'],
    ['record', 'full'],
  ]) {
    const bindings = { OPERATOR_KEY_1: `${roles[0]}:${hash}`, OPERATOR_KEY_2: `${roles[1]}:${hash}` };
    expect((await call('GET', access, { as: OPERATOR.full, bindings })).status).toBe(403);
  }
});

test.each([4, 50])('the operator can list all users’ businesses in all databases, %i per page', async (limit) => {
  const made = [];
  for (let index = 0; index < 6; index++) made.push(await newBusiness());
  const listed: number[] = [];
  let after: number | null | undefined;
  let pages = 0;
  while (after !== null) {
    const answer = await call('GET', `/api/v1/business?limit=${limit}${after === undefined ? '' : `&after=${after}`}`, {
      as: OPERATOR.full,
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.cost.round_trips).toBe(1);
    const { businesses, next, read_only } = answer.body.data;
    expect(read_only).toBe(false);
    const ids: number[] = businesses.map(({ id }: { id: number }) => id);
    expect(new Set(ids.map((id) => Math.floor(id / 1e9))).size).toBeLessThanOrEqual(1);
    listed.push(...ids);
    after = next;
    pages += 1;
    expect(pages).toBeLessThan(1000);
  }
  expect(listed).toEqual(listed.toSorted((a, b) => a - b));
  expect(listed).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
  expect(new Set(listed).size).toBe(listed.length);
  expect(pages).toBeLessThanOrEqual(Math.ceil(listed.length / limit) + homes.length);
});

test('an id counts once for API keys and operator keys together, and separately for tokens', async () => {
  const business = await newBusiness();
  const body = { uses: [{ id: 'order-1' }] };
  const counts = [];
  for (const as of [business.key, OPERATOR.full, OPERATOR.record]) {
    counts.push((await call('POST', business.usage, { as, body })).body.data.recorded);
  }
  const { body: own } = await call('POST', business.usage, {
    as: business.token,
    headers: { 'Idempotency-Key': 'order-1' },
  });
  expect([...counts, own.data.count]).toEqual([1, 0, 0, 2]);
});

describe('a rate limit', () => {
  /** A limiter that collects the keys it receives. */
  function limiter(isRefused: (key: string) => boolean) {
    const keys: string[] = [];
    const limit = async ({ key }: { key: string }) => {
      keys.push(key);
      return { success: !isRefused(key) };
    };
    return { keys, binding: { limit } as RateLimit };
  }
  const headers = { 'CF-Connecting-IP': '198.51.100.1' };
  const send = async (path: string, as: string, bindings: object, origin?: string) =>
    (await call('GET', path, { as, headers, bindings, origin })).status;

  test('per address counts requests with unknown operator keys, but not with known ones', async () => {
    const { usage } = await newBusiness();
    const { keys, binding } = limiter(() => true);
    expect(await send(usage, OPERATOR.full, { ADDRESS_LIMIT: binding })).toBe(200);
    expect(keys).toEqual([]);
    expect(await send(usage, newOperatorKey(), { ADDRESS_LIMIT: binding })).toBe(429);
    expect(keys).toEqual(['198.51.100.1']);
    // Requests from pages with a leaked key do not count against the servers that use the key.
    const credential = limiter(() => true);
    expect(await send(usage, OPERATOR.full, { CREDENTIAL_LIMIT: credential.binding }, BASE)).toBe(403);
    expect(credential.keys).toEqual([]);
    expect(await send(usage, OPERATOR.full, { ADDRESS_LIMIT: binding }, BASE)).toBe(429);
  });

  test('per credential counts an operator key’s requests separately for each business and each user', async () => {
    const [one, other] = [await newBusiness(), await newBusiness()];
    const { keys, binding } = limiter((key) => key.endsWith(` ${one.id}`));
    expect(await send(one.usage, OPERATOR.full, { CREDENTIAL_LIMIT: binding })).toBe(429);
    expect(await send(other.usage, OPERATOR.full, { CREDENTIAL_LIMIT: binding })).toBe(200);
    const hash = OPERATOR_SECRETS.OPERATOR_KEY_1.slice('full:'.length);
    for (const { user_id } of [one, other])
      expect(await send(`/api/v1/user/${user_id}/keys`, OPERATOR.full, { CREDENTIAL_LIMIT: binding })).toBe(200);
    const subjects = [`${one.id}`, `${other.id}`, `user ${one.user_id}`, `user ${other.user_id}`];
    expect(keys).toEqual(subjects.map((subject) => `${hash} ${subject}`));
  });
});
