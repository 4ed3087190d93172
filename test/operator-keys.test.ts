// Operator keys: their secrets, their rate limits, and where they are refused. permissions.test.ts compares what each role may do.
import { describe, expect, test } from 'vitest';
import { newOperatorKey } from '../src/core/credential.ts';
import { OPERATOR_SECRETS as OPERATOR_SECRET_NAMES } from '../src/core/operator.ts';
import { OPERATOR_ROLES, ROLES } from '../src/core/policy.ts';
import { shownToken } from '../src/shown-business/responses.ts';
import { answerOf, refused, UNAUTHENTICATED } from './answers.ts';
import { ROUTES } from './routes.ts';
import { addFormerToken, ask, BASE, call, limiter, newBusiness, OPERATOR, OPERATOR_SECRETS } from './support.ts';

test('an operator key is refused from a page, however a browser says so, before any database query', async () => {
  const { usage } = await newBusiness({ sites: ['https://shop.example'] });
  const sites = ['same-origin', 'same-site', 'cross-site', 'none', 'anything'];
  for (const headers of [{ Origin: '' }, ...sites.map((site) => ({ 'Sec-Fetch-Site': site }))]) {
    const answer = await call('GET', usage, { as: OPERATOR.full, headers });
    expect(answerOf(answer), JSON.stringify(headers)).toEqual(refused('An operator key works only on servers.'));
    expect([answer.cost.round_trips, answer.later.round_trips]).toEqual([0, 0]);
  }
});

test.each(OPERATOR_ROLES)(
  'a %s operator key is unknown if its secret is missing, malformed or another key’s',
  async (role) => {
    const as = OPERATOR[role];
    const { usage } = await newBusiness();
    const own = Object.values(OPERATOR_SECRETS).find((secret) => secret.startsWith(`${role}:`)) ?? '';
    const malformed = [own.toUpperCase(), own.slice(0, -1), `${own}0`, own.replace(role, 'admin'), ` ${own}`, as, ''];
    for (const secret of [undefined, `full:${'0'.repeat(64)}`, ...malformed]) {
      const none = { OPERATOR_KEY_1: undefined, OPERATOR_KEY_2: undefined, OPERATOR_KEY_3: undefined };
      const bindings = { ...none, OPERATOR_KEY_4: secret };
      expect(answerOf(await call('GET', usage, { as, bindings })), secret).toEqual(UNAUTHENTICATED);
    }
  },
);

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
    const error = `${named.join(', ')} must be full: or record: or read: followed by 64 hex digits`;
    expect(errors).toEqual([{ operation: 'operator_key', error }]);
  }
});

test('what a read operator key reads contains no whole token or key', async () => {
  const business = await newBusiness({ sites: ['https://a.example'] });
  const secrets = [business.token, await addFormerToken(business), business.key];
  for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
    const { status, text } = await ask(route, business, { as: OPERATOR.read });
    expect({ name: route.name, status }).toEqual({ name: route.name, status: 200 });
    for (const secret of secrets) expect(text).not.toContain(secret);
    if (/^read (business|access)$/.test(route.name)) expect(text).toContain(`…${business.token.slice(-4)}`);
  }
});

test('a token is shown whole only to a role that may see it, and never to a caller without a role', () => {
  const shown = ([...ROLES, null] as const).map((role) => shownToken('bua_pk_0abcd', { role }));
  expect(shown).toEqual(['bua_pk_0abcd', '…abcd', '…abcd', '…abcd']);
});

test('an operator key with several roles has the last of full, record and read, whatever the order of its secrets', async () => {
  const { access } = await newBusiness();
  const hash = OPERATOR_SECRETS.OPERATOR_KEY_1.slice('full:'.length);
  for (const roles of [
    ['full', 'record'],
    ['record', 'full'],
  ]) {
    const bindings = { OPERATOR_KEY_1: `${roles[0]}:${hash}`, OPERATOR_KEY_2: `${roles[1]}:${hash}` };
    expect((await call('GET', access, { as: OPERATOR.full, bindings })).status).toBe(403);
    const withRead = { ...bindings, OPERATOR_KEY_4: `read:${hash}` };
    expect((await call('DELETE', access, { as: OPERATOR.full, bindings: withRead })).status).toBe(403);
    expect((await call('GET', access, { as: OPERATOR.full, bindings: withRead })).status).toBe(200);
  }
});

describe('a rate limit', () => {
  const headers = { 'CF-Connecting-IP': '198.51.100.1' };
  const send = async (path: string, as: string, bindings: object, origin?: string) =>
    (await call('GET', path, { as, headers, bindings, origin })).status;

  test('per address counts requests with unknown operator keys, but not with known ones', async () => {
    const { usage } = await newBusiness();
    const { counts, binding } = limiter(0);
    expect(await send(usage, OPERATOR.full, { ADDRESS_LIMIT: binding })).toBe(200);
    expect(counts.size).toBe(0);
    expect(await send(usage, newOperatorKey(), { ADDRESS_LIMIT: binding })).toBe(429);
    expect([...counts.keys()]).toEqual(['198.51.100.1']);
    // Requests from pages with a leaked key do not count against the servers that use the key.
    const credential = limiter(0);
    expect(await send(usage, OPERATOR.full, { CREDENTIAL_LIMIT: credential.binding }, BASE)).toBe(403);
    expect(credential.counts.size).toBe(0);
    expect(await send(usage, OPERATOR.full, { ADDRESS_LIMIT: binding }, BASE)).toBe(429);
  });

  test('per credential counts an operator key’s requests separately for each business and each user', async () => {
    const [one, other] = [await newBusiness(), await newBusiness()];
    const { counts, binding } = limiter(1);
    expect(await send(one.usage, OPERATOR.full, { CREDENTIAL_LIMIT: binding })).toBe(200);
    expect(await send(one.usage, OPERATOR.full, { CREDENTIAL_LIMIT: binding })).toBe(429);
    expect(await send(other.usage, OPERATOR.full, { CREDENTIAL_LIMIT: binding })).toBe(200);
    const hash = OPERATOR_SECRETS.OPERATOR_KEY_1.slice('full:'.length);
    for (const { user_id } of [one, other])
      expect(await send(`/api/v1/user/${user_id}/keys`, OPERATOR.full, { CREDENTIAL_LIMIT: binding })).toBe(200);
    const subjects = [`${one.id}`, `${other.id}`, `user ${one.user_id}`, `user ${other.user_id}`];
    expect([...counts.keys()]).toEqual(subjects.map((subject) => `${hash} ${subject}`));
  });
});
