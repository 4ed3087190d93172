// The cost of the operator's operations (docs/performance.md, "What each operation costs"). Each database also stores other users'
// businesses and keys.
// @module-tag slow
import { beforeAll, expect, test } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import { call, homes, later, NOW, newBusiness, newCode, newKey, OPERATOR } from '../support.ts';

beforeAll(async () => {
  for (let others = 0; others < 60; others++) await newKey(await newBusiness());
});

const FIELDS = {
  ...{ name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example', country_id: 1, business_size: 'small' },
  ...{ monthly_limit: 5 },
};
const sitesOf = (length: number) => Array.from({ length }, (_, index) => `https://s${index}.example`);
let user = 500_000;

type Most = { trips: number; read: number; written: number };
/** Expects an operation to succeed within a cost. Returns its data. */
async function within(
  { trips, read, written }: Most,
  method: string,
  path: string,
  body?: object,
  key?: string,
  at = NOW,
) {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
  const answer = await call(method, `/api/v1${path}`, { as: OPERATOR.full, headers, at, ...(body && { body }) });
  const { round_trips, rows_read, rows_written } = answer.cost;
  expect({ status: answer.status, round_trips }, path).toEqual({ status: 200, round_trips: trips });
  expect(rows_read, `rows read by ${method} ${path}`).toBeLessThanOrEqual(read);
  expect(rows_written, `rows written by ${method} ${path}`).toBeLessThanOrEqual(written);
  return answer.body?.data;
}

/** The round trips of a new user's first creation, which queries each database and then claims a home. */
const NEW_OWNER = 2 + homes.length + 1;

test.each([1, 20, 100])(
  'creating, changing and deleting a business with %i sites stay within the documented cost',
  async (s) => {
    for (const token of [undefined, `token-of-another-system-${s}`]) {
      user += 1;
      const body = { ...FIELDS, user_id: user, sites: sitesOf(s), ...(token && { token }) };
      const creating = { trips: 2, read: 11 * s + 66 + 3 * homes.length, written: 5 * s + 16 };
      const { id } = await within({ ...creating, trips: NEW_OWNER }, 'POST', '/business', body, 'signup');
      await within({ ...creating, written: 1 }, 'POST', '/business', body, 'signup', later(1));
      await within(creating, 'POST', '/business', { ...FIELDS, user_id: user, sites: sitesOf(s) });

      const changing = { trips: 1, read: 2 * s + 66, written: 6 };
      await within(changing, 'PATCH', `/business/${id}`, { status: 'suspended', daily_limit: 1000, name: 'Other' });
      await within({ ...changing, written: 0 }, 'PATCH', `/business/${id}`, { name: 'Other' });
      user += 1;
      await within({ trips: 3, read: 2 * s + 66, written: 10 }, 'PATCH', `/business/${id}`, { user_id: user });
      const [k, owner] = [4, user];
      for (let key = 0; key < k; key++)
        await call('POST', `/api/v1/user/${owner}/keys`, { as: OPERATOR.full, body: { business_id: id } });
      const link = { as: OPERATOR.full, body: { business_id: id } };
      await call('POST', `/api/v1/user/${owner}/console-link`, link);
      const { url } = (await call('POST', `/api/v1/user/${owner}/console-link`, link)).body.data;
      await call('POST', '/api/v1/session', { body: { code: url.split('=')[1] } });
      user += 1;
      const giving = { trips: 3, read: 2 * s + 66 + 3 * (k + 2), written: 10 + 3 * (k + 2) };
      await within(giving, 'PATCH', `/business/${id}`, { user_id: user });

      const d = 100;
      const [home] = homes.filter(({ number }) => number === Math.floor(id / 1e9));
      await home?.d1
        .prepare(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
        insert into daily_usage (business_id, day, count) select ?, date('2026-03-15', '-' || i || ' days'), i from n`)
        .bind(d, id)
        .run();
      await call('POST', `/api/v1/business/${id}/token`, { as: OPERATOR.full, body: { keep_old: '1d' } });
      await call('POST', `/api/v1/user/${user}/keys`, { as: OPERATOR.full, body: { business_id: id } });
      const rows = 3 * s + d + 2; // each site has an entry, and a name with its index
      const deleting = { trips: 1, read: 2 * rows + 60, written: rows + 16 };
      await within(deleting, 'DELETE', `/business/${id}?name=Other`);
    }
  },
);

test('creating, listing and revoking API keys and listing a user’s changes stay within the documented cost', async () => {
  user += 1;
  const keys = `/user/${user}/keys`;
  const creating = { trips: 2, read: 60 + 3 * homes.length, written: 9 };
  const ids: number[] = [];
  for (let made = 0; made < 30; made++) {
    const trips = made === 0 ? NEW_OWNER : 2;
    ids.push((await within({ ...creating, trips }, 'POST', keys, { role: 'read' })).id);
  }
  expect((await within({ trips: 2, read: 2 * 30 + 6, written: 0 }, 'GET', keys)).keys).toHaveLength(30);
  for (const limit of [1, 20]) {
    await within({ trips: 2, read: 3 * limit + 8, written: 0 }, 'GET', `/user/${user}/changes?limit=${limit}`);
  }
  const revoking = { trips: 2, read: 24, written: 3 };
  await within(revoking, 'DELETE', `${keys}/${ids[0]}`);
  await within({ ...revoking, written: 0 }, 'DELETE', `${keys}/${ids[0]}`);
});

test.each([1, 100, 1830])('importing a history of %i days stays within the documented cost', async (d) => {
  const { id } = await newBusiness();
  const daysWith = (count: number) =>
    Array.from({ length: d }, (_, index) => ({ date: addDays('2026-03-14', -index), count }));
  const path = `/business/${id}/history`;
  const importing = { trips: 1, read: 8 * d + 60, written: d + 44 };
  await within(importing, 'PUT', path, { days: daysWith(1) });
  await within({ ...importing, written: 0 }, 'PUT', path, { days: daysWith(1) });
  await within(importing, 'PUT', path, { days: daysWith(2), replace: true });
  await within(importing, 'PUT', path, { days: daysWith(0), replace: true });
});

test.each([1, 30])('erasing a user with %i rows of each kind stays within the documented cost', async (n) => {
  user += 1;
  const user_id = user;
  const owner = { user_id, home: homes[0] };
  const create = { ...FIELDS, user_id, database: 0 };
  for (let made = 0; made < n; made++) {
    const { id } = (await call('POST', '/api/v1/business', { as: OPERATOR.full, body: create })).body.data;
    await call('DELETE', `/api/v1/business/${id}?name=Acme`, { as: OPERATOR.full });
    await call('POST', `/api/v1/user/${user_id}/keys`, { as: OPERATOR.full });
    await newCode(owner);
    await newKey(owner, { ends_at: '2026-03-16T00:00:00.000000Z' });
  }
  const r = 6 * n; // each business leaves two changes until the purge, and each key leaves one
  await within(
    { trips: 3, read: 8 * r + 40, written: r + 1 },
    'DELETE',
    `/user/${user_id}`,
    undefined,
    undefined,
    later(3_600_000),
  );
});
