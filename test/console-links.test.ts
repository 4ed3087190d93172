// Console links (docs/api.md, "Console links"): which users can have one, and what the started session may do.
import { eq, isNotNull } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { ALPHABET, sha256Hex } from '../src/core/credential.ts';
import { apiKeys, businesses, codes } from '../src/db/schema.ts';
import { answerOf, granted, invalid, refused, UNAUTHENTICATED } from './answers.ts';
import {
  BASE,
  type Business,
  type CallOptions,
  call,
  dumpAll,
  env,
  homes,
  newBusiness,
  newKey,
  OPERATOR,
} from './support.ts';

const pathOf = (user_id: number | string) => `/api/v1/user/${user_id}/console-link`;
const create = ({ user_id }: { user_id: number | string }, body?: unknown, options: CallOptions = {}) =>
  call('POST', pathOf(user_id), { as: OPERATOR.full, body, ...options });
const redeem = async (url: string, at?: Date) => {
  const code = url.slice(url.indexOf('#code=') + '#code='.length);
  return call('POST', '/api/v1/session', { body: { code }, ...(at && { at }) });
};

describe('a console link', () => {
  test("contains a code that names the user's database, is stored as a hash and works for two minutes", async () => {
    for (const _ of homes) {
      const business = await newBusiness();
      const { status, body, cost, lines } = await create(business);
      expect({ status, body }).toEqual(
        granted({
          url: expect.stringMatching(
            new RegExp(`^${BASE}/owner#code=${ALPHABET[business.home.number]}[0-9A-Za-z]{33}$`),
          ),
          expires_at: '2026-03-15T12:02:00.000000Z',
        }),
      );
      expect(cost).toMatchObject({ round_trips: 2 });
      expect(cost.rows_read).toBeLessThanOrEqual(30);
      expect(cost.rows_written).toBeLessThanOrEqual(6);
      const code = body.data.url.slice(-34);
      expect(lines).toMatchObject([{ operation: 'create_console_link', user_id: business.user_id }]);
      expect(JSON.stringify(lines)).not.toContain(code.slice(-6));
      const stored = await business.db.select().from(codes).where(eq(codes.user_id, business.user_id));
      expect(stored).toEqual([
        {
          ...{ hash: await sha256Hex(code), user_id: business.user_id, business_id: null, role: 'full', minutes: 60 },
          expires_at: '2026-03-15T12:02:00.000000Z',
          return_url: null,
          actor_name: null,
          can_create_keys: null,
        },
      ]);
      expect((await redeem(body.data.url, new Date('2026-03-15T12:02:00.000Z'))).status).toBe(401);
      const session = await redeem(body.data.url, new Date('2026-03-15T12:01:59.999Z'));
      expect(session.body.data).toMatchObject({ expires_at: '2026-03-15T13:01:59.999000Z', read_only: false });
    }
  });

  test.each([
    [{}, false, false, 60],
    [{ role: 'full' }, false, false, 60],
    [{ role: 'read', minutes: 1 }, false, true, 1],
    [{ business_id: 'own', minutes: 1440 }, true, false, 1440],
    [{ business_id: 'own', role: 'read' }, true, true, 60],
  ] as const)(
    'with %j starts a session with exactly that scope, role and duration',
    async (fields, isNarrow, read_only, minutes) => {
      const business = await newBusiness();
      const sibling = await newBusiness({ user_id: business.user_id });
      const body = { ...fields, ...('business_id' in fields ? { business_id: business.id } : {}) };
      const link = await create(business, body);
      expect(link.cost.rows_read).toBeLessThanOrEqual(34);
      const { data } = (await redeem(link.body.data.url)).body;
      const ends = new Date(Date.parse('2026-03-15T12:00:00Z') + minutes * 60_000).toISOString();
      expect(data).toMatchObject({ read_only, expires_at: ends.replace('Z', '000Z') });
      const statusOf = async (method: string, { id }: Business) =>
        (await call(method, `/api/v1/business/${id}/access`, { as: data.session_key })).status;
      expect([await statusOf('GET', business), await statusOf('GET', sibling)]).toEqual([200, isNarrow ? 401 : 200]);
      expect(await statusOf('DELETE', business)).toBe(read_only ? 403 : 200);
    },
  );

  test('with a business_id is created only if the user owns that business', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    const before = await dumpAll();
    const message = `business_id must be a business of user ${business.user_id}`;
    for (const business_id of [other.id, 999_999_999]) {
      const { status, body } = await create(business, { business_id });
      expect({ status, body }).toEqual(invalid('business_id', message));
    }
    expect(await dumpAll()).toBe(before);
  });

  describe('requires a user with a business or a key', () => {
    const unknown = { status: 404, body: { status: false, message: 'User id is not valid' }, round_trips: 2 };
    const answer = async (user: { user_id: number | string }, fields?: object) => {
      const { status, body, cost } = await create(user, fields);
      return { status, body, round_trips: cost.round_trips };
    };
    const remove = async ({ id, name }: Business) => {
      const path = `/api/v1/business/${id}?name=${encodeURIComponent(name)}`;
      expect((await call('DELETE', path, { as: OPERATOR.full })).status).toBe(200);
    };

    test('and is refused for a user without a home', async () => {
      const before = await dumpAll();
      for (const user_id of [9_998_001, 'abc', '0', '01'])
        expect(await answer({ user_id })).toMatchObject({ ...unknown, round_trips: expect.anything() });
      expect(await dumpAll()).toBe(before);
    });

    test.each([
      ['were revoked', { revoked_at: '2026-03-01T00:00:00.000000Z' }],
      ['have expired', { expires_on: '2026-03-14' }],
      ['belong to sessions', { ends_at: '2026-03-16T00:00:00.000000Z' }],
    ])(
      'and is refused for a user whose only business was deleted and whose keys %s',
      { tags: 'slow' },
      async (_, columns) => {
        for (const _ of homes) {
          const business = await newBusiness();
          for (let key = 0; key < 8; key++) await newKey(business);
          await business.db.update(apiKeys).set(columns).where(eq(apiKeys.user_id, business.user_id));
          await newKey(business, { business_id: business.id });
          await remove(business);
          const before = await dumpAll();
          expect((await create(business)).cost.rows_read).toBeLessThanOrEqual(34 + 4 * 9);
          expect(await answer(business)).toEqual(unknown);
          expect(await answer(business, { business_id: business.id })).toEqual(unknown);
          expect(await dumpAll()).toBe(before);
        }
      },
    );

    test('and is refused for a user whose only business was transferred and whose only key was for that business', async () => {
      const [former, owner] = [await newBusiness(), await newBusiness()];
      await former.db.delete(apiKeys).where(eq(apiKeys.user_id, former.user_id));
      await newKey(former, { business_id: former.id });
      await former.db.update(businesses).set({ user_id: owner.user_id }).where(eq(businesses.id, former.id));
      expect(await answer(former)).toEqual(unknown);
    });

    test('and is created for a user with only a key, whose list of businesses is empty', async () => {
      const business = await newBusiness();
      await business.db.update(apiKeys).set({ expires_on: '2026-03-15' }).where(eq(apiKeys.user_id, business.user_id));
      await remove(business);
      const session = await redeem((await create(business)).body.data.url);
      const list = await call('GET', '/api/v1/business', { as: session.body.data.session_key });
      expect(list.body.data).toEqual({ businesses: [], next: null, read_only: false });
      const message = `business_id must be a business of user ${business.user_id}`;
      expect(await answer(business, { business_id: business.id })).toMatchObject(invalid('business_id', message));
    });

    test('and is created for a user with only a business', async () => {
      const business = await newBusiness();
      await business.db.delete(apiKeys).where(eq(apiKeys.user_id, business.user_id));
      expect(await answer(business)).toMatchObject({ status: 200, round_trips: 2 });
    });

    test('and stops working if its business is deleted', async () => {
      const business = await newBusiness();
      const { url } = (await create(business, { business_id: business.id })).body.data;
      await remove(business);
      const before = await dumpAll();
      expect(await redeem(url)).toMatchObject(UNAUTHENTICATED);
      expect(await dumpAll()).toBe(before);
    });
  });

  test.each([
    ['minutes', { minutes: 0 }, 'minutes must be a whole number from 1 to 1440'],
    ['minutes', { minutes: 1441 }, 'minutes must be a whole number from 1 to 1440'],
    ['minutes', { minutes: 1.5 }, 'minutes must be a whole number from 1 to 1440'],
    ['role', { role: 'record' }, 'role must be full or read'],
    [
      'hours',
      { hours: 1 },
      'hours is not a member of this object, which accepts business_id, role, minutes, return_url, as, and can_create_keys',
    ],
  ])('is refused with an invalid %s: %j', async (field, sent, message) => {
    const { status, body } = await create(await newBusiness(), sent);
    expect({ status, body }).toEqual(invalid(field, message));
  });

  describe('with a return_url', () => {
    /** Returns a URL of this length. */
    const long = (length: number) => 'https://product.example/'.padEnd(length, 'x');
    const stored = async ({ db, user_id }: Business) =>
      (await db.select({ return_url: codes.return_url }).from(codes).where(eq(codes.user_id, user_id))).map(
        ({ return_url }) => return_url,
      );

    test.each([
      'https://product.example',
      'https://PRODUCT.example:8443/shops/7?tab=usage&from=a%20b#limits',
      'https://bücher.example/',
      'http://localhost:3000/settings',
      'http://127.0.0.1:3000',
      'http://[::1]:3000/',
      long(2000),
    ])(
      'stores it unchanged with the code, returns it once with the session, then deletes it: %s',
      { tags: 'slow' },
      async (return_url) => {
        for (const _ of homes) {
          const business = await newBusiness();
          const [plain, link] = [await create(business, {}), await create(business, { return_url })];
          expect(link).toMatchObject({ status: 200, cost: { ...plain.cost, ms: expect.any(Number) } });
          expect(link.text).not.toContain('return_url');
          expect(JSON.stringify(link.lines)).not.toContain(return_url);
          expect(new Set(await stored(business))).toEqual(new Set([null, return_url]));
          const [without, session] = [await redeem(plain.body.data.url), await redeem(link.body.data.url)];
          expect(without.body.data.return_url).toBeNull();
          const { session_key } = session.body.data;
          expect(answerOf(session)).toEqual(
            granted({
              ...{ session_key, expires_at: '2026-03-15T13:00:00.000000Z', return_url },
              ...{ user_id: business.user_id, read_only: false, can_create_keys: false },
            }),
          );
          const { round_trips, rows_written } = without.cost;
          expect(session.cost).toMatchObject({ round_trips, rows_written });
          expect(JSON.stringify(session.lines)).not.toContain(return_url);
          expect(await dumpAll()).not.toContain(return_url);
          expect(answerOf(await redeem(link.body.data.url))).toEqual(UNAUTHENTICATED);
        }
      },
    );

    test.each([{}, { return_url: null }])('that is null or missing stores and returns null: %j', async (sent) => {
      const business = await newBusiness();
      const link = await create(business, sent);
      expect(await stored(business)).toEqual([null]);
      expect((await redeem(link.body.data.url)).body.data.return_url).toBeNull();
    });

    test('returns it to only one of twenty concurrent callers', async () => {
      const business = await newBusiness();
      const return_url = 'https://product.example/once';
      const { url } = (await create(business, { return_url })).body.data;
      const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(url)));
      expect(answers.filter(({ text }) => text.includes(return_url))).toHaveLength(1);
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
    ])('that is unsafe is refused and stores nothing: %j', { tags: 'slow' }, async (return_url) => {
      const business = await newBusiness();
      const before = await dumpAll();
      const { status, body } = await create(business, { return_url });
      const message =
        'return_url must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2000 characters, without credentials, spaces or control characters';
      expect({ status, body }).toEqual(invalid('return_url', message));
      expect(await dumpAll()).toBe(before);
    });
  });

  describe('with `as`', () => {
    const linked = async (business: Business, body: object) =>
      (await redeem((await create(business, body)).body.data.url)).body.data.session_key as string;
    const addSite = (business: Business, as: string, site: string) =>
      call('POST', business.access, { as, body: { sites: [site] } });
    const listed = async ({ id }: Business, as: string) => {
      const { body } = await call('GET', `/api/v1/business/${id}/changes?action=add_sites`, { as });
      return body.data.changes.map(({ actor, actor_name, key_name }: Record<string, string>) => ({
        ...{ actor, actor_name, key_name },
      }));
    };
    const linkOf = (session: string) => ({ actor: `console link (…${session.slice(-4)})`, key_name: null });

    test('names the person in the changes that its session makes, in a field of its own', async () => {
      for (const _ of homes) {
        const business = await newBusiness();
        const link = await create(business, { as: ' Ann\u00e9 Müller ', minutes: 5 });
        expect(JSON.stringify([link.text, link.lines])).not.toContain('Müller');
        const session = await redeem(link.body.data.url);
        expect(session.cost).toMatchObject({ round_trips: 1 });
        expect(JSON.stringify([session.text, session.lines])).not.toContain('Müller');
        const { session_key } = session.body.data;
        const other = await linked(business, {});
        const changed = await addSite(business, session_key, 'https://a.example');
        const { rows_written } = (await addSite(business, other, 'https://b.example')).cost;
        expect(changed.cost.rows_written).toBe(rows_written + 1);
        for (const as of [business.key, session_key, OPERATOR.full])
          expect(await listed(business, as)).toEqual([
            { ...linkOf(other), actor_name: null },
            { ...linkOf(session_key), actor_name: 'Anné Müller' },
          ]);
      }
    });

    test('names the person only to the owner for whom the link was created', async () => {
      const business = await newBusiness();
      const heir = await newBusiness({ user_id: business.user_id + homes.length * 400_000 });
      const session = await linked(business, { as: 'Anna' });
      await addSite(business, session, 'https://a.example');
      const give = ({ user_id }: Business) =>
        call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { user_id } });
      expect((await give(heir)).status).toBe(200);
      const ofHeir = await linked(heir, { as: 'Bert', business_id: business.id });
      await addSite(business, ofHeir, 'https://b.example');
      for (const as of [heir.key, OPERATOR.full])
        expect(await listed(business, as)).toEqual([
          { ...linkOf(ofHeir), actor_name: 'Bert' },
          { ...linkOf(session), actor_name: null },
        ]);
      expect((await give(business)).status).toBe(200);
      expect(await listed(business, business.key)).toEqual([
        { ...linkOf(ofHeir), actor_name: null },
        { ...linkOf(session), actor_name: 'Anna' },
      ]);
    });

    test.each(['A', 'é'.repeat(64), 'علی‌رضا', 'שלומית\u200f!', '👩‍🔧 Anna', 'operator (…abcd)'])(
      'can be any line of visible text, and leaves the actor as it is: %s',
      async (as) => {
        const business = await newBusiness();
        const session = await linked(business, { as });
        await addSite(business, session, 'https://a.example');
        expect(await listed(business, business.key)).toEqual([{ ...linkOf(session), actor_name: as }]);
      },
    );

    test.each([
      ...['', ' ', '\u200b', '\u2800', 'x'.repeat(65), 'a\nb', 'a\u0000', 'a\u2028b', 'a\u202eb', 'a\u2066b', '\ud800'],
      ...[7, true, null, {}, ['Anna']],
    ])('that is not such a line is refused, and stores nothing: %j', async (as) => {
      const business = await newBusiness();
      const before = await dumpAll();
      const rule =
        'must be one line of 1 to 64 characters with visible text, and without control characters or direction overrides';
      expect(answerOf(await create(business, { as }))).toEqual(invalid('as', `as ${rule}`));
      expect(await dumpAll()).toBe(before);
    });
  });

  test('is created only with a full operator key', async () => {
    const business = await newBusiness();
    const reader = await newKey(business, { role: 'read' });
    const before = await dumpAll();
    const onlyOperator = 'Only the operator can create console links.';
    for (const [as, message] of [
      [business.key, onlyOperator],
      [reader.key, onlyOperator],
      [business.token, onlyOperator],
      [OPERATOR.record, 'This operator key can only record.'],
    ] as const) {
      const { status, body } = await create(business, {}, { as });
      expect({ status, body }).toEqual(refused(message));
    }
    expect(await dumpAll()).toBe(before);
  });
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
    expect((await redeem((await create({ user_id })).body.data.url)).status).toBe(200);
    const [row] = await db.select({ id: apiKeys.id }).from(apiKeys).where(isNotNull(apiKeys.ends_at));
    expect({ binding, id: row?.id }).toEqual({ binding, id: number * 1_000_000_000 + 1 });
  }
});
