// Runs every statement that src defines: with calls that are refused for each possible reason, with calls past their deadline, and with
// permitted calls. A refused or late call shows nothing beyond its verdict, writes nothing and reads few rows. A permitted call shows and
// changes only what belongs to its caller. An author adds only SAMPLES for new names of values, and rows for new tables (`fill`).
import { beforeAll, expect, test } from 'vitest';
import { INVALIDITIES, REFUSALS } from '../src/core/policy.ts';
import { SPENT } from '../src/core/work.ts';
import { CALL_VALUES, type Call, splitCall } from '../src/db/call.ts';
import { DEFINITIONS } from '../src/db/statement.ts';
import type { Bindable } from '../src/db/text.ts';
import { MAX_SESSIONS } from '../src/sessions/rules.ts';
import { ruleNamed } from './ask.ts';
import { SHOP } from './business.ts';
import { type Definition, placeOf, writtenBy } from './definitions.ts';
import { env, NOW, STAMP, TODAY } from './support.ts';

type Row = Record<string, Bindable>;
const d1 = env.DB;
const [MARK, OTHER_CALL] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
/** Users: the owner, another one, one without businesses, and one without a home. */
const [OWNER, FOREIGN_USER, ERASED, HOMELESS] = [1, 2, 3, 4];
/** Businesses: two of the owner, one of them that is not active, and another user's. */
const [OWN, SECOND, INACTIVE, FOREIGN, DELETED] = [1, 2, 3, 4, 900];
/** Each text of another user contains this, and each of the owner's second business the other. */
const [FOREIGN_TEXT, SECOND_TEXT] = ['foreign', 'second'];
const FOREIGN_COUNT = 7_654_321;
const FOREIGN_MARKS = [FOREIGN_TEXT, `${FOREIGN_COUNT}`];
const MANY = Array.from({ length: 35 }, (_, index) => index + 1);
/** More than a permission and a few lookups read, and fewer than any crowded table holds. */
const FEW_ROWS = 30;
/** A deadline that has passed. */
const PAST = Date.now() - 1000;
const OLD = '2026-01-01T00:00:00.000000Z';
const SOON = '2026-03-16T00:00:00.000000Z';
const dayBefore = (days: number) => new Date(NOW.getTime() - days * 86_400_000).toISOString().slice(0, 10);
const digest = (number: number) => number.toString(16).padStart(32, '0');
const [FRESH_DIGEST, ONE, ANOTHER] = [digest(999_999), digest(1), digest(2)];
const FRESH_HASH = 'f'.repeat(64);
const hashOf = (number: number) => number.toString(16).padStart(64, '0');
const [SESSION_HASH, IMPORTED_HASH] = [hashOf(1), hashOf(2)];
const tokenOf = (business: number) => `the-token-of-business-number-${business}`;

/** Keys by name: the user's id, and the columns in which they differ from a key with full access to all businesses. */
const KEYS: Record<string, Row> = {
  full: { user_id: OWNER },
  foreign: { user_id: FOREIGN_USER, name: FOREIGN_TEXT },
  read: { user_id: OWNER, role: 'read' },
  record: { user_id: OWNER, role: 'record' },
  narrow: { user_id: OWNER, business_id: OWN, source: 1 },
  of_second: { user_id: OWNER, business_id: SECOND, name: SECOND_TEXT },
  revoked: { user_id: OWNER, revoked_at: OLD },
  expired: { user_id: OWNER, expires_on: '2026-03-14' },
  ended: { user_id: OWNER, ends_at: OLD },
  session: { user_id: OWNER, ends_at: SOON },
  key_session: { user_id: OWNER, ends_at: SOON, can_create_keys: 1 },
  erased: { user_id: ERASED, business_id: OWN, name: 'erased' },
};
const NAMES = Object.keys(KEYS);
/** The id of a key. */
const keyId = (name: string) => NAMES.indexOf(name) + 1;

const key = (name: string) => ({ credential: { kind: 'key', lookupValue: hashOf(1000 + keyId(name)) } }) as const;
const token = (text: string) => ({ credential: { kind: 'token', lookupValue: text } }) as const;
const code = (number: number) =>
  ({ credential: { kind: 'code', lookupValue: hashOf(number) }, rule: START, ...NO_PATH }) as const;
const operator = { credential: { kind: 'operator', name: 'operator (…abcd)', role: 'full' } } as const;
const [CHANGE, RECORD, READ] = ['change_access', 'record_use', 'read_usage'].map(ruleNamed) as [
  Call['rule'],
  Call['rule'],
  Call['rule'],
];
const [START, END] = [ruleNamed('start_session'), ruleNamed('end_session')];
const [KEYS_OF_USER, CREATE] = [ruleNamed('create_key'), ruleNamed('create_business')];
const NO_PATH = { business_id: 0, namesBusiness: false };
const ofUser = (user_id: number) => ({ ...NO_PATH, user_id, namesUser: true, rule: KEYS_OF_USER });
const fromPage = (origin: string) => ({ rule: RECORD, origin });
const [SITE, EVIL] = ['https://own.example', 'https://a.evil.example'];

type Asked = readonly [name: string, call: Partial<Call>];
const REFUSED: readonly Asked[] = [
  ['another owner’s key', key('foreign')],
  ['a key, for an unknown business', { ...key('full'), business_id: 999_999 }],
  ['a key for another business', key('of_second')],
  ['an unknown key', { credential: { kind: 'key', lookupValue: 'e'.repeat(64) } }],
  ['a revoked key', key('revoked')],
  ['an expired key', key('expired')],
  ['an ended session', key('ended')],
  ['a read-only key', key('read')],
  ['a record-only key', key('record')],
  ['a key, for an inactive business', { ...key('full'), rule: RECORD, business_id: INACTIVE }],
  ['a key, from a wrong origin', { ...key('full'), origin: EVIL }],
  ['a key, from a derived origin', { ...key('full'), origin: 'https://x.example', isOriginDerived: true }],
  ['a key whose owner stored too much today', { ...key('full'), work: { class: 'changing', price: 1 } }],
  [
    'a key whose owner stored too many ids today',
    { ...key('full'), rule: RECORD, work: { class: 'recording', price: 1 } },
  ],
  ['a key, for what only the operator may do', { ...key('full'), rule: CREATE, ...NO_PATH }],
  ['a key, for what only a session may do', { ...key('full'), rule: END, ...NO_PATH }],
  ['a session, for what no session may do', { ...key('session'), rule: START, ...NO_PATH }],
  ['a key, for another user’s keys', { ...key('full'), ...ofUser(FOREIGN_USER) }],
  ['another user’s key, for the keys', { ...key('foreign'), ...ofUser(OWNER) }],
  ['a revoked key, for the keys', { ...key('revoked'), ...ofUser(OWNER) }],
  ['a key for one business, for the keys', { ...key('narrow'), ...ofUser(OWNER) }],
  ['a session that may not create keys', { ...key('session'), ...ofUser(OWNER) }],
  ['another business’s token', { ...token(tokenOf(FOREIGN)), ...fromPage('https://foreign1.example') }],
  ['an unknown token', { ...token('unknown-token-of-nobody-at-all'), ...fromPage(SITE) }],
  ['an expired former token', { ...token('expired-former-token-own'), ...fromPage(SITE) }],
  ['the token of an inactive business', { ...token(tokenOf(INACTIVE)), ...fromPage(SITE), business_id: INACTIVE }],
  ['a token, from a wrong origin', { ...token(tokenOf(OWN)), ...fromPage(EVIL) }],
  ['a token, without an origin', { ...token(tokenOf(OWN)), rule: RECORD }],
  ['a token, for what only keys may do', { ...token(tokenOf(OWN)), origin: SITE }],
  ['a token, for what only the operator may do', { ...token(tokenOf(OWN)), rule: CREATE, ...NO_PATH, origin: SITE }],
  ['the operator, for an unknown business', { ...operator, business_id: 999_999 }],
  ['an expired code', code(2001)],
  ['an unknown code', code(2999)],
];
/** The guard itself refuses the first two before it queries a database. The last is true for a quarter of a second. */
const NOT_TRIED = ['operator_key_in_page', 'operator_not_allowed', 'spent_time'];

/** `others`: texts that the call must not show. The operator's lists show all users. */
const PERMITTED: readonly (readonly [...Asked, others: readonly string[]])[] = [
  ['a key, for a business', key('full'), [...FOREIGN_MARKS]],
  ['a key for one business', key('narrow'), [...FOREIGN_MARKS, SECOND_TEXT]],
  [
    'a key for one business, without a path',
    { ...key('narrow'), rule: READ, ...NO_PATH },
    [...FOREIGN_MARKS, SECOND_TEXT],
  ],
  ['a key, without a path', { ...key('full'), rule: START, ...NO_PATH }, [...FOREIGN_MARKS]],
  ['a session, without a path', { ...key('session'), rule: END, ...NO_PATH }, [...FOREIGN_MARKS]],
  ['a key, for the keys', { ...key('full'), ...ofUser(OWNER) }, [...FOREIGN_MARKS]],
  ['a session that may create keys', { ...key('key_session'), ...ofUser(OWNER) }, [...FOREIGN_MARKS]],
  ['a token, from a site', { ...token(tokenOf(OWN)), ...fromPage(SITE) }, [...FOREIGN_MARKS, SECOND_TEXT]],
  [
    'a former token, from a wildcard',
    { ...token('former-token-of-own-1---'), ...fromPage('https://a.own.example') },
    [...FOREIGN_MARKS, SECOND_TEXT],
  ],
  ['a code', code(2000), [...FOREIGN_MARKS]],
  ['the operator, for a business', operator, []],
  ['the operator, for a user', { ...operator, ...ofUser(OWNER) }, []],
  ['the operator, for everything', { ...operator, rule: CREATE, ...NO_PATH }, []],
];

const newKeyRow = {
  // The owner of a key is the user in the path, whatever is sent.
  user_id: FOREIGN_USER,
  name: 'new',
  hash: FRESH_HASH,
  last_four: 'abcd',
  role: 'read',
  expires_on: null,
  business_id: null,
};
const newBusiness = {
  ...SHOP,
  name: 'new',
  user_id: OWNER,
  token: 'new-token-of-new-business',
  overage: 0,
  page_overage: 0,
};
const link = {
  ...{ hash: FRESH_HASH, user_id: OWNER, business_id: OWN, role: 'read', minutes: 60, expires_at: SOON },
  return_url: null,
};
/**
 * The values with which each statement runs, by name. Run i takes the entry i of each list, and starts again at its end. The values in
 * `RANDOM` are made by the service for each call, so no row contains them before its own steps: refused and late calls take the first.
 */
const SAMPLES: Record<string, readonly Bindable[]> = {
  access_id: [1, FOREIGN * 1000 + 1],
  former_id: [1, FOREIGN * 1000 + 3],
  action: [null],
  added: [5],
  admitting: [null],
  after: [0, '{"name":"new"}'],
  before: [1_000_000],
  before_at: ['2027-01-01T00:00:00.000000Z'],
  before_id: ['z'],
  candidates: ['[0]'],
  claimed_at: [OLD],
  class: ['reading'],
  day: [TODAY],
  days: [`[["${TODAY}",1]]`, `[["${dayBefore(1)}",50]]`, `[["${dayBefore(2)}",0]]`, `[["${dayBefore(1)}",50]]`],
  digest: [FRESH_DIGEST, ONE],
  domain: [null],
  ended: ['2026-02-28'],
  ends_at: [SOON],
  fields: [
    '{"name":"new","billing_day":9}',
    `{"user_id":${HOMELESS}}`,
    JSON.stringify(newBusiness),
    '{"daily_limit":5}',
  ],
  from: ['2026-01-01'],
  gaps: ['[[0,3]]'],
  hash: [FRESH_HASH, SESSION_HASH, IMPORTED_HASH],
  id: [null],
  ids: ['["order-1"]'],
  is_free: [1],
  key: [JSON.stringify(newKeyRow), null, JSON.stringify({ ...newKeyRow, business_id: OWN, label: 'new label' })],
  kept: [0],
  key_id: [keyId('read'), keyId('revoked'), keyId('foreign')],
  label: ['new label', null],
  last: [0],
  last_four: ['abcd'],
  limit: [100],
  link: [JSON.stringify(link), JSON.stringify({ ...link, business_id: null })],
  keep_until: [SOON, null],
  may_be_first: [1],
  month: ['this', 'next'],
  name: ['own'],
  of_key: [FRESH_DIGEST, ONE],
  of_token: [FRESH_DIGEST, ANOTHER],
  open: ['[0]'],
  price: [1],
  quantity: [1],
  recent: [STAMP],
  replace: [1, 1, 1, 0],
  request: [null],
  request_hash: [FRESH_DIGEST],
  search: [null, 'a'],
  since: ['2025-01-01'],
  sites: ['[["https://new.example",1]]'],
  source: [SITE],
  to: ['2026-12-31'],
  token: ['fresh-token-of-own-------', tokenOf(OWN)],
  total: ['{"days":1,"uses":50}'],
  upper_case: [null],
  user_id: [HOMELESS, ERASED, OWNER],
  uses: [
    `[["${FRESH_DIGEST}","${TODAY}",1,0,null]]`,
    `[["${FRESH_DIGEST}","${TODAY}",1,0,"new label"]]`,
    `[["${FRESH_DIGEST}","${TODAY}",5000,0,null]]`,
    `[["${ONE}",0]]`,
    `[["${ANOTHER}",0]]`,
  ],
};
const RANDOM = ['hash', 'token'];

const NO_LIMITS = {
  ...{ daily_limit: null, monthly_limit: null },
  ...{ next_from: null, next_daily_limit: null, next_monthly_limit: null, next_page_overage: null },
};

/** Stores rows in every table, many of them the owner's and another user's. */
async function fill() {
  const business = (id: number, user_id: number, name: string, more: Row = {}): Row => ({
    ...{ id, user_id, name, ...SHOP, token: tokenOf(id), created_at: OLD, updated_at: OLD, decision: null, ...more },
  });
  const most = { daily_limit: 1000, monthly_limit: 100_000 };
  const due = { next_from: dayBefore(5), next_daily_limit: 1000, next_monthly_limit: 100_000, next_page_overage: 0 };
  const limits = { ...most, ...due, decision: MARK, has_billing_changes: 1 };
  const others = MANY.slice(FOREIGN).map((id) => business(id, 1000 + id, FOREIGN_TEXT));
  const owned: [number, number, string][] = [
    [OWN, OWNER, 'own'],
    [SECOND, OWNER, SECOND_TEXT],
    [FOREIGN, FOREIGN_USER, FOREIGN_TEXT],
  ];
  /** Rows of each of the three businesses. `row` has the business's id, its user, its word and the number of the row. */
  const ofEach = (row: (id: number, index: number, word: string, user_id: number) => Row) =>
    owned.flatMap(([id, user_id, word]) => MANY.map((index) => row(id, index, word, user_id)));
  const keys = Object.values(KEYS).map((given, index) => ({
    ...{ id: index + 1, name: 'own', hash: hashOf(1000 + index + 1), last_four: '0000', role: 'full', created_at: OLD },
    ...{
      business_id: null,
      source: null,
      expires_on: null,
      revoked_at: null,
      ends_at: null,
      can_create_keys: null,
      session_of: null,
      creator_id: null,
    },
    ...{ created_by: given.ends_at === undefined ? 'operator' : null, last_used_on: TODAY, ...given },
  }));
  const spare = { ...keys[0], last_used_on: null };
  const change = (subject: string, subject_id: number, id: number, word: string, more: Row = {}): Row => ({
    ...{ subject, subject_id, id, at: OLD, actor: 'operator', action: 'add_sites', before: null },
    ...{ after: JSON.stringify({ sites: [word] }), actor_name: null, actor_user_id: null, ...more },
  });
  const erased = { after: `{"user_id":${ERASED}}`, action: 'create_business' };
  const rows: Record<string, Row[]> = {
    businesses: [
      business(OWN, OWNER, 'own', limits),
      business(SECOND, OWNER, SECOND_TEXT),
      business(INACTIVE, OWNER, 'inactive', { status: 'suspended', daily_limit: 10, monthly_limit: 10 }),
      business(FOREIGN, FOREIGN_USER, FOREIGN_TEXT, { ...limits, decision: null }),
      ...others,
    ].map((row) => ({ ...NO_LIMITS, has_billing_changes: 0, ...row })),
    sites: [
      { id: 1, business_id: OWN, site: SITE, created_at: OLD, updated_at: OLD },
      { id: 2, business_id: OWN, site: 'https://*.own.example', created_at: OLD, updated_at: OLD },
      { id: 3, business_id: INACTIVE, site: SITE, created_at: OLD, updated_at: OLD },
      ...ofEach((id, index, word) => ({
        ...{
          id: id * 1000 + index,
          business_id: id,
          site: `https://${word}${index}.example`,
          created_at: OLD,
          updated_at: OLD,
        },
      })),
    ],
    api_keys: [
      ...keys,
      ...MANY.map((index) => ({
        ...spare,
        id: 100 + index,
        user_id: FOREIGN_USER,
        name: FOREIGN_TEXT,
        hash: hashOf(3000 + index),
      })),
      ...MANY.slice(0, MAX_SESSIONS + 5).map((index) => ({
        ...{ ...spare, id: 200 + index, hash: index === 1 ? SESSION_HASH : hashOf(4000 + index), ends_at: SOON },
        ...{ created_by: null, session_of: index === 1 ? keyId('revoked') : null },
      })),
      {
        ...spare,
        id: 300,
        user_id: FOREIGN_USER,
        name: FOREIGN_TEXT,
        hash: hashOf(5000),
        ends_at: SOON,
        created_by: null,
      },
      {
        ...{ ...spare, id: 301, role: 'read' as const, hash: hashOf(5001) },
        ...{ revoked_at: OLD, creator_id: keyId('full') },
      },
    ],
    codes: [
      ...[2000, 2001].map((number) => ({
        hash: hashOf(number),
        user_id: OWNER,
        expires_at: number === 2000 ? SOON : OLD,
      })),
      { hash: SESSION_HASH, user_id: ERASED, expires_at: SOON },
      ...MANY.map((index) => ({
        hash: hashOf(6000 + index),
        user_id: FOREIGN_USER,
        expires_at: SOON,
        actor_name: FOREIGN_TEXT,
      })),
      { hash: hashOf(2002), user_id: OWNER, business_id: OWN, expires_at: SOON },
    ].map((row) => ({ business_id: null, role: 'full', minutes: 60, actor_name: null, ...row })),
    billing_changes: [OWN, FOREIGN].flatMap((business_id) =>
      ['2025-01-01', '2026-05-01'].map((starts_on) => ({
        ...{ business_id, starts_on, changes_on: starts_on.replace('01-01', '02-01').replace('05-01', '06-05') },
        billing_day: starts_on < TODAY ? 1 : 5,
      })),
    ),
    daily_usage: ofEach((business_id, index, word) => ({
      ...{
        business_id,
        day: dayBefore(index - 1),
        count: word === FOREIGN_TEXT ? FOREIGN_COUNT : index === 4 ? 5 : 900,
      },
      sources: '{"-1":1}',
    })),
    sources: ofEach((business_id, index, word) => ({
      business_id,
      name: index === 1 ? `https://${word}.example` : `${word}${index}`,
      number: index === 1 ? -1 : index,
    })),
    ledger: ofEach((business_id, index) => ({
      ...{ business_id, digest: digest(index), day: Math.floor(NOW.getTime() / 86_400_000) - (index === 2 ? 3 : 1) },
      ...{ forget_on: 30_000, quantity: 5, source: -1 },
    })),
    former_limits: ofEach((business_id, index) => ({ business_id, ends_on: dayBefore(index + 30), page_overage: 0 })),
    extras: ofEach((business_id, index, word) => ({
      ...{ business_id, starts_on: dayBefore(index + 30), uses: word === FOREIGN_TEXT ? FOREIGN_COUNT : 5 },
    })),
    extra_requests: ofEach((business_id, index, word) => ({
      ...{ business_id, digest: digest(index), request: digest(index), starts_on: dayBefore(30), day: dayBefore(30) },
      uses: word === FOREIGN_TEXT ? FOREIGN_COUNT : 5,
    })),
    imported_days: ofEach((business_id, index) => ({ business_id, day: dayBefore(index + 30) })),
    former_tokens: [
      { token: 'former-token-of-own-1---', business_id: OWN, expires_at: SOON, last_used_on: TODAY, id: 1 },
      { token: 'expired-former-token-own', business_id: OWN, expires_at: OLD, last_used_on: TODAY, id: 2 },
      ...ofEach((business_id, index, word) => ({
        id: business_id * 1000 + index + 2,
        token: `${word}-former-${index}`,
        business_id,
        expires_at: SOON,
        last_used_on: null,
      })),
    ],
    seen_origins: ofEach((business_id, index, word) => ({
      ...{
        business_id,
        origin: `https://${word}-refused${index}.example`,
        count: 1,
        first_seen: OLD,
        last_seen: OLD,
        let_in: 0,
        candidates: JSON.stringify([SITE]),
      },
    })),
    limit_refusals: ofEach((business_id, index) => ({ business_id, day: dayBefore(index), count: 1 })),
    changes: [
      ...ofEach((id, index, word) => change('business', id, index, word)),
      ...MANY.flatMap((index) => [
        change('user', OWNER, index, 'own'),
        change('user', FOREIGN_USER, index, FOREIGN_TEXT),
        change('user', ERASED, index, 'erased', { actor_name: 'Zoë', actor_user_id: ERASED }),
      ]),
      change('business', OWN, 100, 'own', { action: 'create_key', after: `{"id":${keyId('erased')},"name":"erased"}` }),
      change('business', DELETED, 1, 'deleted', erased),
      change('business', DELETED, 2, 'deleted'),
      change('business', DELETED, 3, 'deleted', { action: 'delete_business' }),
    ],
    retired_tokens: [{ hash: hashOf(7000) }],
    homes: [
      ...[OWNER, ERASED].map((user_id) => ({ user_id, database: 0, place: user_id, claimed_at: OLD })),
      { user_id: FOREIGN_USER, database: 1, place: 2, claimed_at: OLD },
      ...MANY.map((index) => ({ user_id: 1000 + index, database: 1, place: 10 + index, claimed_at: OLD })),
    ],
    deletions: [{ business_id: DELETED }],
    imported_tokens: [
      { hash: IMPORTED_HASH, user_id: OWNER },
      { hash: hashOf(8000), user_id: HOMELESS },
      ...MANY.map((index) => ({ hash: hashOf(8000 + index), user_id: FOREIGN_USER })),
    ],
    alerts: ofEach((business_id, index, word) => ({
      ...{
        id: `${word.padEnd(30, '-')}${String(index).padStart(6, '0')}`,
        business_id,
        period: 'day',
        starts_on: dayBefore(index + 5),
      },
      ...{ ends_on: dayBefore(index + 5), limit: 10, threshold: 80, used: 8, at: OLD, due_at: SOON },
    })),
    runs: [{ name: 'alerts', ended_at: OLD }],
    work: [OWNER, FOREIGN_USER, ERASED].flatMap((user_id) =>
      ['recording', 'changing'].map((kind) => ({
        ...{
          user_id,
          class: kind,
          busy_until: 0,
          day: Math.floor(Date.now() / 86_400_000),
          ids: kind === 'recording' ? 2_000_000 : 0,
          bytes: kind === 'changing' ? 4_000_000 : 0,
        },
      })),
    ),
  };
  const value = (column: string) =>
    ['digest', 'request'].includes(column) ? `unhex(value ->> '${column}')` : `value ->> '${column}'`;
  for (const [table, all] of Object.entries(rows)) {
    const columns = Object.keys(all[0] ?? {});
    const insert = `insert into ${table} (${columns.map((name) => `"${name}"`)}) select ${columns.map(value)} from json_each(?)`;
    await d1.prepare(insert).bind(JSON.stringify(all)).run();
  }
}

let tables: string[];
beforeAll(async () => {
  await fill();
  const listed = await d1
    .prepare(`select name from sqlite_master where type = 'table' and (name = 'sqlite_sequence' or name not like 'sqlite_%')
      and name not like 'd1_%' and name not like '_cf_%'`)
    .all<{ name: string }>();
  tables = listed.results.map(({ name }) => name);
  const kept = tables.map((name) => d1.prepare(`create table kept_${name} as select * from ${name}`));
  await d1.batch([...kept, d1.prepare('create table noise (n)'), d1.prepare('insert into noise values (1)')]);
  // The first id of a table is begun only once.
  await d1.prepare(`delete from kept_sqlite_sequence where name = 'sites'`).run();
});

/** Names a statement in a failure, with its beginning, because the steps of a change have the same place. */
const nameOf = (definition: Definition, sql: string) =>
  `${placeOf(definition)}: ${sql.replaceAll('"', '').slice(0, 50)} …`;

const DEFERRED = 'pragma defer_foreign_keys = on';
/** Undoes what was written to a table. */
const restored = (table: string, condition = 'true') =>
  [
    `delete from ${table} where ${condition}`,
    `insert into ${table} select * from kept_${table} where ${condition}`,
  ].map((sql) => d1.prepare(sql));
/** Notes how many rows the statement directly before wrote. Most write none, so that nothing needs to be compared or restored. */
const NOTE_WRITTEN = () => d1.prepare('update noise set n = changes()');
const HAS_WRITTEN = '(select n from noise) > 0';

const isWrite = (sql: string) => writtenBy(sql) !== null;
const dependsOnPrevious = (sql: string) => sql.includes('changes()');
const VERDICT = ['refusal', 'role', 'unmarked', 'former_use', 'key_user_id', 'time_left'];
/** The fields of a row beyond the verdict. All of them if the statement reads no verdict. */
const beyondVerdict = (row: object) =>
  Object.entries(row).filter(([name]) => !('refusal' in row && VERDICT.includes(name)));

const baseCall: Call = {
  ...{
    id: OTHER_CALL,
    rule: CHANGE,
    credential: { kind: 'key', lookupValue: '' },
    business_id: OWN,
    namesBusiness: true,
  },
  ...{
    user_id: 0,
    namesUser: false,
    origin: null,
    isOriginDerived: false,
    ownOrigin: 'https://service.example',
    now: NOW,
    deadline: Date.now() + 600_000,
  },
};
/**
 * The runs of a statement: one for each entry of the longest list of samples. None if the statement throws for the call, or if its SQL is not
 * to be judged.
 */
function runsOf(definition: Definition, call: Call, isFirst: boolean, isJudged = (_sql: string) => true) {
  const { shape, values } = splitCall(call);
  let text: ReturnType<Definition['textFor']>;
  try {
    text = definition.textFor(shape);
  } catch (error) {
    if (/may (not )?run this statement/.test(String(error))) return [];
    throw new Error(`${placeOf(definition)} cannot be generated`, { cause: error });
  }
  const { sql, names } = text;
  if (!isJudged(sql)) return [];
  const lists = definition.names.map((name) => SAMPLES[name]?.length ?? 0);
  return Array.from({ length: Math.max(1, ...lists) }, (_, index) => {
    const own = Object.fromEntries(
      definition.names.map((name) => {
        const list = SAMPLES[name] ?? [];
        return [name, list[isFirst && RANDOM.includes(name) ? 0 : index % list.length] ?? null];
      }),
    );
    const all = names.map((name) => (name in own ? own[name] : values[name]));
    // Equal for calls for which the statement does the same, such as a step that depends only on a mark.
    const does = `${JSON.stringify(all)} ${sql}`;
    return { definition, sql, bound: d1.prepare(sql).bind(...all), own, does };
  });
}
const WROTE = () => d1.prepare('update noise set n = 1');
/** A table's ids are begun only if they are not. Only that statement may find it so: SQLite itself begins those of an insert. */
const UNBEGUN = () => d1.prepare(`delete from sqlite_sequence where name = 'sites'`);
const BEGUN = () => d1.prepare(`insert into sqlite_sequence values ('sites', 1000000)`);
const WROTE_NOTHING = () => d1.prepare('update noise set n = 1 where false');

test('every value of a statement has a sample', () => {
  const lacking = DEFINITIONS.flatMap((one) =>
    one.names.filter((name) => !SAMPLES[name]).map((name) => `${nameOf(one, '')} ${name}`),
  );
  expect(lacking, 'Add a value for each of these names to SAMPLES').toEqual([]);
});

test('no value of a statement hides a value of the call, on which the permission depends, unless only the operator may run it', () => {
  const hiding = DEFINITIONS.filter(({ names }) => names.some((name) => CALL_VALUES.some((value) => value === name)));
  const runnable = hiding.flatMap((one) =>
    runsOf(one, { ...baseCall, ...key('full') }, true).map(({ sql }) => nameOf(one, sql)),
  );
  expect(runnable, 'Give these values other names').toEqual([]);
});

test('every table has rows', async () => {
  const counts = await d1.batch<{ count: number }>(
    tables.map((name) => d1.prepare(`select count(*) as count from "${name}"`)),
  );
  const empty = tables.filter((_, index) => counts[index]?.results[0]?.count === 0);
  expect(empty, 'Add rows of the owner and of another user to these tables in fill').toEqual([]);
});

test('every reason to refuse a call is tried', async () => {
  const [readVerdict] = DEFINITIONS.filter(({ names }) => names.length === 0);
  const verdict = async (call: Partial<Call>) => {
    const [run] = runsOf(readVerdict as Definition, { ...baseCall, ...call }, true);
    return (await run?.bound.first<{ refusal: string | null }>()) ?? { refusal: 'unknown' };
  };
  const reasons: (string | null)[] = [];
  for (const [name, call] of REFUSED) {
    const { refusal } = await verdict(call);
    expect([null, 'open'], `${name} is permitted`).not.toContain(refusal);
    reasons.push(refusal);
  }
  const lacking = [...REFUSALS, ...INVALIDITIES, ...SPENT].filter(
    (one) => !reasons.includes(one) && !NOT_TRIED.includes(one),
  );
  expect(lacking, 'Add a call to REFUSED for each of these reasons').toEqual([]);
  for (const [name, call] of PERMITTED) expect([null, 'open'], name).toContain((await verdict(call)).refusal);
});

/**
 * Runs statements directly after one that wrote a row, or that wrote none. Returns the first thing that each did and that none may do. Only
 * statements with `changes()` depend on the one before.
 */
async function faultsOf(
  calls: readonly Asked[],
  { hasWritten, isLate = false }: { hasWritten: boolean; isLate?: boolean },
) {
  const faults = new Map<string, string>();
  const tried = new Set<string>();
  for (const [name, call] of calls) {
    const asked = { ...baseCall, ...call, ...(isLate && { deadline: PAST }) };
    const isJudged = (gate: Definition['gate']) => (sql: string) =>
      isLate ? isWrite(sql) : !hasWritten || (gate === 'permission' && dependsOnPrevious(sql));
    const runs = DEFINITIONS.flatMap((one) => runsOf(one, asked, true, isJudged(one.gate))).filter(({ does }) => {
      const isNew = !tried.has(does);
      tried.add(does);
      return isNew;
    });
    const afterPrevious = ({ sql, bound }: (typeof runs)[number]) => {
      if (writtenBy(sql) === 'sqlite_sequence') return [UNBEGUN(), bound, BEGUN()];
      return dependsOnPrevious(sql) ? [hasWritten ? WROTE() : WROTE_NOTHING(), bound] : [bound];
    };
    const steps = runs.map(afterPrevious);
    const batch = steps.flat();
    const all = await d1.batch<object>(batch).catch(() => []);
    for (const [index, run] of runs.entries()) {
      const report = (done: string) => {
        const place = nameOf(run.definition, run.sql);
        if (!faults.has(place))
          faults.set(place, `${place} ${done}, for ${name}, with ${JSON.stringify(run.own).slice(0, 200)}`);
      };
      // If a statement fails, the whole batch does. Then each runs alone, to find it.
      const own = steps[index] ?? [];
      const alone = () => d1.batch<object>(own).catch((error) => report(`failed: ${error}`));
      const result = all.length > 0 ? all[batch.indexOf(run.bound)] : (await alone())?.[own.indexOf(run.bound)];
      if (result === undefined) continue;
      const { results: rows, meta } = result;
      const shown = rows.flatMap(beyondVerdict).filter(([, value]) => value !== null);
      if (meta.rows_written > 0) report(`wrote ${meta.rows_written} rows`);
      if (!isLate && shown.length > 0) report(`showed ${JSON.stringify(shown).slice(0, 200)}`);
      if (!isLate && meta.rows_read > FEW_ROWS) report(`read ${meta.rows_read} rows`);
    }
  }
  // What one wrote must not be blamed on another.
  if (faults.size > 0) await d1.batch([d1.prepare(DEFERRED), ...tables.flatMap((table) => restored(table))]);
  return [...faults.values()];
}

const shapeOf = (call: Partial<Call>) => splitCall({ ...baseCall, ...call }).shape;
/** The first refused call of each shape. Calls of one shape run the same SQL. */
const ONE_OF_EACH_SHAPE = [...Map.groupBy(REFUSED, ([, call]) => shapeOf(call)).values()].map(
  ([first]) => first as Asked,
);
test('a refused call shows nothing beyond its verdict, writes nothing and reads few rows', async () => {
  expect(await faultsOf(ONE_OF_EACH_SHAPE, { hasWritten: false })).toEqual([]);
});
test('so does a call that is refused for any other reason', { tags: 'slow' }, async () => {
  const others = REFUSED.filter((one) => !ONE_OF_EACH_SHAPE.includes(one));
  expect(await faultsOf(others, { hasWritten: false })).toEqual([]);
});
test('a refused call does nothing after a statement that wrote a row, either', async () => {
  expect(await faultsOf(REFUSED, { hasWritten: true })).toEqual([]);
});
test('a permitted call writes nothing after its deadline', async () => {
  expect(
    await faultsOf(
      PERMITTED.map(([name, call]) => [name, call]),
      { hasWritten: false, isLate: true },
    ),
  ).toEqual([]);
});

/** The businesses that a call must not change: those from this one on, except an inactive one that is the owner's. */
const OTHERS_FROM = [SECOND, FOREIGN];
const firstOther = (others: readonly string[], { namesBusiness }: Call) =>
  namesBusiness || others.includes(SECOND_TEXT) ? SECOND : FOREIGN;
/** Matches the rows of a table that belong to neither the caller nor a business before `first`. */
function ofOthers(table: string, columns: string[], first: number) {
  const isOther = (id: string) => `(${id} between ${first} and ${MANY.length} and ${id} <> ${INACTIVE})`;
  if (table === 'businesses') return isOther('id');
  if (table === 'changes') return `iif(subject = 'business', ${isOther('subject_id')}, subject_id = ${FOREIGN_USER})`;
  const conditions = [
    ...(columns.includes('business_id') ? [isOther('business_id')] : []),
    ...(columns.includes('user_id') ? [`user_id = ${FOREIGN_USER}`] : []),
  ];
  return conditions.join(' or ') || 'false';
}

type Differing = Record<string, number>;
/**
 * The steps that run a write after a statement that wrote, count the rows that changed, those of others for each of OTHERS_FROM, and restore
 * the table. Most writes write nothing, so that there is nothing to count or to restore.
 */
function trialOf({ sql, bound }: Run, table: string, columns: string[]) {
  const rowsOf = (name: string) => `select * from ${name} where ${HAS_WRITTEN}`;
  const only = (one: string, other: string) => `select * from (${rowsOf(one)} except ${rowsOf(other)})`;
  const changed = `${only(`kept_${table}`, table)} union all ${only(table, `kept_${table}`)}`;
  const counts = OTHERS_FROM.map((first) => `count(*) filter (where ${ofOthers(table, columns, first)}) as "${first}"`);
  const counted = d1.prepare(`select ${counts} from (${changed})`);
  const unbegun = table === 'sqlite_sequence' ? restored(table) : [];
  const before = dependsOnPrevious(sql) ? [WROTE()] : [];
  return [...unbegun, ...before, bound, NOTE_WRITTEN(), counted, ...restored(table, HAS_WRITTEN)];
}

/** Runs a write of a table with each of its values. Returns whether each wrote a row, and how many rows of others changed. */
async function tryWrites(all: Run[], table: string, columns: string[]): Promise<Tried[]> {
  const trials = all.map((run) => trialOf(run, table, columns));
  const results = await d1.batch<Differing>([d1.prepare(DEFERRED), ...trials.flat()]).catch(() => null);
  if (results !== null)
    return trials.map((trial, index) => {
      const end = 1 + trials.slice(0, index + 1).flat().length;
      const [wrote, , counted] = results.slice(end - trial.length + trial.indexOf((all[index] as Run).bound));
      return { hasWritten: (wrote?.meta.rows_written ?? 0) > 0, differing: counted?.results[0] ?? {} };
    });
  // A sample that is meant for another statement can violate a constraint. The batch then does nothing, and each write runs alone.
  if (all.length === 1) return [{ hasWritten: false, differing: {} }];
  return (await Promise.all(all.map((run) => tryWrites([run], table, columns)))).flat();
}
type Run = ReturnType<typeof runsOf>[number];
type Tried = { hasWritten: boolean; differing: Differing };

test('a permitted call shows and changes only what belongs to it, and each statement does something', async () => {
  const columnsOf = new Map<string, string[]>();
  for (const table of tables) {
    const { results } = await d1.prepare(`select name from pragma_table_info('${table}')`).all<{ name: string }>();
    const names = results.map(({ name }) => name);
    columnsOf.set(table, names);
  }
  const faults = new Map<string, string>();
  const report = (place: string, done: string) => void (faults.has(place) || faults.set(place, `${place} ${done}`));
  const busy = new Set<Definition>();
  const tried = new Map<string, Tried | undefined>();
  for (const [name, call, others] of PERMITTED) {
    const asked: Call = { ...baseCall, id: MARK, ...call };
    const runs = DEFINITIONS.flatMap((definition) => runsOf(definition, asked, false));
    const reads = runs.filter(({ sql }) => !isWrite(sql));
    const results = await d1.batch<object>([WROTE_NOTHING(), ...reads.map(({ bound }) => bound)]);
    for (const [index, { definition, sql }] of reads.entries()) {
      const rows = results[index + 1]?.results ?? [];
      const shown = JSON.stringify(rows);
      const isOfOthers = others.some((text) => shown.includes(text));
      if (isOfOthers) report(nameOf(definition, sql), `showed ${name} a row of others: ${shown.slice(0, 300)}`);
      const isVerdict = rows.some((row) => Object.keys(row).every((field) => VERDICT.includes(field)));
      const isEmpty = (value: unknown) => value === null || value === '[]' || value === '{}';
      if (isVerdict || rows.flatMap(beyondVerdict).some(([, value]) => !isEmpty(value))) busy.add(definition);
    }
    const writes = runs.filter(({ sql }) => isWrite(sql));
    const untried = writes.filter(({ does }) => !tried.has(does));
    for (const [sql, some] of Map.groupBy(untried, ({ sql }) => sql)) {
      const table = `${writtenBy(sql)}`;
      const outcomes = await tryWrites(some, table, columnsOf.get(table) ?? []);
      for (const [index, { does }] of some.entries()) tried.set(does, outcomes[index]);
    }
    for (const { definition, sql, does } of writes) {
      const outcome = tried.get(does);
      if (outcome?.hasWritten) busy.add(definition);
      const differing = outcome?.differing[firstOther(others, asked)] ?? 0;
      if (differing > 0) report(nameOf(definition, sql), `changed ${differing} rows of others, for ${name}`);
    }
  }
  expect.soft([...faults.values()]).toEqual([]);
  const { shape } = splitCall({ ...baseCall, ...operator });
  const idle = DEFINITIONS.filter((one) => !busy.has(one)).map((one) => nameOf(one, one.textFor(shape).sql));
  const words = 'Add a value to SAMPLES or a row to fill with which each of these does something in a permitted call';
  expect(idle, words).toEqual([]);
});
