// Adding and removing sites: their number, and the bodies of requests (docs/api.md, "Sites"). The simulator (test/sim) checks the rest.
import { describe, expect, test } from 'vitest';
import { answerOf, invalid } from './answers.ts';
import { type Business, type CallOptions, call, dumpAll, newBusiness } from './support.ts';

type Entry = { id: number; site: string };
const sitesOf = (answer: { body: { data: { access_list: Entry[] } } }) =>
  answer.body.data.access_list.map(({ site }) => site);
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `https://s${from + index}.example`);

describe('the limits on sites', () => {
  test('allow at most 100 sites per call', async () => {
    const business = await newBusiness();
    expect((await call('POST', business.access, { as: business.key, body: { sites: many(100) } })).status).toBe(200);
    const answer = await call('POST', business.access, { as: business.key, body: { sites: many(101) } });
    const message = 'sites must be a list of 1 to 100 URLs, such as ["https://example.com"]';
    expect(answerOf(answer)).toEqual(invalid('sites', message));
  });

  test('allow at most 500 sites per business, and a call that would exceed 500 adds none', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    const add = (sites: string[]) => call('POST', business.access, { as: business.key, body: { sites } });
    for (let start = 0; start < 400; start += 100) await add(many(100, start));
    await add(many(99, 400));
    const before = await dumpAll();
    const refused = await add(['https://one.example', 'https://two.example']);
    const message = 'sites must not give the business more than 500 sites';
    expect(answerOf(refused)).toEqual(invalid('sites', message));
    expect(await dumpAll()).toBe(before);
    expect((await add(['https://one.example', 'https://s1.example'])).status).toBe(200);
    expect(sitesOf(await add(many(100)))).toHaveLength(500);
    expect((await add(['https://two.example'])).status).toBe(422);
  });
});

describe('the body of a call that adds sites', () => {
  const NOT_JSON = 'body must be valid JSON';
  const NO_OBJECT = 'body must be a JSON object, such as {"sites":["https://example.com"]}';
  const NO_LIST = 'sites must be a list of 1 to 100 URLs, such as ["https://example.com"]';
  const TOO_LARGE = 'body must have at most 32 levels of nesting and at most 10000 members and elements';
  const good = '{"sites":["https://shop.example"]}';

  test.each([
    ['malformed JSON', '{"sites":', 'application/json', NOT_JSON],
    ['empty', '', 'application/json', NOT_JSON],
    ['JSON5', "{sites:['https://shop.example']}", 'application/json', NOT_JSON],
    ['two values', `${good}${good}`, 'application/json', NOT_JSON],
    ['form data', 'sites=https://shop.example', 'application/x-www-form-urlencoded', NOT_JSON],
    ['null', 'null', 'application/json', NO_OBJECT],
    ['a list', '["https://shop.example"]', 'application/json', NO_OBJECT],
    ['nested too deeply', `${'['.repeat(32)}{"a":1}${']'.repeat(32)}`, 'application/json', TOO_LARGE],
    ['a million brackets', '['.repeat(1_000_000), 'application/json', TOO_LARGE],
    [
      'an object with 80,000 members',
      `{${Array.from({ length: 80_000 }, (_, i) => `"${i}":0`)}}`,
      'application/json',
      TOO_LARGE,
    ],
    ['a list of 10,001 numbers', `[${Array(10_001).fill(1)}]`, 'application/json', TOO_LARGE],
    ['a string', '"https://shop.example"', 'application/json', NO_OBJECT],
  ])('is rejected with an error for `body` if it is %s', async (_, body, type, message) => {
    const business = await newBusiness();
    const answer = await call('POST', business.access, { as: business.key, body, headers: { 'Content-Type': type } });
    expect(answerOf(answer)).toEqual(invalid('body', message));
  });

  test.each([
    ['missing', '{}'],
    ['null', '{"sites":null}'],
    ['a string', '{"sites":"https://shop.example"}'],
    ['an object', '{"sites":{"0":"https://shop.example"}}'],
    ['an empty list', '{"sites":[]}'],
    ['a list of 9,999 invalid entries', `{"sites":[${'1,'.repeat(9_998)}1]}`],
  ])('is rejected with an error for `sites` if its sites are %s', async (what, body) => {
    const rule = what === 'missing' ? NO_LIST.replace('sites must', 'sites is required, and must') : NO_LIST;
    const business = await newBusiness();
    const answer = await call('POST', business.access, { as: business.key, body });
    expect(answerOf(answer)).toEqual(invalid('sites', rule));
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    '',
  ])('is parsed as JSON whatever its Content-Type: %j', async (type) => {
    const business = await newBusiness();
    const options = { as: business.key, body: good, headers: { 'Content-Type': type } };
    expect((await call('POST', business.access, options)).status).toBe(200);
  });
});

describe('removing sites', () => {
  const AB = ['https://a.example', 'https://b.example'];
  const entriesOf = async ({ access, key }: Business): Promise<Entry[]> =>
    (await call('GET', access, { as: key })).body.data.access_list;
  const remove = ({ access, key }: Business, id: unknown, options: CallOptions = {}) =>
    call('DELETE', `${access}/${id}`, { as: key, ...options });

  test('returns 404 for every unknown entry id', async () => {
    const other = await newBusiness({ sites: AB });
    const business = await newBusiness({ user_id: other.user_id, sites: AB });
    const [theirs, mine] = [(await entriesOf(other))[0]?.id, (await entriesOf(business))[0]?.id];
    expect([typeof theirs, typeof mine]).toEqual(['number', 'number']);
    const before = await dumpAll();
    const written = [`0${mine}`, `+${mine}`, `-${mine}`, `${mine}.0`, `${mine}%20`];
    for (const id of [theirs, '999999999', ...written, '0', 'abc', 'null', '9007199254740993', '%00']) {
      const { status, text } = await remove(business, id);
      expect({ id, status, text }).toEqual({
        id,
        status: 404,
        text: '{"status":false,"message":"Access id is not valid"}',
      });
    }
    expect(await dumpAll()).toBe(before);
  });
});
