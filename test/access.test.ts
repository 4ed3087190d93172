// Adding and removing sites: their number, and the bodies of requests (docs/api.md, "Sites"). The simulator (test/sim) checks the rest.
import { expect, test } from 'vitest';
import { answerOf, invalid } from './answers.ts';
import { BASE, type Business, call, dumpAll, newBusiness, OPERATOR } from './support.ts';

const many = (count: number) => Array.from({ length: count }, (_, index) => `https://s${index}.example`);
const add = ({ access, key }: Business, body: unknown, type = 'application/json') =>
  call('POST', access, { as: key, body, headers: { 'Content-Type': type } });
const NO_LIST = 'must be a list of 1 to 100 URLs, such as ["https://example.com"]';

test('a call adds at most 100 sites', async () => {
  const business = await newBusiness();
  expect((await add(business, { sites: many(100) })).status).toBe(200);
  const answer = await add(business, { sites: many(101) });
  expect(answerOf(answer)).toEqual(invalid('sites', `sites ${NO_LIST}`));
});

test('the first sites that a page registers must cover its own origin', async () => {
  const { access, key } = await newBusiness();
  const ask = (sites: string[]) => call('POST', access, { as: key, origin: 'https://a.example', body: { sites } });
  const rule =
    'must cover the origin of this page, or the page would lose access: add it, or register the first sites from a server';
  expect(answerOf(await ask(['https://b.example']))).toEqual(invalid('sites', `sites ${rule}`));
  expect((await ask(['https://a.example'])).status).toBe(200);
  expect((await ask(['https://b.example'])).status).toBe(200);
});

const ADMITTING =
  'must not be the site that lets this page in, or the page would lose access: first register another that covers its origin, or remove this one from a server';
const PAGE = 'https://a.shop.example';
test.each<[string, string[], string, { origin?: string; as?: string }, boolean]>([
  ['the exact entry', [PAGE, 'https://b.example'], PAGE, { origin: PAGE }, false],
  [
    'the wildcard that covers it',
    ['https://*.shop.example', 'https://b.example'],
    'https://*.shop.example',
    { origin: PAGE },
    false,
  ],
  ['the exact entry beside a wildcard', [PAGE, 'https://*.shop.example'], PAGE, { origin: PAGE }, true],
  [
    'the wildcard beside the exact entry',
    [PAGE, 'https://*.shop.example'],
    'https://*.shop.example',
    { origin: PAGE },
    true,
  ],
  ['a wildcard for another port', [PAGE, 'https://*.shop.example:8443'], PAGE, { origin: PAGE }, false],
  ['an entry for http', ['http://a.shop.example', PAGE], 'http://a.shop.example', { origin: PAGE }, true],
  ['its own, beside one for http', ['http://a.shop.example', PAGE], PAGE, { origin: PAGE }, false],
  ['the entry of another page', [PAGE, 'https://b.example'], 'https://b.example', { origin: PAGE }, true],
  [
    'the port of localhost',
    ['http://localhost:*', 'https://b.example'],
    'http://localhost:*',
    { origin: 'http://localhost:3000' },
    false,
  ],
  [
    'the entry of an app',
    ['capacitor://localhost', 'https://b.example'],
    'capacitor://localhost',
    { origin: 'capacitor://localhost' },
    false,
  ],
  ['an entry, from the console', [PAGE, BASE], BASE, { origin: BASE }, true],
  ['an entry, from a server', [PAGE, 'https://b.example'], PAGE, {}, true],
  ['an entry, by an operator', [PAGE, 'https://b.example'], PAGE, { as: OPERATOR.full }, true],
])('a page cannot remove what lets it in: %s', async (_, sites, removed, sender, isRemoved) => {
  const business = await newBusiness({ sites });
  const list = () => call('GET', business.access, { as: business.key });
  const { id } = (await list()).body.data.access_list.find(({ site }: { site: string }) => site === removed);
  const before = await dumpAll();
  const answer = await call('DELETE', `${business.access}/${id}`, { as: business.key, ...sender });
  if (isRemoved) {
    expect(answer.status).toBe(200);
    expect((await list()).body.data.access_list).toHaveLength(sites.length - 1);
  } else {
    expect(answerOf(answer)).toEqual(invalid('access_id', `access_id ${ADMITTING}`));
    expect(await dumpAll()).toBe(before);
  }
  if (sender.origin !== undefined)
    expect((await call('GET', business.access, { as: business.key, ...sender })).status).toBe(200);
});

test('a page that removes its entries one by one keeps the last, and may remove the whole list', async () => {
  const business = await newBusiness({ sites: [PAGE, 'https://*.shop.example', 'https://b.example'] });
  const page = { as: business.key, origin: PAGE };
  const { access_list } = (await call('GET', business.access, page)).body.data;
  const statuses = [];
  for (const { id } of access_list) statuses.push((await call('DELETE', `${business.access}/${id}`, page)).status);
  expect(statuses).toEqual([200, 422, 200]);
  const last = await call('DELETE', `${business.access}/${access_list[1].id}`, page);
  expect([last.status, last.headers.get('Error-Code')]).toEqual([422, 'last_domain']);
  expect((await call('DELETE', business.access, page)).status).toBe(200);
  expect((await call('GET', business.access, page)).status).toBe(200);
});

const NOT_JSON = 'body must be valid JSON';
const NO_OBJECT = 'body must be a JSON object, such as {"sites":["https://example.com"]}';
const TOO_LARGE = 'body must have at most 32 levels of nesting and at most 10000 members and elements';
const good = '{"sites":["https://shop.example"]}';
test.each([
  ['malformed JSON', '{"sites":', NOT_JSON],
  ['empty', '', NOT_JSON],
  ['JSON5', "{sites:['https://shop.example']}", NOT_JSON],
  ['two values', `${good}${good}`, NOT_JSON],
  ['form data', 'sites=https://shop.example', NOT_JSON],
  ['null', 'null', NO_OBJECT],
  ['a list', '["https://shop.example"]', NO_OBJECT],
  ['a string', '"https://shop.example"', NO_OBJECT],
  ['nested too deeply', `${'['.repeat(32)}{"a":1}${']'.repeat(32)}`, TOO_LARGE],
  ['a million brackets', '['.repeat(1_000_000), TOO_LARGE],
  ['an object with 80,000 members', `{${Array.from({ length: 80_000 }, (_, i) => `"${i}":0`)}}`, TOO_LARGE],
  ['a list of 9,999 invalid sites', `{"sites":[${'1,'.repeat(9_998)}1]}`, `sites ${NO_LIST}`],
  ['an object without sites', '{}', `sites is required, and ${NO_LIST}`],
])('the body of a call that adds sites is rejected if it is %s', async (_, body, message) => {
  const answer = await add(await newBusiness(), body);
  expect(answerOf(answer)).toEqual(invalid(message.slice(0, message.indexOf(' ')), message));
});

test.each(['application/json; charset=utf-8', 'text/plain', 'application/x-www-form-urlencoded', ''])(
  'a body is parsed as JSON whatever its Content-Type: %j',
  async (type) => {
    expect((await add(await newBusiness(), good, type)).status).toBe(200);
  },
);

test('removing a site returns 404 for every id that is not that of an entry of the business, however it is written', async () => {
  const other = await newBusiness({ sites: many(1) });
  const business = await newBusiness({ user_id: other.user_id, sites: many(1) });
  const [theirs, mine] = await Promise.all(
    [other, business].map(
      async ({ access, key }) => (await call('GET', access, { as: key })).body.data.access_list[0].id,
    ),
  );
  const before = await dumpAll();
  const written = [`0${mine}`, `+${mine}`, `-${mine}`, `${mine}.0`, `${mine}%20`];
  for (const id of [theirs, '999999999', ...written, '0', 'abc', 'null', '9007199254740993', '%00']) {
    const answer = await call('DELETE', `${business.access}/${id}`, { as: business.key });
    const body = { status: false, message: 'Access id is not valid' };
    expect(answerOf(answer), `${id}`).toEqual({ status: 404, body });
  }
  expect(await dumpAll()).toBe(before);
});
