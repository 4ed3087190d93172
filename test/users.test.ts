// The export and erasure of a user. The table in docs/operating.md, "Personal data", specifies both for each column.
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import operating from '../docs/operating.md?raw';
import { formatTimestamp } from '../src/core/time.ts';
import { claimHome } from '../src/db/homes.ts';
import { events } from '../src/db/schema.ts';
import { purge } from '../src/purge.ts';
import { answerOf, invalid } from './answers.ts';
import { boundTo } from './ask.ts';
import { NEW_BUSINESS } from './routes.ts';
import { call, dumpAll, env, type Home, homes, INSERT_CHANGES, later, NOW, OPERATOR } from './support.ts';

// A run sends the events of every business, so each test starts without events.
beforeEach(async () => {
  for (const { db } of homes) await db.delete(events);
});

const HOUR_MS = 3_600_000;
/** The time of erasures, more than a minute after the last creation. */
const LATER = later(HOUR_MS);

/** The table in the documentation, with one entry per database column. */
const [, table = ''] = /\n(\| `businesses` \| `id`, .*?)\n\n/s.exec(operating) ?? [];
const DECISIONS = table.split('\n').flatMap((line) => {
  const [name = '', columns = '', , , exported = ''] = line.slice('| '.length, -' |'.length).split(' | ');
  const codesIn = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
  return codesIn(columns).map((column) => ({ table: codesIn(name)[0] ?? '', column, exported: codesIn(exported) }));
});
const COLUMNS = `select tables.name || '.' || columns.name as name from sqlite_master as tables, pragma_table_xinfo(tables.name) as columns
  where tables.type = 'table' and tables.name not like 'sqlite_%' and tables.name not like 'd1_%' and tables.name not like '_cf_%'`;

test('the table of personal data in docs/operating.md lists every column of every table exactly once', async () => {
  const { results } = await env.DB.prepare(COLUMNS).all<{ name: string }>();
  expect(DECISIONS.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(
    results.map(({ name }) => name).sort(),
  );
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

type Line = { type: string; [field: string]: unknown };
/** Reads all pages of an export. Returns the lines, the pages and the cost of each page. */
async function exported(user_id: number, at = NOW) {
  const pages: Line[][] = [];
  const costs: { path: string; round_trips: number; rows_read: number; rows_written: number }[] = [];
  for (let path: string | undefined = `/user/${user_id}/export`; path !== undefined; ) {
    const { status, headers, text, cost } = await operate('GET', path, undefined, at);
    expect([status, headers.get('Content-Type')]).toEqual([200, 'application/x-ndjson']);
    expect(text).toMatch(/^(\{.*\}\n)*$/);
    pages.push(Array.from(text.matchAll(/.+/g), ([line]) => JSON.parse(line)));
    costs.push({ path, ...cost });
    path = /^<https:\/\/service\.example\/api\/v1(.*)>; rel="next"$/.exec(headers.get('Link') ?? '')?.[1];
  }
  return { lines: pages.flat(), pages, costs };
}

const { user_id: _, ...OTHERS } = NEW_BUSINESS;

/**
 * Creates a user with rows in every table. The user has two businesses, one of which was transferred from another user. A third business
 * was transferred to another user, and a fourth was deleted.
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
  const session = await call('POST', '/api/v1/session', { as: key.api_key });
  const named = { as: `${word} Anna` };
  const opened = await done('POST', `/user/${user_id}/console-link`, named);
  const { session_key } = (await call('POST', '/api/v1/session', { body: { code: opened.url.split('=')[1] } })).body
    .data;
  for (const business of [id, given.id, gone.id])
    await call('POST', `/api/v1/business/${business}/access`, {
      as: session_key,
      body: { sites: ['https://c.example'] },
    });
  const link = { minutes: 5, return_url: `https://shop.${host}/settings`, ...named };
  const { url } = await done('POST', `/user/${user_id}/console-link`, link);
  await done('POST', `/business/${id}/token`, { keep_old: '2d' });
  const { token } = await done('POST', `/business/${id}/token`, { keep_old: '1d' });
  for (const business of [id, received.id, theirs.id, gone.id])
    await done('POST', `/business/usage/${business}`, { uses: [{ id: 'order-1', quantity: 9 }] });
  await call('GET', `/api/v1/business/usage/${id}`, { as: token, origin: `https://shop.${host}` });
  await done('PATCH', `/business/${id}`, { billing_day: 15 });
  await done('PUT', `/business/${id}/history`, { days: [{ date: '2026-03-14', count: 3 }] });
  const { name, main_domain, site } = OTHERS;
  await done('PATCH', `/business/${given.id}`, { user_id: other, name, main_domain, site });
  await done('PATCH', `/business/${received.id}`, { user_id });
  await done('PATCH', `/business/${gone.id}`, { name: `${word} lost` });
  await done('DELETE', `/business/${gone.id}?name=${word}%20lost`);
  const secrets = [
    imported,
    token,
    key.api_key,
    narrow.api_key,
    session.body.data.session_key,
    session_key,
    url.split('=')[1],
  ];
  const ids = { id, given: given.id, received: received.id, gone: gone.id, theirs: theirs.id };
  return { ...ids, user_id, word, other, home, imported, secrets };
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
const columnsOf = (rows: string[]) => [...new Set(rows.map((row) => row.split(' ')[1]))].sort();

describe('an export', () => {
  test('contains each of the user’s rows with the documented columns, and nothing else', async () => {
    const user = await newUser(770_077_007, 2);
    const { user_id, id, received, given, gone, home, other } = user;
    const { lines, pages } = await exported(user_id);
    expect(pages).toHaveLength(1);

    const businesses = `(${id}, ${received})`;
    const last_four = ({ token }: Line) => `…${`${token}`.slice(-4)}`;
    const business = (row: Line) => ({
      ...row,
      token: last_four(row),
      alert_at: JSON.parse(`${row.alert_at ?? '[80,100]'}`),
    });
    const key = ({ ends_at, session_of, actor_name, ...row }: Line) => ({
      ...row,
      ...(ends_at !== null && { ends_at, session_of, actor_name }),
      read_only: row.role === 'read',
    });
    const shown = (text: unknown) => {
      const side = JSON.parse(`${text}`);
      return side?.user_id !== undefined && side.user_id !== user_id ? null : side;
    };
    const change = ({ subject, subject_id, before, after, ...row }: Line) => ({
      ...row,
      business_id: subject === 'business' ? subject_id : null,
      before: shown(before),
      after: shown(after),
    });
    const named = `subject = 'business' and subject_id in (${given}, ${gone}) and (before ->> 'user_id' = ${user_id} or after ->> 'user_id' = ${user_id})`;
    /** For each table, the condition that selects the user's rows, their line types, and the conversion of a row to a line. */
    const TABLES: Record<string, [where: string, types: string[], lineOf?: (row: Line) => object]> = {
      businesses: [`user_id = ${user_id}`, ['business'], business],
      access: [`business_id in ${businesses}`, ['site']],
      daily_usage: [`business_id in ${businesses}`, ['count'], ({ day, ...row }) => ({ ...row, date: day })],
      billing_changes: [`business_id in ${businesses}`, ['billing_change']],
      imported_days: [`business_id in ${businesses}`, ['imported_day'], ({ day, ...row }) => ({ ...row, date: day })],
      refused_origins: [`business_id in ${businesses}`, ['refused_origin']],
      events: [`business_id in ${businesses}`, ['alert']],
      changes: [
        `subject = 'business' and subject_id in ${businesses} or subject = 'user' and subject_id = ${user_id} or ${named}`,
        ['change'],
        change,
      ],
      api_keys: [`user_id = ${user_id}`, ['key', 'session'], key],
      codes: [`user_id = ${user_id}`, ['code'], ({ role, ...row }) => ({ ...row, read_only: role === 'read' })],
    };
    for (const [table, [where, types, lineOf = (row: Line) => row]] of Object.entries(TABLES)) {
      const columns = DECISIONS.filter((decision) => decision.table === table && decision.exported.length > 0);
      expect([...new Set(columns.flatMap(({ exported }) => exported))]).toEqual(types);
      const shown = columns.map(({ column }) => `"${column}"`).join(', ');
      const { results } = await home.d1.prepare(`select ${shown} from ${table} where ${where}`).all<Line>();
      expect(results.length, table).toBeGreaterThan(0);
      const without = ({ type: _, former_tokens: __, ...line }: Line) => line;
      const exportedRows = lines.filter(({ type }) => types.includes(type)).map(without);
      expect(new Set(exportedRows)).toEqual(new Set(results.map(lineOf)));
      expect(exportedRows).toHaveLength(results.length);
    }
    const former = await home.d1
      .prepare(`select token, expires_at from former_tokens where business_id = ${id} order by place`)
      .all<Line>();
    expect(former.results).toHaveLength(2);
    expect(lines.find((line) => line.type === 'business' && line.id === id)?.former_tokens).toEqual(
      former.results.map(({ token, expires_at }) => ({ last_four: `${token}`.slice(-4), expires_at })),
    );
    const stored = await env.DB.prepare(`select * from homes where user_id = ${user_id}`).first();
    expect(lines[0]).toEqual({ type: 'user', ...stored, imported_tokens: 1 });
    expect(lines.at(-1)).toEqual({ type: 'end' });
    const types = [...new Set(DECISIONS.flatMap(({ exported }) => exported))];
    expect([...new Set(lines.map(({ type }) => type))].sort()).toEqual([...types, 'end'].sort());

    const text = JSON.stringify(lines);
    const hashes = await home.d1
      .prepare(`select hash from api_keys union all select hash from codes`)
      .all<{ hash: string }>();
    for (const secret of [...user.secrets, ...hashes.results.map(({ hash }) => hash)])
      expect(text).not.toContain(secret);
    expect(text).toContain('Zyxomma laptop');
    expect((await exported(other)).lines.map((line) => JSON.stringify(line)).join()).not.toContain('Zyxomma');
  });
});

describe('the pages of an export', () => {
  const N = 1150;
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${N})`;
  const stamp = `'${formatTimestamp(NOW)}'`;
  /**
   * Creates more than a page of rows of each type. If a section of the export covers several businesses, creates the rows for two
   * businesses.
   */
  async function newMany(user_id: number) {
    const { id } = await done('POST', '/business', { ...OTHERS, user_id, database: 1 });
    const last = await done('POST', '/business', { ...OTHERS, user_id });
    const { d1 } = homes[1] as Home;
    const ofBoth = `from n, (select ${id} as b union all select ${last.id}) where true`;
    await d1.batch(
      [
        `insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
          ${numbers} select ${user_id}, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', printf('paged-%030d', i), 'active', ${stamp}, ${stamp} from n`,
        ...[
          `insert into access (business_id, site, created_at, updated_at) ${numbers} select b, 'https://s' || i || '.example', ${stamp}, ${stamp} ${ofBoth}`,
        ],
        ...[
          `insert into daily_usage (business_id, day, count) ${numbers} select b, date('2026-03-14', -i || ' days'), i ${ofBoth}`,
        ],
        ...[
          `insert into billing_changes ${numbers} select b, date('2026-03-14', i || ' days'), '2026-03-14', 14 ${ofBoth}`,
        ],
        ...[`insert into imported_days ${numbers} select b, date('2026-03-14', -i || ' days') ${ofBoth}`],
        `insert into refused_origins ${numbers} select b, 'https://r' || i || '.example:8443', i, ${stamp}, ${stamp} ${ofBoth}`,
        `insert into events (id, business_id, period, starts_on, ends_on, "limit", threshold, used, at)
          ${numbers} select printf('%036d', i * 10 + b % 10), b, 'day', '2026-03-14', '2026-03-14', i, 80, i, ${stamp} ${ofBoth} order by i`,
        ...[
          `${INSERT_CHANGES} ${numbers} select 'business', b, 10 + i, ${stamp}, 'operator', 'rotate_token', null, '{}' ${ofBoth} and i < 150`,
        ],
        ...[
          `${INSERT_CHANGES} ${numbers} select 'business', 1900000000 + i, 1, ${stamp}, 'operator', 'delete_business', '{"user_id":${user_id}}', null from n where i < 150`,
        ],
        ...[
          `${INSERT_CHANGES} ${numbers} select 'business', 1900000000 + i % 50, 100 + i, ${stamp}, 'operator', 'update_business', null, '{"user_id":${user_id}}' from n where i < 150`,
        ],
        ...[
          `${INSERT_CHANGES} ${numbers} select 'user', ${user_id}, i, ${stamp}, 'operator', 'create_key', null, '{}' from n where i < 150`,
        ],
        `insert into api_keys (user_id, name, hash, last_four, role, created_at) ${numbers} select ${user_id}, 'k' || i, printf('%064d', i), '0000', 'full', ${stamp} from n`,
      ].map((statement) => d1.prepare(statement)),
    );
  }

  test('contain every row once, cost two round trips each, and do not read the rows of earlier pages', async () => {
    await newMany(770_080_000);
    const { lines, pages, costs } = await exported(770_080_000);
    const texts = lines.map((line) => JSON.stringify(line));
    expect(new Set(texts).size).toBe(texts.length);
    const byType = Object.entries(Object.groupBy(lines, ({ type }) => type));
    expect(Object.fromEntries(byType.map(([type, of = []]) => [type, of.length]))).toEqual({
      ...{ user: 1, business: N + 2, site: 2 * N, count: 2 * N, refused_origin: 2 * N, alert: 2 * N, key: N, end: 1 },
      ...{ billing_change: 2 * N, imported_day: 2 * N },
      change: 2 + 2 * 149 + 149 + 149 + 149, // the first 2 are the creations of the two businesses
    });
    expect(pages.slice(0, -1).every((page) => page.at(-1)?.type !== 'end')).toBe(true);
    // A page that begins a section also reads the sections that follow.
    for (const [index, { path, ...cost }] of costs.entries()) {
      expect(cost).toMatchObject({ round_trips: 2, rows_written: 0 });
      const rows = pages[index]?.length ?? 0;
      // A page of alerts reads all alerts of a business.
      const most = 2 * rows + 2 * (N + 2) + 10 + (/cursor=alerts/.test(path) ? 2 * N : 0);
      expect(cost.rows_read).toBeLessThanOrEqual(/cursor=.*\./.test(path) ? most : most + 12_000 + 14 * (N + 2));
    }
  });

  const MALFORMED = [
    '',
    'x',
    'businesses.',
    'sites.x.y',
    'alerts.x.y',
    'keys.1',
    'counts.99999999999999999.',
    'businesses..',
  ];
  test.each(MALFORMED)('are refused if the cursor is %j', async (cursor) => {
    const rule = 'cursor must be the cursor in the Link header of the previous page, and must appear only once';
    expect(answerOf(await operate('GET', `/user/7/export?cursor=${cursor}`))).toEqual(invalid('cursor', rule));
  });
});

/** Purges the remaining rows of deleted businesses, except for one change each. */
async function purgeAll(): Promise<void> {
  for (const { db } of homes) for (const minute of [2, 8]) await purge(db, new Date(Date.UTC(2026, 2, 15, 13, minute)));
}

describe('an erasure', () => {
  test('leaves no trace of the user in any database', async () => {
    const user = await newUser(770_077_010, 1, 'Quixotry');
    await deleteBusinesses(user);
    const names = /770077010|quixotry/i;
    expect(columnsOf(await found(names))).toEqual([
      ...['api_keys.actor_name', 'api_keys.name', 'api_keys.user_id', 'changes.actor_name', 'changes.actor_user_id'],
      ...[
        'changes.after',
        'changes.before',
        'changes.subject_id',
        'codes.actor_name',
        'codes.return_url',
        'codes.user_id',
        'homes.user_id',
        'imported_tokens.user_id',
      ],
    ]);
    const answer = await erase(user.user_id);
    expect(answer).toMatchObject({ status: 200, body: { status: true, data: { erased: { user_id: user.user_id } } } });
    expect(await found(names)).toEqual([]);
    expect((await exported(user.user_id)).lines).toEqual([
      { type: 'user', user_id: user.user_id, database: null, place: null, claimed_at: null, imported_tokens: 0 },
      { type: 'end' },
    ]);
  });

  test('does not delete other users’ rows or the record of a business’s deletion', async () => {
    const user = await newUser(770_077_020, 1, 'Razzmatazz');
    const { other, given, gone, home, theirs } = user;
    const eventsOf = () => home.db.select().from(events).where(eq(events.business_id, theirs));
    const [event] = await eventsOf();
    expect(event).toBeDefined();
    await deleteBusinesses(user);
    const listed = async () => (await done('GET', `/business?user_id=${other}`)).businesses;
    const businesses = await listed();
    const changesOf = async (id: number) => (await done('GET', `/business/${id}/changes?limit=100`)).changes as Line[];
    const changes = await changesOf(given);
    expect((await erase(user.user_id)).status).toBe(200);
    expect(await listed()).toEqual(businesses);
    expect(await changesOf(given)).toEqual(changes);
    await purgeAll();
    const { results } = await home.d1.prepare(`select * from changes where subject_id = ${gone}`).all();
    const deletion = {
      subject: 'business',
      subject_id: gone,
      id: 4,
      at: formatTimestamp(NOW),
      actor: 'operator (…ffff)',
    };
    const cleared = { before: null, after: null, actor_name: null, actor_user_id: null };
    expect(results).toEqual([{ ...deletion, action: 'delete_business', ...cleared }]);
    expect(await eventsOf()).toEqual([event]);
  });

  test('leaves no trace in the changes of a business that a later owner deleted', async () => {
    const user = await newUser(770_077_160, 1, 'Nincompoop');
    await deleteBusinesses(user);
    await done('DELETE', `/business/${user.given}?name=Acme`);
    const others = await newUser(770_077_165, 1, 'Humdinger');
    const changesOf = async () => (await found(/humdinger/i)).filter((row) => row.includes(' changes.'));
    const before = await changesOf();
    expect((await erase(user.user_id)).status).toBe(200);
    expect(await found(/770077160|nincompoop/i)).toEqual([]);
    expect(before.filter((row) => row.includes(`"subject_id":${others.gone}`)).length).toBeGreaterThan(2);
    expect(await changesOf()).toEqual(before);
    const record = `select action, before ->> 'user_id' as user_id from changes where subject_id = ${user.given} order by id desc limit 1`;
    expect(await user.home.d1.prepare(record).first()).toEqual({ action: 'delete_business', user_id: user.other });
  });

  test('deletes the changes of deleted businesses in batches of 8,000, so that other requests do not wait', {
    tags: 'slow',
  }, async () => {
    const [user_id, { d1 }] = [770_077_170, homes[1] as Home];
    const { id } = await done('POST', '/business', { ...OTHERS, user_id, database: 1 });
    const rows = `${INSERT_CHANGES} with recursive n(i) as (select 2 union all select i + 1 from n where i <= 20000)
      select 'business', ${id}, i, '${formatTimestamp(NOW)}', 'operator', 'create_key', null, '{"name":"Flibbertigibbet"}' from n`;
    await d1.prepare(rows).run();
    await done('DELETE', `/business/${id}?name=Acme`);
    const { status, cost } = await erase(user_id);
    expect({ status, round_trips: cost.round_trips }).toEqual({ status: 200, round_trips: 2 + 3 });
    expect(await found(/770077170|flibbertigibbet/i)).toEqual([]);
  });

  test('is refused with the first business’s id if the user has businesses, and changes nothing', async () => {
    const { user_id, id } = await newUser(770_077_030, 0);
    const before = await dumpAll();
    const rule = `user_id must be a user without a business: delete business ${id} first, or transfer it to another user`;
    const answer = await erase(user_id);
    expect(answerOf(answer)).toEqual(invalid('user_id', rule));
    expect(answer.cost).toMatchObject({ round_trips: 2, rows_written: 0 });
    expect(await dumpAll()).toBe(before);
  });

  test('has no effect if the user is unknown or already erased', async () => {
    const before = await dumpAll();
    for (let time = 0; time < 2; time++) {
      const { status, cost } = await erase(770_077_099);
      expect({ status, cost }).toMatchObject({ status: 200, cost: { round_trips: 2 + homes.length, rows_written: 0 } });
    }
    expect(await dumpAll()).toBe(before);
  });

  test('covers every database if the user has no home, for example after a restore of only DB', async () => {
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
  ])('is refused for a minute after %s, because a batch may be in flight', async (_, user_id, create) => {
    await create(user_id);
    const before = await dumpAll();
    const refused = await erase(user_id, later(59_999));
    expect([refused.status, refused.body.message]).toEqual([422, RECENT]);
    expect(await dumpAll()).toBe(before);
    expect((await erase(user_id, later(60_000))).status).toBe(200);
    expect(await found(new RegExp(`${user_id}`))).toEqual([]);
  });

  test('does not free the user’s imported tokens, and the user can return as a new user', async () => {
    const { imported, ...user } = await newUser(770_077_080, 1, 'Terpsichore');
    await deleteBusinesses({ ...user, imported });
    expect((await erase(user.user_id)).status).toBe(200);
    for (const user_id of [user.user_id, user.other]) {
      const again = await operate('POST', '/business', { ...OTHERS, user_id, token: imported });
      expect([again.status, again.body.message]).toEqual([
        422,
        'token must not be a current or former token of any business',
      ]);
    }
    await done('POST', `/user/${user.user_id}/keys`);
    expect((await done('GET', `/user/${user.user_id}/changes`)).changes.map(({ id }: Line) => id)).toEqual([1]);
  });
});
