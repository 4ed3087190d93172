// Adding, listing and removing sites (docs/api.md, "Sites").
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { access } from '../src/db/schema.ts';
import { answerOf, invalid } from './answers.ts';
import { addSite, BASE, type Business, type CallOptions, call, dumpAll, NOW, newBusiness, STAMP } from './support.ts';

type Entry = { id: number; site: string };
const later = new Date('2026-03-16T08:30:00.123Z');
const sitesOf = (answer: { body: { data: { access_list: Entry[] } } }) =>
  answer.body.data.access_list.map(({ site }) => site);
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `https://s${from + index}.example`);

test('adding and reading sites return the business with its access_list', async () => {
  const business = await newBusiness();
  const answer = await call('POST', business.access, { as: business.key, body: { sites: ['https://shop.example'] } });
  expect(answer.status).toBe(200);
  const [entry] = await business.db.select().from(access).where(eq(access.business_id, business.id));
  expect(answer.text).toBe(
    JSON.stringify({
      status: true,
      data: {
        id: business.id,
        user_id: business.user_id,
        name: business.name,
        main_domain: 'acme.example',
        site: 'https://acme.example',
        country_id: 1,
        business_size: 'small',
        token: business.token,
        status: 'active',
        created_at: STAMP,
        updated_at: STAMP,
        access_list: [
          {
            id: entry?.id,
            business_id: business.id,
            site: 'https://shop.example',
            created_at: STAMP,
            updated_at: STAMP,
          },
        ],
      },
    }),
  );
  const list = await call('GET', business.access, { as: business.key });
  expect(list.text).toBe(answer.text);
});

test('adding sites returns all sites in the order in which they were added', async () => {
  const business = await newBusiness();
  const first = ['https://b.example', 'https://a.example', 'https://c.example'];
  await call('POST', business.access, { as: business.key, body: { sites: first } });
  const answer = await call('POST', business.access, {
    as: business.key,
    body: { sites: ['https://0.example', 'https://a.example'] },
  });
  expect(sitesOf(answer)).toEqual([...first, 'https://0.example']);
  const ids = answer.body.data.access_list.map(({ id }: Entry) => id);
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
});

test('adding sites keeps existing sites and ignores duplicates', async () => {
  const business = await newBusiness({ sites: ['https://old.example'] });
  const sites = ['https://new.example', 'HTTPS://NEW.example:443/page?q#f', ' https://old.example/ '];
  const answer = await call('POST', business.access, { as: business.key, body: { sites } });
  expect(answer.status).toBe(200);
  expect(sitesOf(answer)).toEqual(['https://old.example', 'https://new.example']);
});

test("adding sites changes the business's updated_at only if the list changes", async () => {
  const business = await newBusiness();
  const body = { sites: ['https://shop.example'] };
  const added = await call('POST', business.access, { as: business.key, body, at: later });
  expect(added.body.data.updated_at).toBe('2026-03-16T08:30:00.123000Z');
  expect(added.body.data.created_at).toBe(STAMP);
  const again = await call('POST', business.access, { as: business.key, body, at: new Date('2026-03-17T00:00:00Z') });
  expect(again.text).toBe(added.text);
});

test('adding the first site restricts the token to that site from the next request', async () => {
  const business = await newBusiness();
  const visit = (origin: string) => call('GET', business.usage, { as: business.token, origin });
  expect((await visit('https://other.example')).status).toBe(200);
  await call('POST', business.access, { as: business.key, body: { sites: ['https://shop.example'] } });
  expect((await visit('https://other.example')).status).toBe(403);
  expect((await visit('https://shop.example')).status).toBe(200);
});

describe('adding the first sites', () => {
  const message =
    'sites must cover the origin of this page, or the page would lose access: add it, or register the first sites from a server';

  const unregistrable =
    'sites must be registered from a server: the origin of this page cannot be registered, so the page would lose access';

  test.each(['https://admin.example', 'null', 'http://shop.example', 'https://sub.shop.example', 'file://'])(
    'is refused from %s, which they do not cover',
    async (origin) => {
      const business = await newBusiness();
      const before = await dumpAll();
      const body = { sites: ['https://shop.example', 'https://*.other.example'] };
      const answer = await call('POST', business.access, { as: business.key, body, origin });
      expect(answerOf(answer)).toEqual(invalid('sites', origin.startsWith('http') ? message : unregistrable));
      expect(await dumpAll()).toBe(before);
    },
  );

  test.each([
    ['a page whose origin they include', 'https://shop.example', ['https://shop.example']],
    ['a page whose origin their wildcard covers', 'https://admin.shop.example', ['https://*.shop.example']],
    ['a server', undefined, ['https://shop.example']],
    ['the console', BASE, ['https://shop.example']],
  ])('is accepted from %s', async (_, origin, sites) => {
    const business = await newBusiness();
    const options = { as: business.key, body: { sites }, origin };
    expect(sitesOf(await call('POST', business.access, options))).toEqual(sites);
  });

  test('is stricter than adding later sites: a registered page may add any site', async () => {
    const business = await newBusiness({ sites: ['https://admin.example'] });
    const options = { as: business.key, body: { sites: ['https://shop.example'] }, origin: 'https://admin.example' };
    expect(sitesOf(await call('POST', business.access, options))).toHaveLength(2);
  });
});

describe('the limits on sites', () => {
  test('allow at most 100 sites per call', async () => {
    const business = await newBusiness();
    expect((await call('POST', business.access, { as: business.key, body: { sites: many(100) } })).status).toBe(200);
    const answer = await call('POST', business.access, { as: business.key, body: { sites: many(101) } });
    const message = 'sites must be a list of 1 to 100 URLs, such as ["https://example.com"]';
    expect(answerOf(answer)).toEqual(invalid('sites', message));
  });

  test('allow at most 500 sites per business, and a call that would exceed 500 adds none', async () => {
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

  test('hold under concurrent calls', { tags: 'slow' }, async () => {
    const business = await newBusiness();
    for (const site of many(450)) await addSite(business.id, site);
    const calls = Array.from({ length: 10 }, (_, index) =>
      call('POST', business.access, { as: business.key, body: { sites: many(10, 1000 + index * 10) } }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(5).fill(422)]);
    expect(await business.db.$count(access, eq(access.business_id, business.id))).toBe(500);
  });
});

test('concurrent calls that add different sites add them all', async () => {
  const business = await newBusiness();
  await Promise.all(
    many(20).map((site) => call('POST', business.access, { as: business.key, body: { sites: [site] } })),
  );
  const stored = sitesOf(await call('GET', business.access, { as: business.key }));
  expect(stored.sort()).toEqual(many(20).sort());
});

test('a call with an invalid entry stores nothing, and the error names each invalid entry', async () => {
  const business = await newBusiness();
  const before = await dumpAll();
  const sites = ['https://good.example', 'ftp://bad.example', 'https://fine.example', 7];
  const answer = await call('POST', business.access, { as: business.key, body: { sites } });
  expect(answer.status).toBe(422);
  expect(answer.text).toBe(
    '{"status":false,"message":"sites.1 must be an http or https URL, such as https://example.com","errors":{"sites.1":["sites.1 must be an http or https URL, such as https://example.com"],"sites.3":["sites.3 must be a string, such as https://example.com"]}}',
  );
  expect(await dumpAll()).toBe(before);
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

test('reading sites returns only the requested business’s list', async () => {
  const other = await newBusiness({ sites: ['https://other.example'] });
  const business = await newBusiness({ user_id: other.user_id, sites: ['https://shop.example'] });
  const answer = await call('GET', business.access, { as: other.key, at: NOW });
  expect(sitesOf(answer)).toEqual(['https://shop.example']);
});

describe('removing sites', () => {
  const AB = ['https://a.example', 'https://b.example'];
  const entriesOf = async ({ access, key }: Business): Promise<Entry[]> =>
    (await call('GET', access, { as: key })).body.data.access_list;
  const remove = ({ access, key }: Business, id: unknown, options: CallOptions = {}) =>
    call('DELETE', `${access}/${id}`, { as: key, ...options });

  const LAST =
    'access_id must not be the last entry: without entries, the token works everywhere. To allow that, DELETE the whole list.';

  test('returns the business without the entry and takes effect from the next request', async () => {
    const business = await newBusiness({ sites: AB });
    const [first] = await entriesOf(business);
    const visit = () => call('GET', business.usage, { as: business.token, origin: 'https://a.example' });
    expect((await visit()).status).toBe(200);
    const answer = await remove(business, first?.id, { at: later });
    expect(answer.status).toBe(200);
    expect(sitesOf(answer)).toEqual(['https://b.example']);
    expect(answer.body.data.updated_at).toBe('2026-03-16T08:30:00.123000Z');
    expect(answer.cost.round_trips).toBe(1);
    expect((await visit()).status).toBe(403);
    const again = await call('GET', business.access, { as: business.key });
    expect(again.text).toBe(answer.text);
  });

  test('by id is refused for the last entry, because the token would then work on every site', async () => {
    const business = await newBusiness({ sites: ['https://a.example'] });
    const [only] = await entriesOf(business);
    const before = await dumpAll();
    const answer = await remove(business, only?.id);
    expect(answerOf(answer)).toEqual(invalid('access_id', LAST));
    expect(answer.headers.get('Error-Code')).toBe('last_domain');
    expect(answer.lines).toMatchObject([{ status: 422, refusal: 'last_domain' }]);
    expect(await dumpAll()).toBe(before);
  });

  test('lifts the restriction if the whole list is removed, and succeeds if the list is already empty', async () => {
    const business = await newBusiness({ sites: AB });
    const answer = await call('DELETE', business.access, { as: business.key, at: later });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ access_list: [], updated_at: '2026-03-16T08:30:00.123000Z' });
    expect((await call('GET', business.usage, { as: business.token })).status).toBe(200);
    const again = await call('DELETE', business.access, { as: business.key, at: new Date('2026-03-17T00:00:00Z') });
    expect(again.text).toBe(answer.text);
  });

  test('rejects query parameters on the whole list, because a caller may send them to narrow the removal', async () => {
    const business = await newBusiness({ sites: AB });
    const before = await dumpAll();
    const answer = await call('DELETE', `${business.access}?access_id=1`, { as: business.key });
    const message = 'access_id is not a parameter of this operation, which accepts none';
    expect(answerOf(answer)).toEqual(invalid('access_id', message));
    expect(await dumpAll()).toBe(before);
  });

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

  test('never frees an id for reuse: a removed entry stays unknown', async () => {
    const business = await newBusiness({ sites: AB });
    const newest = (await entriesOf(business))[1]?.id;
    expect((await remove(business, newest)).status).toBe(200);
    await call('POST', business.access, { as: business.key, body: { sites: ['https://c.example'] } });
    expect((await remove(business, newest)).status).toBe(404);
    expect((await entriesOf(business)).map(({ site }) => site)).toEqual(['https://a.example', 'https://c.example']);
  });

  test('leaves one entry if two requests concurrently remove the last two', async () => {
    const business = await newBusiness({ sites: AB });
    const answers = await Promise.all((await entriesOf(business)).map(({ id }) => remove(business, id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });

  test('is allowed from a page for the page’s own site', async () => {
    const business = await newBusiness({ sites: AB });
    const [own] = await entriesOf(business);
    const visit = { as: business.key, origin: 'https://a.example' };
    const answer = await remove(business, own?.id, visit);
    expect({ status: answer.status, sites: sitesOf(answer) }).toEqual({ status: 200, sites: ['https://b.example'] });
    expect((await call('DELETE', business.access, visit)).status).toBe(403);
  });
});
