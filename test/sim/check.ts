// Compares what the service answers and stores with what the model expects.
import { createHash } from 'node:crypto';
import type { SimulatedD1 } from './d1.ts';
import { ANY, type Expected } from './model/call.ts';
import { LIMITS } from './model/input.ts';
import type { Model } from './model/model.ts';
import { matches, reveal } from './model/secrets.ts';
import { isReachable } from './model/sites.ts';
import { type Alert, databaseOf, type Refused, type State } from './model/state.ts';
import { dayOf, plusDays, stamp } from './model/time.ts';

type Actual = { status: number; headers: Headers; text: string };

/** Returns how an answer differs from the expected one, or null. Learns the secrets that it shows. */
export function compare(model: Model, expected: Omit<Expected, 'after'>, actual: Actual): string | null {
  const { state } = model;
  if (actual.status !== expected.status)
    return `status ${actual.status} instead of ${expected.status}: ${actual.text.slice(0, 300)}, expected ${JSON.stringify(expected.body).slice(0, 300)}`;
  const code = actual.headers.get('Error-Code');
  if (code !== expected.code) return `Error-Code ${code} instead of ${expected.code}`;
  for (const [name, value] of Object.entries(expected.headers))
    if (actual.headers.get(name) !== value) return `${name} ${actual.headers.get(name)} instead of ${value}`;
  if (expected.code === null && actual.headers.has('Retry-After')) return 'a success with Retry-After';
  return differenceIn(state, expected.body, bodyOf(actual), 'body');
}

const bodyOf = ({ headers, text }: Actual): unknown =>
  headers.get('Content-Type') === 'application/json' && text !== '' ? JSON.parse(text) : text;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown) => (isObject(value) ? JSON.stringify(Object.entries(value).sort()) : `${value}`);
const byText = (a: unknown, b: unknown) => (textOf(a) < textOf(b) ? -1 : 1);
/** Sorts removed sites, which have no order. */
const inOrder = (list: unknown[], path: string) => (path.endsWith('.before.sites') ? list.toSorted(byText) : list);

/** Sorts the sources of each day in a CSV report, which have no order. */
function sourcesInOrder(text: string): string {
  const [header, ...lines] = text.split('\r\n');
  if (header !== 'date,source,count') return text;
  const days = [...Map.groupBy(lines, (line) => line.slice(0, 10)).values()];
  return [header, ...days.flatMap((day) => day.toSorted())].join('\r\n');
}

/** Returns the first difference between two JSON values, or null. */
function differenceIn(state: State, expected: unknown, actual: unknown, path: string): string | null {
  if (expected === ANY || (isObject(expected) && expected.any === true)) return null;
  if (typeof expected === 'string' && typeof actual === 'string')
    return matches(state, sourcesInOrder(expected), sourcesInOrder(actual))
      ? null
      : `${path} is ${JSON.stringify(actual)} instead of ${JSON.stringify(reveal(state, expected))}`;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const [wanted, found] = [inOrder(expected, path), inOrder(actual, path)];
    for (const index of wanted.keys()) {
      const difference = differenceIn(state, wanted[index], found[index], `${path}.${index}`);
      if (difference !== null) return difference;
    }
    return found.length > wanted.length ? `${path} has more: ${JSON.stringify(found[wanted.length])}` : null;
  }
  if (isObject(expected) && isObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const difference = differenceIn(state, expected[name], actual[name], `${path}.${name}`);
      if (difference !== null) return difference;
    }
    return null;
  }
  return expected === actual ? null : `${path} is ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
}

type Row = Record<string, unknown>;
/** The rows of a table as the model knows them, and those that the purge may have deleted at `now`. */
type Table = {
  sql: string;
  /** The tables that it reads, if not one with its name. */
  of?: string[];
  /** Columns that the model does not know. */
  ignored?: string[];
  /** What identifies a row. */
  key: string[];
  rows: (state: State, database: number) => Row[];
  hasExpired: (state: State, row: Row, now: number) => boolean;
  /** Forgets a row that the purge deleted. */
  forget?: (state: State, row: Row) => void;
};
const never = () => false;
/** A day as the table `work` has it. */
export const numberOfDay = (day: string) => Date.parse(day) / 86_400_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const isIn = (database: number) => (row: { business_id: number }) => databaseOf(row.business_id) === database;
const hashOf = (state: State, secret: string) => {
  const text = reveal(state, secret);
  return text.startsWith('⟨') ? ANY : sha256(text);
};
const perBusiness = <T>(of: Record<number, T>, database: number, rowsOf: (value: T, id: number) => Row[]): Row[] =>
  Object.entries(of).flatMap(([id, value]) =>
    databaseOf(Number(id)) === database
      ? rowsOf(value, Number(id)).map((row) => ({ business_id: Number(id), ...row }))
      : [],
  );

const TABLES: Record<string, Table> = {
  // The limits of all times, whether or not what is due has been folded into the row. Before `businesses`, whose rows it reads, too.
  former_limits: {
    sql: `select * from former_limits
      union all select id, coalesce(date(next_from, '-1 day'), ''), ${LIMITS} from businesses
      union all select id, '', ${LIMITS.map((name) => `next_${name}`)} from businesses where next_from is not null`,
    of: ['former_limits', 'businesses'],
    key: ['business_id', 'ends_on'],
    rows: ({ businesses }, database) =>
      businesses
        .filter(({ id }) => databaseOf(id) === database)
        .flatMap(({ id, plans }) =>
          plans.map(({ from: _, page_overage, alert_at, ...plan }, index) => {
            const next = plans[index + 1];
            return {
              ...plan,
              business_id: id,
              ends_on: next === undefined ? '' : plusDays(next.from, -1),
              page_overage: Number(page_overage),
              alert_at: alert_at === null ? null : JSON.stringify(alert_at),
            };
          }),
        ),
    hasExpired: never,
  },
  businesses: {
    sql: 'select * from businesses',
    ignored: [
      'decision',
      'creation_key',
      'creation_request',
      'limits_since',
      ...LIMITS,
      ...LIMITS.map((name) => `next_${name}`),
    ],
    key: ['id'],
    rows: ({ businesses }, database) =>
      businesses
        .filter(({ id }) => databaseOf(id) === database)
        .map(
          ({ billing_changes, plans: _, unfolded: next_from, extras, extra_requests: __, creation: ___, ...row }) => ({
            ...row,
            next_from,
            extras_until: Object.keys(extras).sort().at(-1) ?? null,
            has_billing_changes: Number(billing_changes.length > 0),
          }),
        ),
    hasExpired: never,
  },
  billing_changes: {
    sql: 'select * from billing_changes',
    key: ['business_id', 'starts_on'],
    rows: ({ businesses }, database) =>
      businesses
        .filter(({ id }) => databaseOf(id) === database)
        .flatMap(({ id, billing_changes }) => billing_changes.map((change) => ({ business_id: id, ...change }))),
    hasExpired: never,
  },
  extras: {
    sql: 'select * from extras',
    key: ['business_id', 'starts_on'],
    rows: ({ businesses }, database) =>
      businesses
        .filter(({ id }) => databaseOf(id) === database)
        .flatMap(({ id, extras }) =>
          Object.entries(extras).map(([starts_on, uses]) => ({ business_id: id, starts_on, uses })),
        ),
    hasExpired: never,
  },
  extra_requests: {
    sql: 'select business_id, lower(hex(digest)) as digest, starts_on, uses, day from extra_requests',
    key: ['business_id', 'digest'],
    rows: ({ businesses }, database) =>
      businesses
        .filter(({ id }) => databaseOf(id) === database)
        .flatMap(({ id, extra_requests }) =>
          Object.entries(extra_requests).map(([key, { starts_on, extra, day }]) => ({
            ...{ business_id: id, digest: sha256(key).slice(0, 32), starts_on, uses: extra, day },
          })),
        ),
    hasExpired: (_, { day }, now) => `${day}` < plusDays(dayOf(now), -400),
    forget(state, { business_id, digest }) {
      const requests = state.businesses.find(({ id }) => id === business_id)?.extra_requests ?? {};
      for (const key of Object.keys(requests)) if (sha256(key).startsWith(`${digest}`)) delete requests[key];
    },
  },
  sites: {
    sql: 'select * from sites',
    key: ['id'],
    rows: ({ entries }, database) =>
      entries.filter(isIn(database)).map((entry) => ({ ...entry, is_reachable: Number(isReachable(entry.site)) })),
    hasExpired: never,
  },
  former_tokens: {
    sql: 'select * from former_tokens',
    key: ['id'],
    rows: ({ former }, database) =>
      former.filter(isIn(database)).map(({ used_from, ...row }) => ({ ...row, used_from: storedPages(used_from) })),
    hasExpired: (_, { expires_at }, now) => `${expires_at}` <= stamp(now),
    forget(state, row) {
      state.former = state.former.filter(({ id }) => id !== row.id);
    },
  },
  api_keys: {
    sql: 'select * from api_keys',
    key: ['id'],
    rows: (state, database) =>
      state.keys
        .filter(({ id }) => databaseOf(id) === database)
        .map(({ secret, ...key }) => ({ ...key, hash: hashOf(state, secret) })),
    hasExpired: (_, { ends_at }, now) => ends_at !== null && `${ends_at}` <= stamp(now - 7 * 86_400_000),
    forget(state, { id }) {
      state.keys = state.keys.filter((key) => key.id !== id);
    },
  },
  codes: {
    // Without the hash, because a lost answer contained the only copy of the code.
    sql: 'select user_id, expires_at, business_id, minutes, role, return_url, actor_name, can_create_keys from codes',
    key: ['user_id', 'expires_at', 'business_id', 'minutes', 'role', 'return_url', 'actor_name', 'can_create_keys'],
    rows: (state, database) =>
      state.codes
        .filter(({ user_id }) => state.homes[user_id]?.database === database)
        .map(({ secret: _, ...code }) => code),
    hasExpired: (_, { expires_at }, now) => `${expires_at}` <= stamp(now),
    forget(state, row) {
      // Codes of users in other databases can expire at the same time.
      state.codes = state.codes.filter(
        ({ user_id, expires_at }) => user_id !== row.user_id || expires_at !== row.expires_at,
      );
    },
  },
  daily_usage: {
    // Numbers in ascending order, because the service stores them in the order of their first uses.
    sql: `select business_id, day, count, case when sources is not null then (
      select json_group_object(key, value) from (select * from json_each(sources) order by cast(key as integer))) end as sources from daily_usage`,
    key: ['business_id', 'day'],
    rows: ({ counts, bySource }, database) =>
      perBusiness(counts, database, (days, id) =>
        Object.entries(days).map(([day, count]) => {
          const sources = bySource[id]?.[day];
          const members = Object.entries(sources ?? {}).toSorted(([a], [b]) => Number(a) - Number(b));
          const text = `{${members.map(([number, uses]) => `"${number}":${uses}`)}}`;
          return { day, count, sources: sources === undefined ? null : text };
        }),
      ),
    hasExpired: never,
  },
  sources: {
    sql: 'select * from sources',
    key: ['business_id', 'number'],
    rows: ({ sources }, database) => perBusiness(sources, database, (names) => names),
    hasExpired: never,
  },
  ledger: {
    sql: `select business_id, lower(hex(digest)) as digest, date(day * 86400, 'unixepoch') as day,
      date(forget_on * 86400, 'unixepoch') as forget_on, quantity, source from ledger`,
    key: ['business_id', 'digest'],
    rows: ({ ledger }, database) =>
      perBusiness(ledger, database, (uses) =>
        Object.entries(uses).map(([name, { day, recorded_on, keep_days, quantity, source }]) => ({
          ...{ digest: sha256(name).slice(0, 32), day, quantity, source },
          forget_on: plusDays(recorded_on, keep_days + 1),
        })),
      ),
    hasExpired: ({ deletions }, { business_id, forget_on }, now) =>
      `${forget_on}` <= dayOf(now) || deletions.includes(Number(business_id)),
    forget(state, { business_id, digest }) {
      const uses = state.ledger[Number(business_id)] ?? {};
      for (const name of Object.keys(uses)) if (sha256(name).startsWith(`${digest}`)) delete uses[name];
    },
  },
  imported_days: {
    sql: 'select * from imported_days',
    key: ['business_id', 'day'],
    rows: ({ imported }, database) => perBusiness(imported, database, (days) => days.map((day) => ({ day }))),
    hasExpired: never,
  },
  alerts: {
    sql: 'select business_id, period, starts_on, ends_on, "limit", threshold, used, at from alerts',
    key: ['business_id', 'period', 'starts_on', 'limit', 'threshold'],
    rows: ({ alerts }, database) =>
      perBusiness(alerts, database, (all) => all.map(({ id: _, accepted: __, ...alert }) => alert)),
    hasExpired: (_, { at }, now) => `${at}` < plusDays(dayOf(now), -90),
    forget(state, { business_id, at, period, limit, threshold }) {
      const isOther = (alert: Alert) =>
        alert.at !== at || alert.period !== period || alert.limit !== limit || alert.threshold !== threshold;
      state.alerts[Number(business_id)] = (state.alerts[Number(business_id)] ?? []).filter(isOther);
    },
  },
  changes: {
    sql: 'select * from changes',
    key: ['subject', 'subject_id', 'id'],
    rows: ({ changes, homes }, database) =>
      changes
        .filter(({ subject, subject_id }) =>
          subject === 'business' ? databaseOf(subject_id) === database : homes[subject_id]?.database === database,
        )
        .map((change) => ({ ...change })),
    hasExpired(state, { subject, subject_id, id, at }, now) {
      const isLast = !state.changes.some(
        (other) => other.subject === subject && other.subject_id === subject_id && other.id > Number(id),
      );
      const isOfDeleted = subject === 'business' && state.deletions.includes(Number(subject_id));
      return !isLast && (`${at}` < plusDays(dayOf(now), -400) || isOfDeleted);
    },
    forget(state, row) {
      state.changes = state.changes.filter(
        ({ subject, subject_id, id }) => subject !== row.subject || subject_id !== row.subject_id || id !== row.id,
      );
    },
  },
  limit_refusals: {
    sql: 'select * from limit_refusals',
    key: ['business_id', 'day'],
    rows: ({ limited }, database) =>
      perBusiness(limited, database, (days) => Object.entries(days).map(([day, count]) => ({ day, count }))),
    hasExpired: never,
    forget(state, { business_id, day }) {
      delete state.limited[Number(business_id)]?.[`${day}`];
    },
  },
  seen_origins: {
    sql: 'select * from seen_origins',
    ignored: ['candidates'],
    key: ['business_id', 'origin'],
    rows: ({ refused }, database) =>
      perBusiness(refused, database, (origins) => origins.map(({ total: _, ...origin }) => origin)),
    hasExpired: (_, { last_seen }, now) => `${last_seen}` < plusDays(dayOf(now), -90),
    forget(state, { business_id, origin }) {
      const id = Number(business_id);
      state.refused[id] = (state.refused[id] ?? []).filter((refused) => refused.origin !== origin);
    },
  },
  work: {
    sql: 'select user_id, class, busy_until, day, ids, bytes from work',
    key: ['user_id', 'class'],
    rows: ({ taken, homes }, database) =>
      Object.entries(taken).flatMap(([user_id, classes]) =>
        homes[Number(user_id)]?.database === database
          ? Object.entries(classes).map(([name, { until, day, ids, bytes }]) => ({
              ...{ user_id: Number(user_id), class: name },
              ...{ busy_until: until, day: numberOfDay(day), ids, bytes },
            }))
          : [],
      ),
    hasExpired: never,
  },
  deletions: {
    sql: 'select business_id from deletions',
    key: ['business_id'],
    rows: ({ deletions }, database) =>
      deletions.filter((id) => databaseOf(id) === database).map((business_id) => ({ business_id })),
    hasExpired: ({ ledger, changes }, { business_id }) =>
      Object.keys(ledger[Number(business_id)] ?? {}).length === 0 &&
      changes.filter(({ subject, subject_id }) => subject === 'business' && subject_id === business_id).length <= 1,
    forget(state, { business_id }) {
      state.deletions = state.deletions.filter((id) => id !== business_id);
    },
  },
  homes: {
    sql: 'select * from homes',
    key: ['user_id'],
    rows: ({ homes }, database) =>
      database === 0 ? Object.entries(homes).map(([id, home]) => ({ user_id: Number(id), ...home })) : [],
    hasExpired: never,
  },
  imported_tokens: {
    sql: 'select * from imported_tokens',
    key: ['hash'],
    rows: ({ claims }, database) =>
      database === 0 ? Object.entries(claims).map(([token, { user_id }]) => ({ hash: sha256(token), user_id })) : [],
    hasExpired: never,
  },
  retired_tokens: {
    sql: 'select hash from retired_tokens',
    key: ['hash'],
    rows: ({ retired }, database) => (retired[database] ?? []).map((token) => ({ hash: sha256(token) })),
    hasExpired: never,
  },
};
/** The tables whose rows are compared one by one, in an order in which forgetting a row of one makes rows of the next expire. */
export const COMPARED = Object.keys(TABLES);
const JSON_COLUMNS = ['before', 'after'];

/**
 * What each table was last found equal to. While neither the table nor the model's rows change, it need not be read again. Missing if the
 * comparison changed the model.
 */
const found = new WeakMap<SimulatedD1, Map<string, string>>();

/**
 * Compares every table of every database with the model. The purge may have deleted rows that have expired: the model then forgets them.
 * `isSettled`: it must have deleted them all.
 */
export function compareDatabase(
  model: Model,
  databases: readonly SimulatedD1[],
  now: number,
  { isSettled = false } = {},
): string | null {
  for (const [number, database] of databases.entries())
    for (const name of COMPARED) {
      const difference = compareTable(model.state, { name, number, database }, now, isSettled);
      if (difference !== null) return `database ${number}, ${difference}`;
    }
  return null;
}

function compareTable(
  state: State,
  { name, number, database }: { name: string; number: number; database: SimulatedD1 },
  now: number,
  isSettled: boolean,
): string | null {
  const { sql, of = [name], ignored, key, rows, hasExpired, forget } = TABLES[name] as Table;
  /** Names each row. Rows with the same key are numbered. */
  const named = (all: Row[]) => {
    const seen = new Map<string, number>();
    return all.map((row): [string, Row] => {
      const id = key.map((column) => row[column]).join(' ');
      seen.set(id, (seen.get(id) ?? 0) + 1);
      return [seen.get(id) === 1 ? id : `${id} #${seen.get(id)}`, row];
    });
  };
  const expected = rows(state, number);
  const text = reveal(state, JSON.stringify(expected));
  const known = found.get(database) ?? new Map<string, string>();
  found.set(database, known);
  if (!isSettled && !of.some((table) => database.changed.has(table)) && known.get(name) === text) return null;
  let changesModel = text.includes('⟨');
  const all = database.rows(sql);
  for (const column of ignored ?? []) for (const row of all) delete row[column];
  const actual = new Map(named(all));
  for (const [id, row] of named(expected)) {
    const stored = actual.get(id);
    const wasUnsure = isUnsure(state, name, row);
    changesModel ||= wasUnsure || stored === undefined;
    if (stored === undefined) {
      if (!wasUnsure && (forget === undefined || !hasExpired(state, row, now))) return `${name} ${id} is missing`;
      forget?.(state, row);
      continue;
    }
    if (isSettled && hasExpired(state, row, now)) return `${name} ${id} has expired, but is still there`;
    actual.delete(id);
    const isRight = wasUnsure && adopt(state, name, row, stored);
    if (isRight || isSame(row, stored)) continue;
    const shown = Object.fromEntries(
      Object.entries(stored).map(([column, value]) => [
        column,
        JSON_COLUMNS.includes(column) && value !== null ? JSON.parse(`${value}`) : value,
      ]),
    );
    const difference = differenceIn(state, row, shown, `${name} ${id}`);
    if (difference !== null) return difference;
  }
  // A refusal that was not stored has not deleted the rarest origin either. The model learns that it is still there.
  for (const [id, row] of name === 'seen_origins' ? actual : []) {
    if (!isUnsure(state, name, row)) continue;
    const business_id = row.business_id as number;
    const { origin, count, first_seen, last_seen, let_in } = row as Refused & Row;
    const others = state.refused[business_id] ?? [];
    const learned = { origin, count, first_seen, last_seen, let_in, total: count };
    state.refused[business_id] = [...others, learned].sort((a, b) => (a.origin < b.origin ? -1 : 1));
    actual.delete(id);
  }
  const [extra] = actual.keys();
  if (extra !== undefined) return `${name} has more: ${JSON.stringify(actual.get(extra))}`;
  database.changed.delete(name);
  if (changesModel) known.delete(name);
  else known.set(name, text);
  becomeSure(state, name, number);
  return null;
}

/** The model has learned what a table of a database contains. */
function becomeSure({ unsure, former }: State, table: string, number: number): void {
  const isElsewhere = (id: number) => databaseOf(id) !== number;
  if (table === 'api_keys') unsure.keys = unsure.keys.filter(isElsewhere);
  if (table === 'former_tokens')
    unsure.former = unsure.former.filter((text) =>
      former.some(({ token, business_id }) => token === text && isElsewhere(business_id)),
    );
  if (table === 'seen_origins') unsure.refused = unsure.refused.filter(isElsewhere);
  if (table === 'limit_refusals') unsure.limited = unsure.limited.filter(isElsewhere);
}

function isSame(row: Row, stored: Row): boolean {
  const columns = Object.keys(stored);
  return columns.length === Object.keys(row).length && columns.every((column) => row[column] === stored[column]);
}

/** Whether a Worker may have ended before it stored this after its response. */
const isUnsure = ({ unsure }: State, table: string, row: Row): boolean =>
  (table === 'api_keys' && unsure.keys.includes(row.id as number)) ||
  (table === 'former_tokens' && unsure.former.includes(row.token as string)) ||
  (table === 'seen_origins' && unsure.refused.includes(row.business_id as number)) ||
  (table === 'limit_refusals' && unsure.limited.includes(row.business_id as number));

/** The pages of a former token, the latest first, as many as are stored. */
const storedPages = (pages: Record<string, string> | null): string | null =>
  pages &&
  JSON.stringify(
    Object.fromEntries(
      Object.entries(pages)
        .toSorted(([a, on], [b, other]) => other.localeCompare(on) || (a < b ? -1 : 1))
        .slice(0, 10),
    ),
  );

/** Learns what was stored after a response, if it can be right. */
function adopt(state: State, table: string, row: Row, stored: Row): boolean {
  if (table === 'api_keys') {
    const key = state.keys.find(({ id }) => id === row.id);
    if (key === undefined || `${stored.last_used_on ?? ''}` > `${key.last_used_on}`) return false;
    key.last_used_on = stored.last_used_on as string | null;
    row.last_used_on = key.last_used_on;
    return false; // its other columns must be equal
  }
  if (table === 'former_tokens') {
    const former = state.former.find(({ token }) => token === row.token);
    if (former === undefined || `${stored.last_used_on ?? ''}` > `${former.last_used_on}`) return false;
    const known = former.used_from ?? {};
    const pages: Record<string, string> | null = JSON.parse(`${stored.used_from}`);
    if (!Object.entries(pages ?? {}).every(([origin, day]) => day <= `${known[origin]}`)) return false;
    Object.assign(former, { last_used_on: stored.last_used_on, used_from: pages });
    Object.assign(row, { last_used_on: stored.last_used_on, used_from: stored.used_from });
    return false; // its other columns must be equal
  }
  if (table === 'limit_refusals') {
    const days = state.limited[row.business_id as number] ?? {};
    const day = `${row.day}`;
    if (Number(stored.count) > Number(days[day])) return false;
    days[day] = Number(stored.count);
    return true;
  }
  const refused = state.refused[row.business_id as number]?.find(({ origin }) => origin === row.origin);
  if (refused === undefined || Number(stored.count) > refused.total || `${stored.last_seen}` > refused.last_seen)
    return false;
  const { origin, count, first_seen, last_seen, let_in } = stored;
  Object.assign(refused, { origin, count, first_seen, last_seen, let_in });
  return true;
}
