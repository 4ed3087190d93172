// Console links (docs/api.md, "Console links"): where their secrets are stored, hostile input, and costs. The simulator (test/sim) checks
// which users can have one, and what the started session may do.
import { eq, isNotNull } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { ALPHABET, sha256Hex } from '../src/core/credential.ts';
import { apiKeys, businesses, codes } from '../src/db/schema.ts';
import { answerOf, granted, invalid } from './answers.ts';
import { BASE, type Business, call, dumpAll, env, homes, newBusiness, newKey, OPERATOR, TODAY } from './support.ts';

const create = (user_id: number, body?: unknown) =>
  call('POST', `/api/v1/user/${user_id}/console-link`, { as: OPERATOR.full, body });
const redeem = (url: string) => call('POST', '/api/v1/session', { body: { code: url.split('#code=')[1] } });

test("a console link's code names the user's database and is stored as a hash, and no log contains it, the return URL or the name", async () => {
  const secrets = { return_url: 'https://product.example/settings', as: 'Anné Müller' };
  for (const _ of homes) {
    const { user_id, home, db, access, key, ...business } = await newBusiness();
    const link = await create(user_id, secrets);
    const url = new RegExp(`^${BASE}/owner#code=${ALPHABET[home.number]}[0-9A-Za-z]{33}$`);
    const expires_at = '2026-03-15T12:02:00.000000Z';
    expect(answerOf(link)).toEqual(granted({ url: expect.stringMatching(url), expires_at }));
    expect(link.cost.round_trips).toBe(2);
    expect(link.cost.rows_read).toBeLessThanOrEqual(30);
    expect(link.cost.rows_written).toBeLessThanOrEqual(6);
    const code = link.body.data.url.slice(-34);
    const [stored] = await db.select().from(codes).where(eq(codes.user_id, user_id));
    expect(stored).toMatchObject({ hash: sha256Hex(code), return_url: secrets.return_url });
    expect(await dumpAll()).not.toContain(code.slice(-8));
    const session = await redeem(link.body.data.url);
    expect(session).toMatchObject({
      status: 200,
      cost: { round_trips: 1 },
      body: { data: { return_url: secrets.return_url } },
    });
    expect(await dumpAll()).not.toContain(secrets.return_url);
    const as = session.body.data.session_key;
    const changed = await call('POST', access, { as, body: { sites: ['https://a.example'] } });
    const logged = JSON.stringify([link, session, changed].map(({ lines }) => lines));
    for (const secret of [code.slice(-6), secrets.return_url, 'Müller']) expect(logged).not.toContain(secret);
    const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: key })).body.data;
    expect(changes).toMatchObject([
      { actor: `console link (…${as.slice(-4)})`, actor_name: secrets.as, key_name: null },
    ]);
  }
});

test('a list of changes names the person only to the owner for whom the link was created', async () => {
  const business = await newBusiness();
  const heir = await newBusiness({ user_id: business.user_id + homes.length * 400_000 }); // in the same database
  const changeAs = async ({ user_id }: Business, as: string) => {
    const { session_key } = (await redeem((await create(user_id, { as })).body.data.url)).body.data;
    const body = { sites: [`https://${as.toLowerCase()}.example`] };
    expect((await call('POST', business.access, { as: session_key, body })).status).toBe(200);
  };
  const give = ({ user_id }: Business) =>
    call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { user_id } });
  const namesTo = async (as: string) => {
    const { body } = await call('GET', `/api/v1/business/${business.id}/changes?action=add_sites`, { as });
    return body.data.changes.map(({ actor_name }: { actor_name: string | null }) => actor_name);
  };
  await changeAs(business, 'Anna');
  expect((await give(heir)).status).toBe(200);
  await changeAs(heir, 'Bert');
  for (const as of [heir.key, OPERATOR.full]) expect(await namesTo(as)).toEqual(['Bert', null]);
  expect((await give(business)).status).toBe(200);
  expect(await namesTo(business.key)).toEqual([null, 'Anna']);
});

test('creating a link requires a business, or a working key for all of them, and reads at most four rows for each key', {
  tags: 'slow',
}, async () => {
  const { user_id: owner } = await newBusiness();
  for (const columns of [
    { revoked_at: '2026-03-01T00:00:00.000000Z' },
    { expires_on: '2026-03-14' },
    { ends_at: '2026-03-16T00:00:00.000000Z' },
    'narrow',
  ] as const) {
    const { id, user_id, home, db } = await newBusiness();
    for (let key = 0; key < 8; key++) await newKey({ user_id, home });
    const set = columns === 'narrow' ? { business_id: id } : columns;
    await db.update(apiKeys).set(set).where(eq(apiKeys.user_id, user_id));
    expect((await create(user_id)).status).toBe(200);
    await db.update(businesses).set({ user_id: owner }).where(eq(businesses.id, id));
    const answer = await create(user_id);
    expect(answerOf(answer)).toEqual({ status: 404, body: { status: false, message: 'User id is not valid' } });
    expect(answer.cost.rows_read).toBeLessThanOrEqual(34 + 4 * 9);
    await newKey({ user_id, home }, { expires_on: TODAY });
    expect((await create(user_id)).status).toBe(200);
  }
});

/** Returns a URL of this length. */
const long = (length: number) => 'https://product.example/'.padEnd(length, 'x');

test.each([
  'https://product.example',
  'https://PRODUCT.example:8443/shops/7?tab=usage&from=a%20b#limits',
  'https://bücher.example/',
  'http://localhost:3000/settings',
  'http://127.0.0.1:3000',
  'http://[::1]:3000/',
  long(2000),
])('the session returns the return_url as it was sent: %s', async (return_url) => {
  const link = await create((await newBusiness()).user_id, { return_url });
  expect((await redeem(link.body.data.url)).body.data.return_url).toBe(return_url);
});

test.each([
  // Scripts and other schemes.
  'javascript:alert(1)',
  'JavaScript:alert(1)//https://product.example',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://product.example/7',
  'file:///etc/passwd',
  'ftp://product.example/',
  // Not encrypted.
  'http://product.example/',
  'http://localhost.product.example/',
  'http://127.0.0.2/',
  // URLs with a user name or password.
  'https://user@product.example/',
  'https://user:password@product.example/',
  'https://@product.example/',
  'http://localhost@product.example/',
  // Relative or incomplete URLs.
  '',
  '/settings',
  '//product.example/settings',
  'product.example',
  'https:product.example',
  'https:///product.example',
  // Characters that the URL parser drops, invisible characters, and URLs that are invalid or too long.
  ' https://product.example/',
  'https://product.example/\n',
  'java\tscript:alert(1)',
  'https://product.example/\u202e',
  'https://product.example/\ud800',
  'https://product.example:65536/',
  long(2001),
  // Not strings.
  7,
  true,
  {},
  ['https://product.example/'],
])('an unsafe return_url is refused and stores nothing: %j', async (return_url) => {
  const { user_id } = await newBusiness();
  const message =
    'return_url must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2000 characters, without credentials, spaces or control characters';
  const answer = await create(user_id, { return_url });
  expect(answerOf(answer)).toEqual(invalid('return_url', message));
  expect(answer.cost.rows_written).toBe(0);
});

test.each(['A', 'é'.repeat(64), 'علی‌رضا', 'שלומית\u200f!', '👩‍🔧 Anna', 'operator (…abcd)'])(
  'the name of a person can be any line of visible text: %s',
  async (as) => {
    expect((await create((await newBusiness()).user_id, { as })).status).toBe(200);
  },
);

test.each([
  '',
  ' ',
  '\u200b',
  '\u2800',
  'x'.repeat(65),
  'a\nb',
  'a\u0000',
  'a\u2028b',
  'a\u202eb',
  'a\u2066b',
  '\ud800',
])('the name of a person cannot be any other text: %j', async (as) => {
  const rule =
    'must be one line of 1 to 64 characters with visible text, and without control characters or direction overrides';
  const answer = await create((await newBusiness()).user_id, { as });
  expect(answerOf(answer)).toEqual(invalid('as', `as ${rule}`));
  expect(answer.cost.rows_written).toBe(0);
});

test("a session key can be a database's first key, and its id is in the database's range", async () => {
  for (const { d1, db, number, binding } of homes) {
    const user_id = 9_997_000 + number;
    await env.DB.prepare(`insert into homes values (?, ?, 0, '2026-01-01T00:00:00.000000Z')`)
      .bind(user_id, number)
      .run();
    await db
      .update(businesses)
      .set({ user_id })
      .where(eq(businesses.id, number * 1_000_000_000 + 1));
    await db.delete(apiKeys);
    await d1.prepare(`delete from sqlite_sequence where name = 'api_keys'`).run();
    expect((await redeem((await create(user_id)).body.data.url)).status).toBe(200);
    const [row] = await db.select({ id: apiKeys.id }).from(apiKeys).where(isNotNull(apiKeys.ends_at));
    expect({ binding, id: row?.id }).toEqual({ binding, id: number * 1_000_000_000 + 1 });
  }
});
