// What the guard does beside the matrix of permissions (permissions.test.ts): how it treats ids, input and HEAD. A misspelled definition does
// not compile.

import { createExecutionContext } from 'cloudflare:test';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../src/core/credential.ts';
import { CHANGERS, READERS, reading } from '../src/core/policy.ts';
import { noCost, runBatch } from '../src/db/batch.ts';
import type { Env } from '../src/env.ts';
import { guard } from '../src/guard.ts';
import { onError } from '../src/http/errors.ts';
import { logged } from '../src/http/log.ts';
import { define } from '../src/operation.ts';
import { OPERATIONS } from '../src/operations.ts';
import { totalsAfter } from '../src/usage/reports.ts';
import { answerOf, refused, SERVER_ERROR } from './answers.ts';
import { ruleNamed } from './ask.ts';
import { type AnyRoute, OF_A_BUSINESS, ROUTES, type Route } from './routes.ts';
import {
  ask,
  BASE,
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

const askBadly = (route: AnyRoute, business: { id: number | string }, options: CallOptions = {}) =>
  call(route.method, route.path(business) + (route.bad.query ?? ''), {
    headers: route.bad.headers,
    body: route.bad.body,
    ...options,
  });

type Answer = Awaited<ReturnType<typeof call>>;
/** Asserts that a call without a credential, or with a valid one, was refused. */
function expectRefusal(answer: Answer, refusal: { status: number; body: object }) {
  const { status } = refusal;
  expect(answerOf(answer)).toEqual(refusal);
  expect(answer.headers.get('Error-Code')).toBe(answer.lines.map((line) => (line as { refusal: string }).refusal)[0]);
  if (status === 401) expect(answer.headers.get('Server-Timing')).toBeNull();
  expect(answer.headers.get('WWW-Authenticate')).toBe(status === 401 ? 'Bearer' : null);
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
  expect(answer.headers.get('Cache-Control')).toBe('no-store');
  // A refusal stores only the refused origin. test/permissions.test.ts compares all tables.
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
  const own = { ...reading(READERS), name: 'read_access', does: 'read sites' } as const;
  const definition = { ...own, route: 'GET /business/:businessId/access' } as const;
  expect(() => define({ readAccess: definition })).toThrow(
    '/business/:businessId/access has an unknown parameter: businessId',
  );
});

test('a definition with a misspelled member, or without what is safe to retry or allowed while inactive, does not compile', () => {
  const own = { ...CHANGERS, name: 'change_access', does: 'change sites', route: 'POST /business' } as const;
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
  const credential = { kind: 'key', lookupValue: sha256Hex(key) } as const;
  const rule = { ...ruleNamed('read_all_usage'), ...CHANGERS };
  const call = {
    id: crypto.randomUUID(),
    ...{ rule, credential, business_id: id, namesBusiness: false, user_id: 0, namesUser: false },
    ...{ origin: null, isOriginDerived: false, ownOrigin: '' },
    now: NOW,
    deadline: Date.now() + 10_000,
  };
  const page = { limit: 10, after: 0, from: TODAY, to: TODAY };
  await expect(runBatch(home.d1, call, totalsAfter(page), undefined, noCost())).rejects.toThrow(
    'only the operator may run this statement, not a key',
  );
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
