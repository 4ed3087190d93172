// npx node --import ./src/tools/node.js test/sim/release.ts writes the database that the service of 1.0.0-rc.1 filled in three months, how
// it then answers, and the digests of both and of the migration (test/databases). Run it after a change of the tables or of these answers,
// until 1.0.0-rc.1 is released.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { addDays } from '../../src/core/time.ts';
import { NEW_BUSINESS } from '../routes.ts';
import { OPERATOR, World } from './world.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
if (version !== '1.0.0-rc') throw new Error('1.0.0-rc.1 is released, so its database must not change: add a migration');
const world = new World({ seed: 1, start: Date.parse('2025-12-20T08:00:00Z') });

/** Sends a request below /api/v1. `as` null sends no credential. */
async function send(as: string | null, request: string, body: unknown = null, headers: Record<string, string> = {}) {
  const [method = '', path] = request.split(' ');
  const sent = { ...(as && { Authorization: `Bearer ${as}` }), ...headers };
  const json = body === null ? null : JSON.stringify(body);
  const [answer] = await world.send([{ method, path: `/api/v1${path}`, headers: sent, body: json }]);
  return { status: answer?.status, answer: JSON.parse(answer?.text ?? '') };
}
/** Sends a request that must succeed. Returns its data. */
async function ok(...sent: Parameters<typeof send>) {
  const { status, answer } = await send(...sent);
  if (status !== 200) throw new Error(`${sent[1]}: ${status} ${JSON.stringify(answer)}`);
  return answer.data;
}

const operator = OPERATOR.full;
const create = (more: object, headers = {}) => ok(operator, 'POST /business', { ...NEW_BUSINESS, ...more }, headers);
const limits = { monthly_limit: 3000, overage: 500, alert_at: [50, 80, 100], billing_day: 15 };
const sites = ['https://shop.example', 'https://*.bakery.example'];
const imported = { user_id: 8, name: 'Garage', token: 'garage-token-of-another-system' };
const bakery = await create({ user_id: 7, name: 'Bäckerei “O’Neill”', sites, ...limits }, { 'Idempotency-Key': 'b' });
const museum = await create({ user_id: 7, name: 'Museum', daily_limit: 40 });
const garage = await create(imported);
const closed = await create({ user_id: 8, name: 'Closed' });
const newKey = async (body: object) => (await ok(operator, 'POST /user/7/keys', body)).api_key;
const full = await newKey({ name: 'Back end' });
const read = await newKey({ name: 'Accountant', role: 'read', expires_on: '2026-12-31' });
const record = await newKey({ name: 'Shop server', role: 'record', business_id: bakery.id, label: 'shop-1' });
const revoked = await newKey({});

const [useBakery, useMuseum] = [`POST /business/usage/${bakery.id}`, `POST /business/usage/${museum.id}`];
const from = (Origin: string, id: string) => ({ Origin, 'Idempotency-Key': id });
for (let day = '2026-01-02'; day < '2026-03-15'; day = addDays(day, 3)) {
  const number = Number(day.slice(8));
  world.now = Date.parse(`${day}T10:00:00Z`);
  await ok(full, useBakery, { quantity: 120 + ((number * 17) % 150) });
  await ok(full, useMuseum, { quantity: 1 + (number % 30) }, { 'Idempotency-Key': `visits-${day}` });
  if (number % 4 === 0) await ok(bakery.token, useBakery, null, from('https://shop.example', `order-${day}`));
  if (number === 20) await ok(operator, `PATCH /business/${museum.id}`, { name: `Museum ${day}`, country_id: number });
  await world.run('alerts');
}

world.now = Date.parse('2026-03-14T11:00:00Z');
const days = Array.from({ length: 20 }, (_, index) => ({ date: addDays('2026-03-09', -index), count: 7 * index }));
await ok(operator, `PUT /business/${garage.id}/history`, { days });
await ok(operator, `PATCH /business/${bakery.id}`, { billing_day: 5 });
await ok(operator, `PATCH /business/${bakery.id}`, { monthly_limit: 4000 });
await ok(operator, `PATCH /business/${bakery.id}`, { monthly_limit: 5000, limits_from: 'next_month' });
const pack: Parameters<typeof send> = [
  operator,
  `POST /business/${bakery.id}/extra`,
  { uses: 500, month: 'this' },
  { 'Idempotency-Key': 'pack-1' },
];
await ok(...pack);
await ok(operator, 'DELETE /user/7/keys/4');
await ok(operator, `PATCH /business/${garage.id}`, { user_id: 9, status: 'suspended' });
world.now = Date.parse('2026-03-14T13:00:00Z');
const codeOf = async (body: object) => (await ok(operator, 'POST /user/7/console-link', body)).url.split('#code=')[1];
const { session_key } = await ok(null, 'POST /session', { code: await codeOf({ as: 'Zoë', minutes: 1440 }) });
await ok(session_key, `POST /business/${bakery.id}/access`, { sites: ['https://bäckerei.example'] });
const { token } = await ok(full, `POST /business/${bakery.id}/token`, { keep_old: '7d' });
const uses = [{ id: 'job-1', quantity: 90 }, { id: 'job-2', at: '2026-03-01T23:59:59Z' }, { id: 'job-3' }];
await ok(record, useBakery, { uses });
await ok(operator, `PATCH /business/usage/${bakery.id}`, { uses: [{ id: 'job-1', quantity: 30 }] });
await send(token, useBakery, null, { Origin: 'https://copy.example' });
world.receiver.status = 500;
await ok(full, useMuseum, { quantity: 40 });
await send(full, useMuseum, { quantity: 100 });
await world.run('alerts');
// Each run purges another kind of data.
for (let minute = 10; minute < 30; minute += 2) {
  world.now = Date.parse(`2026-03-14T14:${minute}:00Z`);
  await world.run('purge');
}
await ok(operator, `POST /business/usage/${closed.id}`, null, { 'Idempotency-Key': 'last' });
await ok(operator, `DELETE /business/${closed.id}?name=Closed`);
world.now = Date.parse('2026-03-15T11:59:30Z');
const code = await codeOf({ role: 'read', business_id: bakery.id, return_url: 'https://product.example/' });

const rows = (sql: string) => world.databases[0]?.rows(sql) ?? [];
const insert = (table: unknown) => {
  const columns = `select group_concat('quote("' || name || '")', ' || '','' || ') as sql from pragma_table_info('${table}')`;
  const stored = rows(`select ${rows(columns)[0]?.sql} as row from ${table}`).map(({ row }) => `(${row})`);
  if (stored.length === 0) throw new Error(`${table} is empty`);
  return `INSERT INTO ${table} VALUES\n${stored.join(',\n')}`;
};
const created = rows(`select type, name, sql from sqlite_master where sql is not null and name <> 'sqlite_sequence'`);
const statements = [
  ...created.map(({ sql }) => sql),
  ...created.filter(({ type }) => type === 'table').map(({ name }) => insert(name)),
  'DELETE FROM sqlite_sequence',
  insert('sqlite_sequence'),
];
writeFileSync('test/databases/1.0.0-rc.1.sql', `${statements.join(';\n')};\n`);

world.now = Date.parse('2026-03-15T12:00:00Z');
const asked: Parameters<typeof send>[] = [
  [operator, 'GET /business'],
  [read, `GET /business/${bakery.id}`],
  [read, `GET /business/${bakery.id}/access/refused`],
  [full, `GET /business/${bakery.id}/changes`],
  [read, `GET /business/${museum.id}/changes?search=museum`],
  [operator, `GET /business/${garage.id}/changes`],
  [operator, 'GET /user/7/keys'],
  [operator, 'GET /alerts'],
  [token, `GET /business/usage/${bakery.id}?from=2026-02-20`, null, { Origin: 'https://a.bakery.example' }],
  [session_key, `GET /business/usage/${museum.id}`],
  [operator, `GET /business/usage/${garage.id}?from=2026-01-01&to=2026-03-15`],
  [operator, 'GET /usage?ended=2026-03-14'],
  pack,
  [revoked, `GET /business/${museum.id}`],
  [record, useBakery, null, { 'Idempotency-Key': 'job-3' }],
  [bakery.token, useBakery, null, from('https://shop.example', 'order-2026-03-12')],
  [token, useBakery, null, from('https://copy.example', 'order-1')],
  [record, useBakery, { uses: [...uses, { id: 'job-4' }] }],
  [operator, `PATCH /business/usage/${bakery.id}`, { uses: [{ id: 'job-3', quantity: 0 }] }],
  [full, useMuseum, { quantity: 41 }],
  [operator, 'POST /business', { ...NEW_BUSINESS, ...imported }],
  [null, 'POST /session', { code }],
  [null, 'POST /session', { code }],
];
const lines: string[] = [];
for (const [as, request, body, headers] of asked) {
  const { status, answer } = await send(as, request, body, headers);
  delete answer.data?.session_key; // random
  lines.push(`${JSON.stringify({ as, request, body, headers, status, answer })}\n`);
}
writeFileSync('test/databases/1.0.0-rc.1.ndjson', lines.join(''));

const released = ['migrations/0001_schema.sql', 'test/databases/1.0.0-rc.1.ndjson', 'test/databases/1.0.0-rc.1.sql'];
const digestOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
writeFileSync('test/databases/released.sha256', released.map((file) => `${digestOf(file)}  ${file}\n`).join(''));
