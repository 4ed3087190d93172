// Command lines and the request that each sends.
import { dayOf } from '../../src/core/time.ts';

export const CREATE = [
  ...['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
  ...['--site', 'https://acme.example', '--country', '1', '--size', 'small'],
];
/** Stands for the path of a file with HISTORY. */
export const FILE = 'FILE';
export const HISTORY = '2026-01-30,120\n2026-01-31,0\n';
const ACME = {
  ...{ user_id: 7, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' },
  ...{ country_id: 1, business_size: 'small' },
};
const TOKEN = '8f14e45fceea167a5a36dedd4bea2543';
const words = (line: string) => line.split(' ');

export const SENT: [argv: string[], request: string, body?: unknown][] = [
  [CREATE, 'POST /business', ACME],
  [
    [...CREATE, ...words(`--token ${TOKEN} --id 1000 --database 1 --sites https://a.example --sites https://b.example`)],
    'POST /business',
    { ...ACME, token: TOKEN, id: 1000, database: 1, sites: ['https://a.example', 'https://b.example'] },
  ],
  [words('business list --user 7'), 'GET /business?user_id=7'],
  [
    words('business update 1 --user 8 --size large --daily-limit 0 --monthly-limit none --billing-day 15 --name=-x --alert-at 50 --alert-at 100'),
    'PATCH /business/1',
    { user_id: 8, business_size: 'large', daily_limit: 0, monthly_limit: null, billing_day: 15, name: '-x', alert_at: [50, 100] },
  ],
  [
    words('business update 1 --monthly-limit 5000 --limits-from next_month'),
    'PATCH /business/1',
    { monthly_limit: 5000, limits_from: 'next_month' },
  ],
  [words('business add-extra 1 --uses=-500 --month next'), 'POST /business/1/extra', { uses: -500, month: 'next' }],
  [words('business status 1 suspended'), 'PATCH /business/1', { status: 'suspended' }],
  [['business', 'delete', '1', '--confirm', ' \u202eA&b\n'], 'DELETE /business/1?name=+%E2%80%AEA%26b%0A'],
  [words('business rotate-token 1'), 'POST /business/1/token', {}],
  [words('business stop-former-tokens 1'), 'DELETE /business/1/token/former'],
  [words('business stop-former-token 1 4'), 'DELETE /business/1/token/former/4'],
  [words('access add 1 https://a.example https://*.b.example'), 'POST /business/1/access', { sites: ['https://a.example', 'https://*.b.example'] }],
  [words('access remove 1 12'), 'DELETE /business/1/access/12'],
  [words('access clear 1'), 'DELETE /business/1/access'],
  [words('access forget-refused 1'), 'DELETE /business/1/access/refused'],
  [words('usage find 1 a+b%&c'), 'GET /business/usage/1/use?id=a%2Bb%25%26c'],
  [
    words('usage lower 1 job-1=120 a=b=0'),
    'PATCH /business/usage/1',
    { uses: [{ id: 'job-1', quantity: 120 }, { id: 'a=b', quantity: 0 }] },
  ],
  [
    words('changes list 1 --action rotate_token --search acme --from 2026-01-01 --to 2026-01-31'),
    'GET /business/1/changes?action=rotate_token&search=acme&from=2026-01-01&to=2026-01-31',
  ],
  [words('changes list --user 7'), 'GET /user/7/changes'],
  [words('alerts list'), 'GET /alerts'],
  [words('usage show 1 --from 2026-01-01'), 'GET /business/usage/1?from=2026-01-01'],
  [words('usage refusals 1 --from 2026-01-01 --to 2026-01-31'), 'GET /business/1/refusals?from=2026-01-01&to=2026-01-31'],
  [words('usage totals'), `GET /usage?to=${dayOf(new Date())}`],
  [words('usage totals --from 2026-01-01 --to 2026-01-31'), 'GET /usage?to=2026-01-31&from=2026-01-01'],
  [words('usage totals --ended 2026-02-28 --user 7'), 'GET /usage?ended=2026-02-28&user_id=7'],
  [
    ['usage', 'import', '1', FILE, '--replace'],
    'PUT /business/1/history',
    { replace: true, days: [{ date: '2026-01-30', count: 120 }, { date: '2026-01-31', count: 0 }] },
  ],
  [
    ['key', 'create', '--user=7', '--name', 'Billing server', ...words('--expires 9999-12-31 --business 1 --role record')],
    'POST /user/7/keys',
    { name: 'Billing server', expires_on: '9999-12-31', business_id: 1, role: 'record' },
  ],
  [words('key revoke 3 --user 7'), 'DELETE /user/7/keys/3'],
  [words('console-link create --user 7 --minutes 15 --as Anna'), 'POST /user/7/console-link', { minutes: 15, as: 'Anna' }],
  [words('user erase 7'), 'DELETE /user/7'],
]; // biome-ignore format: one row per line
