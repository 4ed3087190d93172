// A change of rights takes effect with the next request, also while a hundred others are under way.
import { expect, test } from 'vitest';
import { rotateToken } from '../src/cli/businesses.ts';
import { listKeys, revokeKey } from '../src/cli/keys.ts';
import { type CallOptions, call, db, NOW, newBusiness } from './support.ts';

const IN_FLIGHT = 100;

/** What is answered to requests that start before a change, and to those that start after its answer. */
async function around(change: () => Promise<unknown>, path: string, options: CallOptions) {
  const send = () => Array.from({ length: IN_FLIGHT }, () => call('POST', path, options));
  const before = send();
  await change();
  const after = send();
  const statuses = async (answers: typeof before) => new Set((await Promise.all(answers)).map(({ status }) => status));
  return { before: await statuses(before), after: await statuses(after) };
}

async function countOf(business: Awaited<ReturnType<typeof newBusiness>>, as = business.key) {
  const { body } = await call('GET', business.usage, { as });
  return body.data.used.at(-1).count as number;
}

test('nothing that starts after a key was revoked passes with it', async () => {
  const business = await newBusiness();
  const [key] = await listKeys(db, business.user_id);
  const { before, after } = await around(() => revokeKey(db, key?.id ?? 0, NOW), business.usage, { as: business.key });
  expect(after).toEqual(new Set([401]));
  for (const status of before) expect([200, 401]).toContain(status);
  expect(await countOf(business, business.token)).toBeLessThanOrEqual(IN_FLIGHT);
});

test('nothing that starts after a token was rotated passes with it', async () => {
  const business = await newBusiness();
  const { after } = await around(() => rotateToken(db, business.id, NOW), business.usage, { as: business.token });
  expect(after).toEqual(new Set([401]));
});

test('nothing that starts after a domain was removed passes from it', async () => {
  const business = await newBusiness({ sites: ['https://a.example', 'https://b.example'] });
  const { body } = await call('GET', business.access, { as: business.key });
  const entry = `${business.access}/${body.data.access_list[0].id}`;
  const remove = () => call('DELETE', entry, { as: business.key });
  const visit = { as: business.token, origin: 'https://a.example' };
  const { after } = await around(remove, business.usage, visit);
  expect(after).toEqual(new Set([403]));
  expect(await countOf(business)).toBeLessThanOrEqual(IN_FLIGHT);
});

test('nothing that starts after the first domain was registered passes from elsewhere', async () => {
  const business = await newBusiness();
  const register = () => call('POST', business.access, { as: business.key, body: { sites: ['https://a.example'] } });
  const { after } = await around(register, business.usage, { as: business.token, origin: 'https://b.example' });
  expect(after).toEqual(new Set([403]));
});
