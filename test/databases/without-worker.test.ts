// The SQL in docs/operating.md, "If the Worker does not run".
import { expect, test } from 'vitest';
import operating from '../../docs/operating.md?raw';
import { addFormerToken, call, newBusiness, newKey, newSession } from '../support.ts';

const [, section = ''] = /### If the Worker does not run\n(.*)/s.exec(operating) ?? [];
const [revoke = '', suspend = '', replace = ''] = [...section.matchAll(/--command "\n([^"]*)"/g)].map(([, sql]) => sql);
const end = revoke.replace(/where 12.*/s, /The same with `(where [^`]*)`/.exec(section)?.[1] ?? '');

/** Returns a business in DB, the statuses that its report has with these credentials, and a function that runs SQL for the business or a key. */
async function newOwner(user_id: number) {
  const business = await newBusiness({ user_id });
  const statuses = (...credentials: string[]) =>
    Promise.all(credentials.map(async (as) => (await call('GET', business.usage, { as })).status));
  async function execute(sql: string, key = 0) {
    const own = sql
      .replace(/\b12\b/g, `${key}`)
      .replace('user_id = 7', `user_id = ${business.user_id}`)
      .replaceAll('id = 5', `id = ${business.id}`);
    const statements = own.split(';').map((one) => business.home.d1.prepare(one));
    return (await business.home.d1.batch<{ token: string }>(statements)).at(-1)?.results[0];
  }
  return { business, statuses, execute };
}

test('revokes a key with the keys that it created and their sessions, or ends all sessions of a user', async () => {
  const { business, statuses, execute } = await newOwner(300_000);
  const [maker, made] = [await newKey(business), await newKey(business, { role: 'read' })];
  const [its, ofMade, others] = [await newSession(business), await newSession(business), await newSession(business)];
  const set = (column: string, of: { id: number }, by: { id: number }) =>
    business.home.d1.prepare(`update api_keys set ${column} = ? where id = ?`).bind(by.id, of.id).run();
  await set('creator_id', made, maker);
  await set('session_of', its, maker);
  await set('session_of', ofMade, made);
  const all = [maker, made, its, ofMade, others, business].map(({ key }) => key);
  await execute(revoke, maker.id);
  expect(await statuses(...all, business.token)).toEqual([401, 401, 401, 401, 200, 200, 200]);
  await execute(end);
  expect(await statuses(others.key, business.key)).toEqual([401, 200]);
});

test('suspends a business, or replaces all its tokens', async () => {
  const { business, statuses, execute } = await newOwner(300_003);
  const former = await addFormerToken(business);
  expect(await statuses(business.token, former)).toEqual([200, 200]);
  const made = await execute(replace);
  expect(made?.token).toMatch(/^bua_pk_0[\da-f]{33}$/);
  expect(await statuses(business.token, former)).toEqual([401, 401]);
  await execute(suspend);
  expect(await statuses(`${made?.token}`, business.key)).toEqual([401, 200]);
});
