// Every refusal on every route, in this order: 404 and 405; the rate limit of the address, operator only (503), and the credential's format
// (401); except with GET, the body (415, 413, 400); an operator key's role and place (403), and the rate limit of the credential; the
// credential or code (401); the business (422 for usage, otherwise 401); permission (403, in the order of docs/api.md, "Errors"); the input
// (422, or 404 for an unknown entry); and the business's limits (429).

import { createExecutionContext } from 'cloudflare:test';
import { Hono } from 'hono';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '../src/core/credential.ts';
import { CHANGERS, READERS, reading } from '../src/core/policy.ts';
import { noCost, runBatch } from '../src/db/batch.ts';
import type { Env } from '../src/env.ts';
import { guard } from '../src/guard.ts';
import { onError } from '../src/http/errors.ts';
import { logged } from '../src/http/log.ts';
import { define } from '../src/operation.ts';
import { OPERATIONS } from '../src/operations.ts';
import { totalsAfter } from '../src/usage/statements.ts';
import { answerOf, refused, SERVER_ERROR, UNAUTHENTICATED } from './answers.ts';
import { ruleNamed } from './ask.ts';
import { type AnyRoute, OF_A_BUSINESS, ROUTES, type Route } from './routes.ts';
import {
  ask,
  BASE,
  type Business,
  type CallOptions,
  call,
  callerOf,
  databaseClock,
  databases,
  dumpAll,
  eachOf,
  env,
  NOW,
  newBusiness,
  TODAY,
  tagsOf,
} from './support.ts';

const HOW =
  'Bearer error="invalid_token", error_description="Send a valid API key or business token in the header Authorization: Bearer <key or token>"';
const SECRET = `bua_sk_0${'x'.repeat(33)}`;
const TOKEN = `bua_pk_0${'x'.repeat(33)}`;

const askBadly = (route: AnyRoute, business: { id: number | string }, options: CallOptions = {}) =>
  call(route.method, route.path(business) + (route.bad.query ?? ''), {
    headers: route.bad.headers,
    body: route.bad.body,
    ...options,
  });

type Answer = Awaited<ReturnType<typeof call>>;
/** Asserts that a call was refused. `sent` is true if the request contained a credential. */
function expectRefusal(answer: Answer, refusal: { status: number; body: object }, sent = true) {
  const { status } = refusal;
  expect(answerOf(answer)).toEqual(refusal);
  expect(answer.headers.get('Error-Code')).toBe(answer.lines.map((line) => (line as { refusal: string }).refusal)[0]);
  if (status === 401) expect(answer.headers.get('Server-Timing')).toBeNull();
  const challenge = refusal === UNAUTHENTICATED && sent ? HOW : 'Bearer';
  expect(answer.headers.get('WWW-Authenticate')).toBe(status === 401 ? challenge : null);
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
  expect(answer.headers.get('Cache-Control')).toBe('no-store');
  // A refusal stores only the refused origin. test/matrix.test.ts compares all tables.
  expect(answer.cost.rows_written).toBe(0);
  const isRemembered = answer.headers.get('Error-Code') === 'origin_not_authorized';
  if (!isRemembered) expect(answer.later.rows_written).toBe(0);
}

test('a handler that responds without querying the database returns 500', async () => {
  const { key, id } = await newBusiness();
  const lines: object[] = [];
  const log = { log() {}, error: (line: object) => lines.push(line) };
  const app = new Hono<Env>()
    .use(logged(() => NOW, log, databaseClock))
    .onError(onError)
    .get('/:business_id', guard(OPERATIONS.readUsage), (c) =>
      c.text('12 uses', 200, { 'Content-Disposition': 'attachment' }),
    );
  const request = new Request(`${BASE}/${id}`, { headers: { Authorization: `Bearer ${key}` } });
  const answer = await app.fetch(request, { ...databases(), ASSETS: env.ASSETS }, createExecutionContext());
  expect({ status: answer.status, body: await answer.json() }).toEqual(SERVER_ERROR);
  expect(answer.headers.get('Content-Disposition')).toBeNull();
  expect(lines).toEqual([expect.objectContaining({ status: 500, error: expect.stringContaining('without querying') })]);
});

test('an operation whose path has a parameter with an unknown name is rejected, because its owner would not be checked', () => {
  const own = { ...reading(READERS), name: 'read_access', does: 'read access domains' } as const;
  const definition = { ...own, route: 'GET /business/:businessId/access' } as const;
  expect(() => define({ readAccess: definition })).toThrow(
    '/business/:businessId/access has an unknown parameter: businessId',
  );
});

test('a definition with a misspelled member, or without what is safe to retry or allowed while inactive, does not compile', () => {
  const own = { ...CHANGERS, name: 'change_access', does: 'change access domains', route: 'POST /business' } as const;
  const whole = { ...own, retry: 'never', whileInactive: false } as const;
  // @ts-expect-error: isDear is misspelled, which would drop a rate limit
  expect(define({ addAccess: { ...whole, isDeer: true } })).toHaveProperty('addAccess');
  // @ts-expect-error: retry is missing
  expect(define({ addAccess: { ...own, whileInactive: false } })).toHaveProperty('addAccess');
  // @ts-expect-error: whileInactive is missing
  expect(define({ addAccess: { ...own, retry: 'never' } })).toHaveProperty('addAccess');
});

test("a statement on every owner's data runs only for the operator, whatever the definition says", async () => {
  const { home, id, key } = await newBusiness();
  const credential = { kind: 'key', lookupValue: await sha256Hex(key) } as const;
  const rule = { ...ruleNamed('read_all_usage'), ...CHANGERS };
  const call = {
    id: crypto.randomUUID(),
    ...{ rule, credential, business_id: id, namesBusiness: false, user_id: 0, namesUser: false },
    ...{ origin: null, ownOrigin: '' },
    now: NOW,
    deadline: Date.now() + 10_000,
  };
  const page = { limit: 10, after: 0, from: TODAY, to: TODAY };
  await expect(runBatch(home.d1, call, totalsAfter(page), undefined, noCost())).rejects.toThrow(
    'only the operator may run this statement, not a key',
  );
});

/** A business shared by tests that must not change it. */
let untouched: Business;
beforeAll(async () => {
  untouched = await newBusiness();
});

/** Returns the status of a call with the owner's API key. */
const grantedBy = (route: AnyRoute) => (route.keyRefusal === null ? (route.granted ?? 200) : 403);

describe.each(ROUTES)('$name', (route) => {
  test(`${route.keyRefusal === null ? "accepts the owner's API key" : "recognizes the owner's API key"} in one round trip`, async () => {
    const business = await newBusiness();
    const answer = await ask(route, business, { as: business.key });
    expect(answer.status).toBe(grantedBy(route));
    expect(answer.body.status).toBe(grantedBy(route) === 200);
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    expect(answer.cost.round_trips).toBe(1);
  });
});

eachOf(describe, ROUTES)('$name', (route) => {
  const granted = grantedBy(route);

  test.each([
    ['that is absent', undefined],
    ['that is empty', ''],
    ['without a scheme', SECRET],
    ['with another scheme', `Basic ${SECRET}`],
    ['with a scheme that only starts with Bearer', `Bearerx ${SECRET}`],
    ['without a credential', 'Bearer'],
    ['with a space as the credential', 'Bearer  '],
    ['with two credentials', `Bearer ${SECRET} ${SECRET}`],
    ['that is doubled', `Bearer ${SECRET}, Bearer ${SECRET}`],
    ['with a list', `Bearer ${SECRET},${SECRET}`],
    ['with a tab', `Bearer\t${SECRET}`],
    ['with quotes', `Bearer "${SECRET}"`],
    ['with a key that is too short', `Bearer ${SECRET.slice(0, -1)}`],
    ['with a key that is too long', `Bearer ${SECRET}x`],
    ['with a key that contains an invalid character', `Bearer ${SECRET.slice(0, -1)}-`],
    ['with a business token that is too short', `Bearer ${TOKEN.slice(0, -1)}`],
    ['with a credential of an unknown kind', `Bearer bua_xx_${'x'.repeat(33)}`],
    ['with a token whose prefix is in upper case', `Bearer BUA_pk_${'x'.repeat(34)}`],
    ['with a token under 24 characters', `Bearer ${'x'.repeat(23)}`],
    ['with a token over 255 characters', `Bearer ${'x'.repeat(256)}`],
    ['with SQL', `Bearer ' OR 1=1 --'                  `],
    ['of 16 KiB', `Bearer ${'x'.repeat(16_384)}`],
  ])('rejects, without querying the database, an Authorization header %s', async (_, authorization) => {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const answer = await ask(route, untouched, { headers });
    expectRefusal(answer, UNAUTHENTICATED, authorization !== undefined);
    expect(answer.cost.round_trips).toBe(0);
  });

  test('rejects credentials in the query string', async () => {
    const business = await newBusiness();
    const path = `${route.path(business)}?token=${business.token}&access_token=${business.key}&api_key=${business.key}`;
    expectRefusal(await call(route.method, path, { body: route.body }), UNAUTHENTICATED, false);
  });

  test('accepts the scheme Bearer in any case, followed by one or more spaces', async () => {
    const business = await newBusiness();
    for (const scheme of ['bearer', 'BEARER', 'bEaReR  ']) {
      const answer = await ask(route, business, { headers: { Authorization: `${scheme} ${business.key}` } });
      expect(answer.status).toBe(granted);
    }
  });
});

describe.each(OF_A_BUSINESS)('$name', (route) => {
  test('responds identically for every id that none of the caller’s businesses has', tagsOf(route), async () => {
    const mine = await newBusiness();
    const other = await newBusiness();
    const ids = [
      ...[other.id, 999_999_999, '0', '-1', '01', '+1', '1.0', '1e0', '0x1', '%201', '1%20', 'abc', 'null', 'NaN'],
      ...['9007199254740991', '9007199254740992', '9007199254740993', '99999999999999999999', '1%27', '1;', '%D9%A1'],
      ...[`${mine.id}.0`, `0${mine.id}`, `%20${mine.id}`],
    ];
    for (const id of ids) {
      for (const as of [mine.key, mine.token]) expectRefusal(await ask(route, { id }, { as }), route.unknownBusiness);
    }
  });
});

eachOf(
  test,
  ROUTES.filter(({ bad }) => Object.keys(bad).length > 0),
)('$name reports invalid input to an authorized caller', async (route) => {
  const business = await newBusiness();
  const as = await callerOf(route, business);
  const before = await dumpAll();
  const answer = await askBadly(route, business, { as });
  expect(answer.status).toBe(422);
  expect(answer.body).toEqual({ status: false, message: expect.any(String), errors: expect.any(Object) });
  expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  expect(await dumpAll()).toBe(before);
});

test.each(ROUTES.filter(({ method }) => method === 'GET'))(
  '$name responds to HEAD with GET’s status and headers and no body',
  async (route) => {
    const business = await newBusiness();
    const headersOf = ({ headers }: { headers: Headers }) =>
      Object.fromEntries([...headers].filter(([name]) => !['server-timing', 'x-request-id'].includes(name)));
    for (const options of [{ as: await callerOf(route, business) }, {}]) {
      const head = await call('HEAD', route.path(business), options);
      const get = await call('GET', route.path(business), options);
      expect({ status: head.status, text: head.text }).toEqual({ status: 'as' in options ? 200 : 401, text: '' });
      expect({ ...headersOf(head), status: head.status }).toEqual({ ...headersOf(get), status: get.status });
    }
  },
);

describe('a business token', () => {
  const [report] = OF_A_BUSINESS as [Route];
  const MISSING = 'This business token works only from pages of its registered sites. From a server, use an API key.';
  const missing = refused(MISSING);

  test('is refused without an Origin header, even if other headers name a registered site', async () => {
    const { token, id } = await newBusiness({ sites: ['https://shop.example'] });
    const headers = {
      Referer: 'https://shop.example/page',
      'X-Forwarded-Host': 'shop.example',
      'X-Forwarded-Origin': 'https://shop.example',
      Forwarded: 'host=shop.example;proto=https',
      'Sec-Fetch-Site': 'same-site',
      'User-Agent': 'https://shop.example',
    };
    expectRefusal(await ask(report, { id }, { as: token, headers }), missing);
  });

  test('is refused from an unprintable or long origin, which the message does not echo', async () => {
    const { token, id } = await newBusiness({ sites: ['https://shop.example'] });
    const message = 'This origin is not authorized for this business.';
    for (const origin of [`https://${'a'.repeat(300)}`, 'https://a\tb.example']) {
      expectRefusal(await ask(report, { id }, { as: token, origin }), refused(message));
    }
  });
});

test('the WWW-Authenticate header of a 401 explains how to send a credential if a supported header or X-API-Key has one, and echoes nothing', async () => {
  const { usage, access, key } = untouched;
  const sent: Record<string, string>[] = [
    { Authorization: `Basic ${btoa(`${SECRET}:`)}` },
    { Authorization: 'Digest username="a"' },
    { Authorization: 'Bearer "a", error="b"' },
    ...[SECRET, TOKEN, `bua_sk_z${'x'.repeat(33)}`, 't'.repeat(24)].map((as) => ({ Authorization: `Bearer ${as}` })),
    { 'X-API-Key': SECRET },
    { 'X-API-Key': key },
    { Authorization: `Bearer ${SECRET}`, 'X-API-Key': key },
  ];
  for (const path of [usage, access, '/api/v1/business'])
    for (const headers of sent) expectRefusal(await call('GET', path, { headers }), UNAUTHENTICATED);
  const elsewhere = { Cookie: `token=${key}`, 'X-Token': key, 'Proxy-Authorization': `Bearer ${key}` };
  expectRefusal(await call('GET', usage, { headers: elsewhere }), UNAUTHENTICATED, false);
  expect((await call('GET', usage, { as: key, headers: { 'X-API-Key': SECRET } })).status).toBe(200);
});
