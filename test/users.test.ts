// The erasure of a user leaves no trace, and waits for what may be in flight. The table in docs/operating.md, "Personal data", lists what is
// stored.
import { beforeEach, describe, expect, test } from 'vitest';
import operating from '../docs/operating.md?raw';
import { formatTimestamp } from '../src/core/time.ts';
import { alerts } from '../src/db/schema.ts';
import { claimHome } from '../src/homes/homes.ts';
import { purge } from '../src/purge.ts';
import { boundTo } from './ask.ts';
import { NEW_BUSINESS } from './routes.ts';
import {
  call,
  databases,
  dumpAll,
  env,
  type Home,
  homes,
  INSERT_CHANGES,
  later,
  NOW,
  OPERATOR,
  withBatch,
} from './support.ts';

// A run sends the alerts of every business, so each test starts without alerts.
beforeEach(async () => {
  for (const { db } of homes) await db.delete(alerts);
});

const HOUR_MS = 3_600_000;
/** The time of erasures, more than a minute after the last creation. */
const LATER = later(HOUR_MS);

/** The tables that the documentation lists. */
const [, table = ''] = /\n(\| `businesses`, .*?)\n\n/s.exec(operating) ?? [];
const LISTED = table
  .split('\n')
  .flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
const COLUMNS = `select tables.name || '.' || columns.name as name from sqlite_master as tables, pragma_table_xinfo(tables.name) as columns
  where tables.type = 'table' and tables.name not like 'sqlite_%' and tables.name not like 'd1_%' and tables.name not like '_cf_%'`;

test('the table of personal data in docs/operating.md lists every table exactly once', async () => {
  const { results } = await env.DB.prepare(COLUMNS).all<{ name: string }>();
  expect(LISTED.sort()).toEqual([...new Set(results.map(({ name }) => name.split('.')[0]))].sort());
});

const operate = async (method: string, path: string, body?: object, at = NOW, bindings?: object) =>
  call(method, `/api/v1${path}`, { as: OPERATOR.full, body, at, bindings });
async function done(...request: Parameters<typeof operate>) {
  const answer = await operate(...request);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}
const erase = (user_id: number, at = LATER, bindings?: object) =>
  operate('DELETE', `/user/${user_id}`, undefined, at, bindings);

const { user_id: _, ...OTHERS } = NEW_BUSINESS;

/**
 * Creates a user with rows in every table. The user has two businesses, one of which was transferred from another user. A third business
 * was transferred to another user, who has keys for it, and a fourth was deleted.
 */
async function newUser(user_id: number, number: number, word = 'Zyxomma') {
  const [home, other] = [homes[number] as Home, user_id + 111];
  const host = `${word.toLowerCase()}.example`;
  const FIELDS = { ...OTHERS, name: `${word} Ltd`, main_domain: host, site: `https://${host}` };
  const imported = `Imported-token-of-user-${user_id}`;
  const limits = { monthly_limit: 10, alert_at: [90] };
  const own = { ...FIELDS, ...limits, user_id, database: number, token: imported, sites: [`https://${host}`] };
  const { id } = await done('POST', '/business', own);
  const given = await done('POST', '/business', { ...FIELDS, user_id });
  const received = await done('POST', '/business', { ...OTHERS, user_id: other, database: number, monthly_limit: 10 });
  const theirs = await done('POST', '/business', { ...OTHERS, user_id: other, monthly_limit: 10 });
  const gone = await done('POST', '/business', { ...FIELDS, user_id, name: `${word} gone` });
  const key = await done('POST', `/user/${user_id}/keys`, { name: `${word} server` });
  const narrow = await done('POST', `/user/${user_id}/keys`, { name: `${word} laptop`, business_id: given.id });
  const phone = { name: `${word} phone`, business_id: id, role: 'record' };
  const revoked = await done('POST', `/user/${user_id}/keys`, phone);
  await done('DELETE', `/user/${user_id}/keys/${revoked.id}`);
  const body = { sites: ['https://b.example'] };
  await call('POST', `/api/v1/business/${given.id}/access`, { as: narrow.api_key, body });
  await call('POST', '/api/v1/session', { as: key.api_key });
  const named = { as: `${word} Anna` };
  const opened = await done('POST', `/user/${user_id}/console-link`, named);
  const lost = await done('POST', `/user/${user_id}/keys`, { name: `${word} tablet`, business_id: given.id });
  await done('DELETE', `/user/${user_id}/keys/${lost.id}`);
  const administers = await done('POST', `/user/${user_id}/console-link`, { ...named, can_create_keys: true });
  const session = await call('POST', '/api/v1/session', { body: { code: administers.url.split('=')[1] } });
  const agency = { name: `${word} agency`, business_id: given.id, role: 'read', expires_on: '2026-04-15' };
  await call('POST', `/api/v1/user/${user_id}/keys`, { as: session.body.data.session_key, body: agency });
  const { session_key } = (await call('POST', '/api/v1/session', { body: { code: opened.url.split('=')[1] } })).body
    .data;
  for (const business of [id, given.id, gone.id])
    await call('POST', `/api/v1/business/${business}/access`, {
      as: session_key,
      body: { sites: ['https://c.example'] },
    });
  const link = { minutes: 5, return_url: `https://shop.${host}/settings`, ...named };
  await done('POST', `/user/${user_id}/console-link`, link);
  await done('POST', `/business/${id}/token`, { keep_old: '2d' });
  const { token } = await done('POST', `/business/${id}/token`, { keep_old: '1d' });
  for (const business of [id, received.id, theirs.id, gone.id])
    await done('POST', `/business/usage/${business}`, { uses: [{ id: 'order-1', quantity: 9 }] });
  await call('GET', `/api/v1/business/usage/${id}`, { as: token, origin: `https://shop.${host}` });
  await done('PATCH', `/business/${id}`, { billing_day: 15 });
  await done('PUT', `/business/${id}/history`, { days: [{ date: '2026-03-14', count: 3 }] });
  const { name, main_domain, site } = OTHERS;
  await done('PATCH', `/business/${given.id}`, { user_id: other, name, main_domain, site });
  for (const role of ['read', 'record']) {
    const heir = await done('POST', `/user/${other}/keys`, { name: `Heir ${other}`, business_id: given.id, role });
    if (role === 'read') await done('DELETE', `/user/${other}/keys/${heir.id}`);
  }
  await done('PATCH', `/business/${received.id}`, { user_id });
  await done('PATCH', `/business/${gone.id}`, { name: `${word} lost` });
  await done('DELETE', `/business/${gone.id}?name=${word}%20lost`);
  const ids = { id, given: given.id, received: received.id, gone: gone.id, theirs: theirs.id };
  return { ...ids, user_id, word, other, home, imported };
}
type User = Awaited<ReturnType<typeof newUser>>;
const deleteBusinesses = async ({ id, received, word }: User) => {
  await done('DELETE', `/business/${id}?name=${word}%20Ltd`);
  await done('DELETE', `/business/${received}?name=Acme`);
};

/** Returns the matching values in all databases, each with its binding, `table.column` and row. */
async function found(pattern: RegExp): Promise<string[]> {
  const { results } = await env.DB.prepare(COLUMNS).all<{ name: string }>();
  const all = await Promise.all(
    homes.flatMap(({ d1, binding }) =>
      [...new Set(results.map(({ name }) => name.split('.')[0] ?? ''))].map(async (name) => {
        const rows = (await d1.prepare(`select * from "${name}"`).all()).results;
        return rows.flatMap((row) =>
          Object.entries(row).flatMap(([column, value]) =>
            pattern.test(JSON.stringify(value)) ? [`${binding} ${name}.${column} ${JSON.stringify(row)}`] : [],
          ),
        );
      }),
    ),
  );
  return all.flat();
}
/** Returns where the values are: table and column, and of a change also the action. */
const placesOf = (rows: string[]) => {
  const places = rows.map((row) => {
    const [, column, ...rest] = row.split(' ');
    const { action } = JSON.parse(rest.join(' '));
    return action === undefined ? column : `${column} of ${action}`;
  });
  return [...new Set(places)].sort();
};

/** Purges the remaining rows of deleted businesses, except for one change each. */
async function purgeAll(): Promise<void> {
  for (const { db } of homes) for (const minute of [2, 8]) await purge(db, new Date(Date.UTC(2026, 2, 15, 13, minute)));
}

/** Every place of a user's data after the user's businesses were deleted. */
const PLACES = [
  'api_keys.actor_name',
  'api_keys.created_by_name',
  'api_keys.name',
  'api_keys.user_id',
  'changes.actor_name of add_sites',
  'changes.actor_name of create_key',
  'changes.actor_user_id of add_sites',
  'changes.actor_user_id of create_key',
  'changes.after of create_business',
  'changes.after of create_key',
  'changes.after of update_business',
  'changes.before of delete_business',
  'changes.before of revoke_key',
  'changes.before of update_business',
  'changes.subject_id of create_key',
  'codes.actor_name',
  'codes.return_url',
  'codes.user_id',
  'homes.user_id',
  'imported_tokens.user_id',
  'work.user_id',
];

const isWrite = (sql: string) => /^(update|delete)\b/i.test(sql);
/** Databases that skip one write of a request, counted from 0. `skipping` counts the writes. */
function skipping(index: number) {
  let count = 0;
  const writes = new Set<D1PreparedStatement>();
  const bindings = databases((d1) =>
    withBatch(
      d1,
      (_, statements) =>
        d1.batch(
          statements.map((one) => (writes.has(one) && count++ === index ? d1.prepare('select 1 where false') : one)),
        ),
      (sql) => ({
        bind(...values: unknown[]) {
          const statement = d1.prepare(sql).bind(...values);
          if (isWrite(sql)) writes.add(statement);
          return statement;
        },
      }),
    ),
  );
  return { bindings, count: () => count };
}

describe('an erasure', () => {
  test('leaves no trace of the user in any database', async () => {
    const user = await newUser(770_077_010, 1, 'Quixotry');
    await deleteBusinesses(user);
    const names = /770077010|quixotry/i;
    expect(placesOf(await found(names))).toEqual(PLACES);
    const answer = await erase(user.user_id);
    expect(answer).toMatchObject({ status: 200, body: { status: true, data: { erased: { user_id: user.user_id } } } });
    expect(await found(names)).toEqual([]);
  });

  test('keeps what names the users who received businesses, and all others, except in changes of deleted businesses', async () => {
    const user = await newUser(770_077_030, 1, 'Wysiwygic');
    await newUser(770_077_050, 1, 'Yttrific');
    await deleteBusinesses(user);
    const others = new RegExp(`${user.other}|770077050|yttrific`, 'i');
    const kept = async () => {
      const rows = await found(others);
      const isKept = (row: string) => !row.includes(`"subject_id":${user.received},`);
      // The change that transferred a business keeps the side of the other user only.
      return rows.filter(isKept).map((row) => row.replace(/"before":"[^}]*770077030[^}]*}"/, '"before":null'));
    };
    const before = await kept();
    expect(placesOf(before)).toEqual(
      expect.arrayContaining([...PLACES, 'businesses.user_id', 'businesses.name', 'seen_origins.origin']),
    );
    expect((await erase(user.user_id)).status).toBe(200);
    expect(await kept()).toEqual(before);
  });

  /** The writes of an erasure, in their order, and what stays without each. The home that stays says that the erasure is not complete. */
  const WRITES: [write: string, left: string[], status?: number][] = [
    [
      'deletes the changes of deleted businesses',
      [
        'changes.after of create_key',
        'changes.after of update_business',
        'changes.before of revoke_key',
        'changes.before of update_business',
      ],
    ],
    [
      'clears the values that name the user',
      [
        'changes.after of create_business',
        'changes.after of update_business',
        'changes.before of delete_business',
        'changes.before of update_business',
      ],
    ],
    [
      'removes the names of keys from the changes of transferred businesses',
      ['changes.after of create_key', 'changes.before of revoke_key'],
    ],
    [
      'removes the names of people from changes',
      [
        'changes.actor_name of add_sites',
        'changes.actor_name of create_key',
        'changes.actor_user_id of add_sites',
        'changes.actor_user_id of create_key',
      ],
    ],
    ['deletes the changes to keys', ['changes.after of create_key', 'changes.subject_id of create_key']],
    ['deletes console links', ['codes.actor_name', 'codes.return_url', 'codes.user_id']],
    [
      'deletes keys and sessions',
      ['api_keys.actor_name', 'api_keys.created_by_name', 'api_keys.name', 'api_keys.user_id'],
    ],
    ['deletes what the user’s calls have taken of the database', ['work.user_id']],
    ['deletes the home', ['homes.user_id', 'imported_tokens.user_id'], 422],
    ['removes the user from imported tokens', ['imported_tokens.user_id']],
  ];
  test.each(WRITES.map(([write, left, status = 200], index) => ({ write, left, status, index })))(
    'leaves traces unless it $write',
    { tags: 'slow' },
    async ({ index, left, status }) => {
      const word = `Jabberwock${'abcdefghi'[index]}`;
      const user = await newUser(770_079_010 + 200 * index, 1, word);
      await deleteBusinesses(user);
      const answer = await erase(user.user_id, LATER, skipping(index).bindings);
      const places = placesOf(await found(new RegExp(`${user.user_id}|${word}`, 'i')));
      expect({ places, status: answer.status }).toEqual({ places: left, status });
    },
  );

  test('makes no other write: a new one needs a row in WRITES', async () => {
    const user = await newUser(770_081_010, 1);
    await deleteBusinesses(user);
    const { bindings, count } = skipping(-1);
    await erase(user.user_id, LATER, bindings);
    expect(count()).toBe(WRITES.length);
  });

  test('deletes the changes of deleted businesses in batches of 8,000, so that other requests do not wait', {
    tags: 'slow',
  }, async () => {
    const [user_id, { d1 }] = [770_077_170, homes[1] as Home];
    const { id } = await done('POST', '/business', { ...OTHERS, user_id, database: 1 });
    const rows = `${INSERT_CHANGES} with recursive n(i) as (select 2 union all select i + 1 from n where i <= 20000)
      select 'business', ${id}, i, '${formatTimestamp(NOW)}', 'operator (…abcd)', 'create_key', null, '{"name":"Flibbertigibbet"}' from n`;
    await d1.prepare(rows).run();
    await done('DELETE', `/business/${id}?name=Acme`);
    const { status, cost } = await erase(user_id);
    expect({ status, round_trips: cost.round_trips }).toEqual({ status: 200, round_trips: 2 + 3 });
    expect(await found(/770077170|flibbertigibbet/i)).toEqual([]);
  });

  test('leaves no trace in a closed business that the operator took over for its last invoice, as docs/operating.md says', async () => {
    const [, section = ''] = /\n### Erasing a user\n(.*?)\n### /s.exec(operating) ?? [];
    const [, cleared = ''] = /--command "\n(.*?)"\n/s.exec(section) ?? [];
    const [, forgotten = ''] = /`(delete from ledger .*?)`/.exec(section) ?? [];
    const [, fields = ''] = /`business update 5 (.*?)`/.exec(section) ?? [];
    const [user_id, number, word] = [770_077_190, 1, 'Syzygial'];
    const host = `https://${word.toLowerCase()}.example`;
    const sites = [host, `${host}:8443`];
    const own = { name: word, main_domain: host.slice(8), site: host, sites, monthly_limit: 10, alert_at: [50] };
    const { id, token } = await done('POST', '/business', { ...OTHERS, ...own, user_id, database: number });
    const path = `/api/v1/business/usage/${id}`;
    await call('POST', path, { as: token, origin: host });
    await done('POST', `/business/usage/${id}`, { uses: [{ id: `${word}-1`, quantity: 9, label: word }] });
    await call('GET', path, { as: token, origin: `https://shop.${host.slice(8)}` });
    await done('PATCH', `/business/${id}`, { name: `${word} Ltd` });
    await done('POST', `/user/${user_id}/keys`, { name: word, business_id: id });
    const invoiceOf = async (owner: number) => {
      const path = `/usage?ended=2026-03-31&user_id=${owner}`;
      return (await operate('GET', path, undefined, later(20 * 24 * HOUR_MS))).body.data.usage;
    };
    expect(await invoiceOf(user_id)).toMatchObject([{ business_id: id, count: 10 }]);

    await operate('DELETE', `/business/${id}/access`);
    await operate('DELETE', `/business/${id}/access/refused`);
    const options = [...fields.matchAll(/--(\S+) (\S+)/g)].map(([, option = '', value = '']): [string, unknown] =>
      option === 'user' ? ['user_id', Number(value)] : [option.replace('-', '_'), value],
    );
    await done('PATCH', `/business/${id}`, Object.fromEntries(options));
    const { d1 } = homes[number] as Home;
    const execute = async (sql: string) => {
      for (const one of sql.replace(/\b5\b/g, `${id}`).split(';')) await d1.prepare(one).run();
    };
    await execute(cleared);
    expect((await erase(user_id)).status).toBe(200);
    expect(await found(/770077190|syzygial/i)).toEqual([]);
    expect(await invoiceOf(9999)).toMatchObject([{ business_id: id, name: 'Closed', count: 10, final: false }]);

    await done('DELETE', `/business/${id}?name=Closed`);
    const ids = async () =>
      (await d1
        .prepare('select count(*) as count from ledger where business_id = ?')
        .bind(id)
        .first<number>('count')) ?? 0;
    expect(await ids()).toBe(1);
    await execute(forgotten);
    expect([await ids(), await invoiceOf(9999)]).toEqual([0, []]);
  });

  test('covers every database if the user has no home, for example after a restore of only DB', {
    tags: 'slow',
  }, async () => {
    const user = await newUser(770_077_130, 1, 'Vortexian');
    await deleteBusinesses(user);
    await env.DB.prepare('delete from homes where user_id = ?').bind(user.user_id).run();
    expect((await erase(user.user_id)).status).toBe(200);
    await purgeAll();
    expect(await found(/770077130|vortexian/i)).toEqual([]);
  });

  test('does not delete a key that was created in the last minute', async () => {
    const user_id = 770_077_150;
    await done('POST', `/user/${user_id}/keys`);
    // Simulates a key that is created after the request has read the home but before its erasing batch runs.
    const longAgo = formatTimestamp(later(-60_000));
    await env.DB.prepare('update homes set claimed_at = ? where user_id = ?').bind(longAgo, user_id).run();
    const before = await dumpAll();
    expect((await erase(user_id, later(59_000))).status).toBe(422);
    expect(await dumpAll()).toBe(before);
    expect((await erase(user_id, later(61_000))).status).toBe(200);
  });

  const RECENT = 'user_id must be a user for whom nothing was created in the last minute: retry later';
  test.each<[string, number, (user_id: number) => Promise<unknown>]>([
    ['a key was created', 770_078_100, (user_id) => done('POST', `/user/${user_id}/keys`)],
    ['a creation claimed the home', 770_078_200, (user_id) => claimHome(boundTo(homes, NOW), user_id)],
    [
      'a business was transferred to the user and then to another user',
      770_078_300,
      async (user_id) => {
        const { id } = await done('POST', '/business', { ...OTHERS, user_id: user_id + 1000, database: 0 });
        await done('POST', '/business', { ...OTHERS, user_id: user_id + 2000, database: 0 });
        for (const owner of [user_id, user_id + 2000]) await done('PATCH', `/business/${id}`, { user_id: owner });
      },
    ],
  ])(
    'is refused for a minute after %s, because a batch may be in flight',
    { tags: 'slow' },
    async (_, user_id, create) => {
      await create(user_id);
      const before = await dumpAll();
      const refused = await erase(user_id, later(59_999));
      expect([refused.status, refused.body.message]).toEqual([422, RECENT]);
      expect(await dumpAll()).toBe(before);
      expect((await erase(user_id, later(60_000))).status).toBe(200);
      expect(await found(new RegExp(`${user_id}`))).toEqual([]);
    },
  );
});
