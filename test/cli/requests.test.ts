// Which request each command sends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { dayOf } from '../../src/core/time.ts';
import { openapi } from '../../src/openapi/document.ts';
import { newFolder } from '../node/state.ts';
import { printed, stub, success } from './stub.ts';

const HISTORY = join(newFolder(), 'history.csv');
writeFileSync(HISTORY, '2026-01-30,120\n2026-01-31,0\n');
const ACME = [
  ...['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
  ...['--site', 'https://acme.example', '--country', '1', '--size', 'small'],
];
const acme = {
  ...{ user_id: 7, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' },
  ...{ country_id: 1, business_size: 'small' },
};
const TOKEN = '8f14e45fceea167a5a36dedd4bea2543';
const words = (line: string) => line.split(' ');
const NONE = '';

/** Command lines, with the request of each and its body. */
const SENT: [argv: string[], request: string, body?: unknown][] = [
  [ACME, 'POST /business', acme],
  [
    [...ACME, ...words(`--token ${TOKEN} --id 1000 --database 1 --sites https://a.example --sites https://b.example`)],
    'POST /business',
    { ...acme, token: TOKEN, id: 1000, database: 1, sites: ['https://a.example', 'https://b.example'] },
  ],
  [words('business list'), 'GET /business'],
  [words('business list --user 7'), 'GET /business?user_id=7'],
  [words('business show 1'), 'GET /business/1'],
  [
    words('business update 1 --daily-limit 0 --monthly-limit none --billing-day 15 --name=-x'),
    'PATCH /business/1',
    { daily_limit: 0, monthly_limit: null, billing_day: 15, name: '-x' },
  ],
  [words('business update 1 --user 8 --size large'), 'PATCH /business/1', { user_id: 8, business_size: 'large' }],
  [words('business status 1 suspended'), 'PATCH /business/1', { status: 'suspended' }],
  [['business', 'delete', '1', '--confirm', ' \u202eA&b\n'], 'DELETE /business/1?name=+%E2%80%AEA%26b%0A'],
  [words('business rotate-token 1'), 'POST /business/1/token', {}],
  [words('business rotate-token 1 --keep-old 24h'), 'POST /business/1/token', { keep_old: '24h' }],
  [words('business stop-former-tokens 1'), 'DELETE /business/1/token/former'],
  [words('access list 1'), 'GET /business/1/access'],
  [
    words('access add 1 https://a.example https://*.b.example'),
    'POST /business/1/access',
    { sites: ['https://a.example', 'https://*.b.example'] },
  ],
  [words('access remove 1 12'), 'DELETE /business/1/access/12'],
  [words('access clear 1'), 'DELETE /business/1/access'],
  [words('access refused 1'), 'GET /business/1/access/refused'],
  [words('access forget-refused 1'), 'DELETE /business/1/access/refused'],
  [words('changes list 1'), 'GET /business/1/changes'],
  [
    words('changes list 1 --action rotate_token --search acme --from 2026-01-01 --to 2026-01-31'),
    'GET /business/1/changes?action=rotate_token&search=acme&from=2026-01-01&to=2026-01-31',
  ],
  [words('changes list --user 7'), 'GET /user/7/changes'],
  [words('alerts list 1'), 'GET /business/1/alerts'],
  [words('alerts list'), 'GET /alerts'],
  [words('usage show 1 --from 2026-01-01'), 'GET /business/usage/1?from=2026-01-01'],
  [words('usage totals'), `GET /usage?to=${dayOf(new Date())}`],
  [words('usage totals --from 2026-01-01 --to 2026-01-31'), 'GET /usage?to=2026-01-31&from=2026-01-01'],
  [
    ['usage', 'import', '1', HISTORY, '--replace'],
    'PUT /business/1/history',
    {
      replace: true,
      days: [
        { date: '2026-01-30', count: 120 },
        { date: '2026-01-31', count: 0 },
      ],
    },
  ],
  [words('key create --user 7'), 'POST /user/7/keys', {}],
  [
    [
      'key',
      'create',
      '--user=7',
      '--name',
      'Billing server',
      ...words('--expires 9999-12-31 --business 1 --role record'),
    ],
    'POST /user/7/keys',
    { name: 'Billing server', expires_on: '9999-12-31', business_id: 1, role: 'record' },
  ],
  [words('key list --user 7'), 'GET /user/7/keys'],
  [words('key revoke 3 --user 7'), 'DELETE /user/7/keys/3'],
  [
    words('console-link create --user 7 --business 1 --role read --minutes 15'),
    'POST /user/7/console-link',
    { business_id: 1, role: 'read', minutes: 15 },
  ],
  [words('database list'), 'GET /database'],
];

test.each(SENT)('%j sends %s', async (argv, request, body = NONE) => {
  const { env, sent } = await stub(success({ entries: [1] }));
  expect(await printed(env, ...argv)).toEqual({ entries: [1] });
  expect(sent.map((one) => [one.request, one.body])).toEqual([[request, body]]);
  expect(sent[0]?.headers).toMatchObject({ authorization: `Bearer ${env.OPERATOR_KEY}` });
});

describe('the table', () => {
  const requests = new Set(Object.values(COMMANDS).map(({ request = '' }) => request.replace(/\{\w+\}/g, '{}')));
  const OPERATIONS = Object.entries(openapi().paths ?? {}).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.entries(methods as Record<string, { operationId: string; security: object[] }>)
      .filter(([, { security }]) => security.some((credential) => 'operatorKey' in credential))
      .map(([method, { operationId }]): [string, string] => {
        return [operationId, `${method.toUpperCase()} ${path.replace('/api/v1', '').replace(/\{\w+\}/g, '{}')}`];
      }),
  );
  /** Operations without a command. */
  const EXCEPTIONS: Record<string, string> = {
    recordUse: 'Servers and pages record uses, with ids of their own. A person who types them would count twice.',
  };

  test.each(OPERATIONS)('%s has a command, or a reason why not', (operationId, request) => {
    expect(operationId in EXCEPTIONS).toBe(!requests.has(request));
  });

  test('every command is tested here or below', () => {
    const tested = SENT.map(([argv]) => argv.slice(0, 2).join(' '));
    const named = Object.keys(COMMANDS).map((usage) => usage.split(' ').slice(0, 2).join(' '));
    expect(named.filter((name) => !tested.includes(name))).toEqual(['access check', 'operator-key create']);
  });

  test('every request is one that the service describes', () => {
    const described = OPERATIONS.map(([, request]) => request);
    expect([...requests].filter((request) => request !== '' && !described.includes(request))).toEqual([]);
  });
});

describe('a list', () => {
  test.each<[string, string[], string]>([
    ['businesses', ['business', 'list', '--user', '7'], 'GET /business?user_id=7&after='],
    ['changes', ['changes', 'list', '1'], 'GET /business/1/changes?before='],
    ['alerts', ['alerts', 'list', '1'], 'GET /business/1/alerts?before='],
    ['alerts', ['alerts', 'list'], 'GET /alerts?cursor='],
  ])('of %s is followed to its end', async (name, argv, following) => {
    const pages = [
      { [name]: [{ id: 1 }], next: 17, read_only: false },
      { [name]: [], next: 2e9, read_only: false },
      { [name]: [{ id: 3 }], next: null, read_only: false },
    ];
    const { env, sent } = await stub(...pages.map(success));
    expect(await printed(env, ...argv)).toEqual({ [name]: [{ id: 1 }, { id: 3 }] });
    expect(sent.slice(1).map(({ request }) => request)).toEqual([`${following}17`, `${following}2000000000`]);
  });

  test('prints nothing if one of its pages is refused', async () => {
    const first = success({ usage: [{ count: 1 }], next: 17 });
    const { env } = await stub(first, (response) => response.writeHead(503).end('{"message":"Service Unavailable"}'));
    await expect(printed(env, 'usage', 'totals')).rejects.toThrow(/^Service Unavailable$/);
  });
});

describe('access check', () => {
  const ACTIVE = { status: 'active', access_list: [{ site: 'https://a.example' }, { site: 'https://*.b.example' }] };
  test.each<[string, object, string, boolean, string | null]>([
    ['a registered origin', ACTIVE, 'https://a.example', true, 'https://a.example'],
    ['one that a wildcard covers', ACTIVE, 'https://x.b.example', true, 'https://*.b.example'],
    ['another scheme', ACTIVE, 'http://a.example', false, null],
    ['an origin with a path', ACTIVE, 'https://a.example/', false, null],
    ['a business without domains', { ...ACTIVE, access_list: [] }, 'https://a.example', true, null],
    ['a suspended business', { ...ACTIVE, status: 'suspended' }, 'https://a.example', false, 'https://a.example'],
  ])('says of %s whether it passes', async (_, business, origin, allowed, site) => {
    const { env, sent } = await stub(success(business));
    expect(await printed(env, 'access', 'check', '1', origin)).toEqual({ allowed, site });
    expect(sent.map(({ request }) => request)).toEqual(['GET /business/1/access']);
  });
});
