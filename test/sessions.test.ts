// Sessions of the owner's console (docs/api.md, "Start a session"): their keys and codes, hostile input, and costs. The simulator (test/sim)
// checks when they start and end, and what they may do.
import { describe, expect, test, vi } from 'vitest';
import { ALPHABET } from '../src/core/credential.ts';
import { formatTimestamp } from '../src/core/time.ts';
import { answerOf, granted, invalid, UNAUTHENTICATED } from './answers.ts';
import {
  type CallOptions,
  call,
  dumpAll,
  failingWith,
  homes,
  later,
  NOW,
  newBusiness,
  newCode,
  newKey,
  recordStatements,
} from './support.ts';

const PATH = '/api/v1/session';
const start = (as: string, options: CallOptions = {}) => call('POST', PATH, { as, ...options });
const redeem = (code: string, options: CallOptions = {}) => call('POST', PATH, { body: { code }, ...options });

test('a session key has the format of the API keys of its database, and no log line contains it or the code', async () => {
  for (const _ of homes) {
    const business = await newBusiness();
    const code = await newCode(business);
    const [byKey, byCode, again] = [await start(business.key), await redeem(code), await redeem(code)];
    for (const [answer, expires_at] of [
      [byKey, '2026-03-16T00:00:00.000000Z'],
      [byCode, '2026-03-15T13:00:00.000000Z'],
    ] as const) {
      const { session_key } = answer.body.data;
      const shown = { user_id: business.user_id, role: 'full', can_create_keys: false, return_url: null };
      expect(answerOf(answer)).toEqual(granted({ session_key, expires_at, ...shown }));
      expect(session_key).toMatch(new RegExp(`^bua_sk_${ALPHABET[business.home.number]}[0-9A-Za-z]{33}$`));
      expect(answer.headers.get('Cache-Control')).toBe('no-store');
      expect(answer.cost.round_trips).toBe(1);
      expect(JSON.stringify(answer.lines)).not.toContain(session_key.slice(-6));
    }
    expect(byCode.lines).toEqual([
      {
        ...{ operation: 'start_session', method: 'POST', route: '/api/v1/session', status: 200, refusal: null },
        ...{ business_id: null, credential: null, ms: 0, version: null },
        ...{ database: business.home.binding, d1: { ...byCode.cost, ms: expect.any(Number) } },
        request_id: byCode.headers.get('X-Request-Id'),
      },
    ]);
    const failed = await redeem(code, { bindings: failingWith('D1_ERROR: no such table: codes') });
    expect(failed.status).toBe(500);
    const shown = [byCode, again, failed].map(({ text, lines, errors, headers }) => [
      text,
      lines,
      errors,
      [...headers],
    ]);
    expect(JSON.stringify(shown)).not.toContain(code.slice(-6));
  }
});

test('a request with an Idempotency-Key gets 422 and does not spend its code, which works without the key', async () => {
  const code = await newCode(await newBusiness());
  const answer = await redeem(code, { headers: { 'Idempotency-Key': 'sign-in-1' } });
  const message = 'Idempotency-Key must not be sent: this operation cannot detect a repeated request';
  expect(answerOf(answer)).toEqual(invalid('Idempotency-Key', message));
  expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  expect((await redeem(code)).status).toBe(200);
});

test('a session ends after 12 hours, or with the last day of its API key', async () => {
  const business = await newBusiness();
  for (const [expires_on, expires_at] of [
    ['2026-03-15', '2026-03-16T00:00:00.000000Z'],
    ['2026-03-16', '2026-03-16T06:00:00.000000Z'],
  ] as const) {
    const { key } = await newKey(business, { expires_on });
    expect((await start(key, { at: later(6 * 3_600_000) })).body.data.expires_at).toBe(expires_at);
  }
});

describe('a caller without a credential', () => {
  const CODE = `0${'x'.repeat(33)}`;
  test.each<[string, unknown, string?]>([
    ['an empty body', ''],
    ['an empty object', {}],
    ['a list', [CODE]],
    ['a string', `"${CODE}"`],
    ['malformed JSON', '{'],
    ['a bare code', CODE],
    ['form data', `code=${CODE}`],
    ['an additional member', { code: CODE, minutes: 60 }],
    ['a duplicate member', `{"code":"${CODE}","code":"${CODE}"}`],
    ['a code that is not a string', { code: 17 }],
    ['a null code', { code: null }],
    ['a code that is too short', { code: CODE.slice(0, -1) }],
    ['a code that is too long', { code: `${CODE}x` }],
    ['a code with an invalid character', { code: `${CODE.slice(0, -1)}-` }],
    ['an API key', { code: `bua_sk_${CODE}` }],
    ['a large body', { code: CODE, more: 'x'.repeat(100_000) }],
    ['a long run of white space before the object', ' '.repeat(1000) + JSON.stringify({ code: CODE })],
    ['an unbound database’s code', { code: `z${CODE.slice(1)}` }],
    ['a query string with a code', '', `?code=${CODE}`],
    ['a query string beside the code', { code: CODE }, '?a'],
  ])('gets 401 for %s, without a database query or a hash', async (_, body, query = '') => {
    const encode = vi.spyOn(TextEncoder.prototype, 'encode'); // only for hashes
    const answer = await call('POST', PATH + query, { body });
    const digests = encode.mock.calls.length;
    encode.mockRestore();
    expect(answerOf(answer)).toEqual(UNAUTHENTICATED);
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(answer.headers.get('Error-Code')).toBe('unauthenticated');
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(answer.cost.round_trips).toBe(0);
    expect(digests, 'hashes computed').toBe(0);
    expect(answer.lines).toMatchObject([{ database: null, credential: null, refusal: 'unauthenticated' }]);
  });

  test('gets the same response at the same cost for an unknown, spent or expired code', async () => {
    const business = await newBusiness();
    const [spent, expired] = [await newCode(business), await newCode(business, { expires_at: formatTimestamp(NOW) })];
    await redeem(spent);
    const unknown = ALPHABET[business.home.number] + CODE.slice(1);
    const before = await dumpAll();
    const responses = new Set<string>();
    for (const code of [unknown, spent, expired]) {
      const encode = vi.spyOn(TextEncoder.prototype, 'encode');
      const answer = await redeem(code);
      const digests = encode.mock.calls.length;
      encode.mockRestore();
      const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id');
      responses.add(JSON.stringify({ status: answer.status, text: answer.text, headers, digests }));
      expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      expect(answer.cost.rows_read, `rows read for ${code}`).toBeLessThanOrEqual(14);
      expect(answer.lines).toMatchObject([{ reason: 'unknown_code', database: business.home.binding }]);
    }
    expect([...responses]).toEqual([expect.stringContaining('Unauthenticated.')]);
    expect(await dumpAll()).toBe(before);
  });
});

test('starting a session takes one round trip, at most 130 rows read and 15 written', { tags: 'slow' }, async () => {
  const business = await newBusiness();
  for (let index = 0; index < 25; index++) {
    for (const { status, cost } of [await start(business.key), await redeem(await newCode(business))]) {
      expect(status).toBe(200);
      expect(cost.round_trips).toBe(1);
      expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(130);
      expect(cost.rows_written, 'rows written').toBeLessThanOrEqual(15);
    }
  }
  const { session_key } = (await start(business.key)).body.data;
  const { status, cost } = await call('DELETE', PATH, { as: session_key });
  expect([status, cost.round_trips]).toEqual([200, 1]);
  expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(6);
  expect(cost.rows_written, 'rows written').toBeLessThanOrEqual(3);
});

test('redeeming a code finds its rows by index and never scans a table', async () => {
  const business = await newBusiness();
  const { sent, bindings } = recordStatements(business.home);
  expect((await redeem(await newCode(business), { bindings })).status).toBe(200);
  const plans = sent.map(({ sql, values }) =>
    business.home.d1
      .prepare(`explain query plan ${sql}`)
      .bind(...values)
      .all<{ detail: string }>(),
  );
  const details = (await Promise.all(plans)).flatMap(({ results }) => results.map(({ detail }) => detail));
  expect(details.filter((detail) => /^SCAN (?!permission|\(subquery.*\)|CONSTANT ROW)/.test(detail))).toEqual([]);
  expect(details).toContainEqual(expect.stringContaining('api_keys_user_id_ends_at (user_id=? AND ends_at>?)'));
});
