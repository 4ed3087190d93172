// The labels of keys (docs/api.md, "Sources" and "API keys"): exact by source over a rotation, and what they cost. The simulator (test/sim)
// checks every order of calls.
import { expect, test } from 'vitest';
import { purge } from '../src/purge.ts';
import { answerOf, granted, invalid, UNAUTHENTICATED } from './answers.ts';
import { type Business, call, dumpAll, later, newBusiness, newKey, OPERATOR, STAMP, TODAY } from './support.ts';

const SHOP = 'https://shop.example';
const HOUR_MS = 3_600_000;
type Fields = { label?: string; role?: string; business_id?: number; expires_on?: string };
const create = (business: Business, fields: Fields, as = OPERATOR.full) =>
  call('POST', `/api/v1/user/${business.user_id}/keys`, {
    as,
    body: { role: 'record', business_id: business.id, ...fields },
  });
/** Creates a key with a label, and returns its calls. */
async function server(business: Business, label: string, as?: string) {
  const { status, body } = await create(business, { label }, as);
  expect(status).toBe(200);
  const { id, api_key } = body.data as { id: number; api_key: string };
  const use = (options: Parameters<typeof call>[2] = {}) => call('POST', business.usage, { as: api_key, ...options });
  return {
    id,
    api_key,
    use,
    revoke: () => call('DELETE', `/api/v1/user/${business.user_id}/keys/${id}`, { as: OPERATOR.full }),
  };
}
const bySource = async (business: Business) => {
  const { body } = await call('GET', `${business.usage}?by=source&from=${TODAY}`, { as: OPERATOR.full });
  return Object.fromEntries(
    body.data.sources.map(({ source, count }: { source: string; count: number }) => [`${source}`, count]),
  );
};
const withId = (id: string) => ({ headers: { 'Idempotency-Key': id } });

test('the label of a key is the source of its uses that send none, over its rotation', async () => {
  const business = await newBusiness({ sites: [SHOP] });
  const first = await server(business, 'web-1');
  const other = await server(business, 'web-2', business.key);
  await first.use();
  await first.use({ body: { quantity: 10 } });
  await first.use({ ...withId('a'), body: { at: `${TODAY}T01:00:00Z` } });
  await first.use({ origin: SHOP });
  await first.use({ body: { label: 'sms' } });
  await first.use({
    body: { uses: [{ id: 'b' }, { id: 'c', label: 'sms' }, { id: 'd', quantity: 100 }, { id: 'b' }] },
  });
  await other.use(withId('e'));
  await other.use(withId('e'));
  const second = await server(business, 'web-1');
  await first.revoke();
  expect(answerOf(await first.use())).toEqual(UNAUTHENTICATED);
  await second.use({ body: { quantity: 1000 } });
  await call('POST', business.usage, { as: business.token, origin: SHOP });
  await call('POST', business.usage, { as: business.key });
  expect(await bySource(business)).toEqual({ 'web-1': 1114, 'web-2': 1, sms: 2, [SHOP]: 1, null: 1 });
  await call('PATCH', business.usage, { as: OPERATOR.record, body: { uses: [{ id: 'd', quantity: 30 }] } });
  expect(await bySource(business)).toMatchObject({ 'web-1': 1044, sms: 2 });
  const { body } = await call('GET', `${business.usage}/use?id=d`, { as: business.key });
  expect(body.data.by_key).toMatchObject({ quantity: 30, source: 'web-1' });
});

test('a label stays when its key is revoked by a transfer, its session is purged and its user is erased', async () => {
  const business = await newBusiness();
  const { api_key } = (await create(business, { label: 'web-1', role: 'full' })).body.data;
  const { session_key } = (await call('POST', '/api/v1/session', { as: api_key })).body.data;
  const use = (as: string) => call('POST', business.usage, { as });
  for (const as of [session_key, api_key]) expect((await use(as)).status).toBe(200);
  const owner = { user_id: business.user_id + 700_000 };
  const transfer = await call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: owner });
  expect(transfer.status).toBe(200);
  for (const as of [session_key, api_key]) expect(answerOf(await use(as))).toEqual(UNAUTHENTICATED);
  const at = later(30 * 24 * HOUR_MS);
  await purge(business.db, at);
  const erased = await call('DELETE', `/api/v1/user/${business.user_id}`, { as: OPERATOR.full, at });
  expect(erased.status).toBe(200);
  expect(await bySource(business)).toEqual({ 'web-1': 2 });
  const next = await server({ ...business, ...owner }, 'web-1');
  await next.use();
  expect(await bySource(business)).toEqual({ 'web-1': 3 });
});

test('a key shows its label when it is created, revoked and listed, and its creation in the changes', async () => {
  const business = await newBusiness();
  const made = await create(business, { label: 'web-1' });
  const { api_key: _, ...key } = made.body.data;
  expect(key).toMatchObject({ label: 'web-1', business_id: business.id });
  const plain = (await create(business, {})).body.data;
  expect(plain.label).toBeNull();
  const { keys } = (await call('GET', `/api/v1/user/${business.user_id}/keys`, { as: business.key })).body.data;
  expect(keys.map(({ label }: { label: string | null }) => label)).toEqual([null, 'web-1', null]);
  const path = `/api/v1/user/${business.user_id}/keys/${key.id}`;
  const revoked = await call('DELETE', path, { as: OPERATOR.full });
  expect(answerOf(revoked)).toEqual(granted({ key: { ...key, revoked_at: STAMP } }));
  const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes?search=web-1`, { as: business.key }))
    .body.data;
  const after = { key: `…${key.last_four}`, name: 'API key', expires_on: null, business_id: business.id };
  expect(changes.map(({ after }: { after: object }) => after)).toEqual([
    { ...after, label: 'web-1', role: 'record', id: key.id },
  ]);
});

test('a label needs a business and a key that can record uses, and is one of at most 200 of the business', async () => {
  const business = await newBusiness();
  const only = 'label can be sent only with business_id, and not with the role read';
  const rule = 'label must be 1 to 64 printable ASCII characters, without :// and without spaces at the ends';
  const create = (body: object, as = OPERATOR.full) =>
    call('POST', `/api/v1/user/${business.user_id}/keys`, { as, body });
  const { id: business_id } = business;
  for (const [body, message] of [
    [{ label: 'a' }, only],
    [{ label: 'a', business_id, role: 'read' }, only],
    [{ label: '', business_id }, rule],
    [{ label: ' a', business_id }, rule],
    [{ label: 'https://a.example', business_id }, rule],
    [{ label: 'x'.repeat(65), business_id }, rule],
    [{ label: 'ü', business_id }, rule],
  ] as const)
    expect(answerOf(await create(body)), JSON.stringify(body)).toEqual(invalid('label', message));
  const foreign = await newBusiness();
  expect(answerOf(await create({ label: 'a', business_id: foreign.id }))).toEqual(
    invalid('business_id', `business_id must be a business of user ${business.user_id}`),
  );
  const uses = Array.from({ length: 199 }, (_, index) => ({ id: `u${index}`, label: `l${index}` }));
  await call('POST', business.usage, { as: business.key, body: { uses } });
  const record = { role: 'record', business_id };
  expect((await create({ ...record, label: 'l199' })).status).toBe(200);
  const before = await dumpAll();
  for (const as of [OPERATOR.full, business.key])
    expect(answerOf(await create({ ...record, label: 'l200' }, as))).toEqual(
      invalid('label', 'label must be a label that the business has: it cannot have more than 200'),
    );
  expect(await dumpAll()).toBe(before);
  expect((await create({ ...record, label: 'l7' })).status).toBe(200);
});

test('a use reads and writes as many rows with a key that has a label as with one that has none', async () => {
  const business = await newBusiness({ sites: [SHOP] });
  const { id: business_id } = business;
  const { key: plain } = await newKey(business, { business_id, role: 'record' });
  const labelled = (await create(business, { label: 'web-1' })).body.data.api_key;
  let id = 0;
  const costs = async (as: string, options: Parameters<typeof call>[2] = {}) => {
    const { status, cost } = await call('POST', business.usage, { as, ...options });
    expect({ status, round_trips: cost.round_trips }).toEqual({ status: 200, round_trips: 1 });
    return [cost.rows_read, cost.rows_written];
  };
  const once = () => withId(`k${id++}`);
  const list = () => ({ body: { uses: Array.from({ length: 100 }, () => ({ id: `u${id++}` })) } });
  // The first ones store the day, and what a list takes of the owner's allowance.
  for (const as of [plain, labelled]) for (const first of [{}, list()]) await costs(as, first);
  for (const as of [plain, labelled]) {
    expect(await costs(as)).toEqual([8, 1]);
    expect(await costs(as, { body: { quantity: 5 } })).toEqual([8, 1]);
    // The day is read once more for each id, to learn whether it counted the source.
    const more = as === labelled ? 1 : 0;
    expect(await costs(as, once())).toEqual([10 + more, 2]);
    expect(await costs(as, list())).toEqual([525 + 100 * more, 103]);
  }
});
