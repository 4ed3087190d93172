// Export and erasure of a user (docs/api.md, "Users").
import { ANY, Answer, type Call, invalidField, success } from './call.ts';
import { masked, shownName, shownTo } from './changes.ts';
import { shownKey } from './keys.ts';
import { lastFour } from './secrets.ts';
import { type Business, type Change, databaseOf, type Json, type State } from './state.ts';
import { dayOf, plusDays, stamp } from './time.ts';

type Line = Json & { type: string };
/** A section of an export: its lines, each with its position, and how many fit on a page. */
type Section = { name: string; rows: { line: Line; id: number; key: string | number }[]; most: number };

function sectionsOf({ state }: Call, user_id: number): Section[] {
  const own = state.businesses.filter((business) => business.user_id === user_id).toSorted((a, b) => a.id - b.id);
  const ofEach = (
    name: string,
    rowsOf: (business: Business) => { line: Line; key: string | number }[],
    most = 1000,
  ) => {
    const rows = own.flatMap((business) =>
      rowsOf(business)
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .map((row) => ({ ...row, id: business.id })),
    );
    return { name, rows, most };
  };
  const lineOf = (change: Change): Line => {
    const { subject, subject_id, before, after, actor_user_id: _, ...rest } = change;
    const actor_name = shownName(change, user_id);
    const business_id = subject === 'business' ? subject_id : null;
    const shown = (content: Json | null) => shownTo(state, user_id, change, content);
    return { type: 'change', business_id, ...rest, actor_name, before: shown(before), after: shown(after) };
  };
  const naming = (name: string, of: 'before' | 'after'): Section => {
    const rows = state.changes
      .filter((change) => change.subject === 'business' && change[of]?.user_id === user_id)
      .filter(({ subject_id }) => !own.some(({ id }) => id === subject_id))
      .toSorted((a, b) => a.subject_id - b.subject_id || a.id - b.id)
      .map((change) => ({ line: lineOf(change), id: change.subject_id, key: change.id }));
    return { name, rows, most: 20 };
  };
  const businesses = own.map((business) => {
    const { token, billing_changes: _, creation: __, ...columns } = business;
    const former_tokens = state.former
      .filter(({ business_id }) => business_id === business.id)
      .toSorted((a, b) => a.place - b.place)
      .map(({ token, expires_at }) => ({ last_four: lastFour(token), expires_at }));
    const alert_at = business.alert_at ?? [80, 100];
    const line = { type: 'business', ...columns, token: masked(token), alert_at, former_tokens };
    return { line, id: business.id, key: 0 };
  });
  const isOfUser = (change: Change) => change.subject === 'user' && change.subject_id === user_id;
  const keys = state.keys.filter((key) => key.user_id === user_id).toSorted((a, b) => a.id - b.id);
  return [
    { name: 'businesses', rows: businesses, most: 1000 },
    ofEach('sites', ({ id }) =>
      state.entries
        .filter(({ business_id }) => business_id === id)
        .map((entry) => ({ line: { type: 'site', ...entry }, key: entry.site })),
    ),
    ofEach('counts', ({ id }) =>
      Object.entries(state.counts[id] ?? {}).map(([date, count]) => ({
        line: { type: 'count', business_id: id, date, count },
        key: date,
      })),
    ),
    ofEach('billing_changes', ({ id, billing_changes }) =>
      billing_changes.map((change) => ({
        line: { type: 'billing_change', business_id: id, ...change },
        key: change.starts_on,
      })),
    ),
    ofEach('imported_days', ({ id }) =>
      (state.imported[id] ?? []).map((date) => ({ line: { type: 'imported_day', business_id: id, date }, key: date })),
    ),
    ofEach('refused_origins', ({ id }) =>
      (state.refused[id] ?? []).map((refused) => ({
        line: { type: 'refused_origin', business_id: id, ...refused },
        key: refused.origin,
      })),
    ),
    { name: 'alerts', rows: [], most: 1000 },
    ofEach(
      'changes_of_businesses',
      ({ id }) =>
        state.changes
          .filter(({ subject, subject_id }) => subject === 'business' && subject_id === id)
          .map((change) => ({ line: lineOf(change), key: change.id })),
      20,
    ),
    naming('changes_before', 'before'),
    naming('changes_after', 'after'),
    {
      name: 'changes_of_user',
      rows: state.changes.filter(isOfUser).map((change) => ({ line: lineOf(change), id: change.id, key: 0 })),
      most: 20,
    },
    {
      name: 'keys',
      rows: keys.map((key) => {
        const { ends_at, session_of, actor_name } = key;
        const line = { type: ends_at === null ? 'key' : 'session', ...shownKey(key) };
        return { line: { ...line, ...(ends_at !== null && { ends_at, session_of, actor_name }) }, id: key.id, key: 0 };
      }),
      most: 1000,
    },
    {
      name: 'codes',
      rows: state.codes
        .filter((code) => code.user_id === user_id)
        .map(({ secret: _, role, ...code }) => ({
          line: { type: 'code', ...code, read_only: role === 'read' },
          id: 0,
          key: 0,
        })),
      most: Number.POSITIVE_INFINITY,
    },
  ];
}

const partsOf = (cursor: string | null) => (cursor ?? '').split('.').filter((part, index) => part !== '' || index > 0);
/** Whether an export can continue at a cursor. */
export function isCursor(call: Call, cursor: string | null): boolean {
  const [name = 'businesses'] = partsOf(cursor);
  return sectionsOf(call, Number(call.parameters.user_id)).some((section) => section.name === name);
}

export function exportUser(call: Call, user_id: number): Answer {
  const { state, query, own } = call;
  const sections = sectionsOf(call, user_id);
  const cursor = query.get('cursor');
  const [name = 'businesses', id, ...rest] = partsOf(cursor);
  const first = sections.findIndex((section) => section.name === name);
  const key = rest.join('.');
  const isAfter = (row: Section['rows'][number]) => {
    if (id === undefined) return true;
    if (row.id !== Number(id)) return row.id > Number(id);
    return typeof row.key === 'string' ? row.key > key : row.key > Number(key);
  };
  const lines: Line[] = [];
  if (cursor === null) {
    const home = state.homes[user_id] ?? { database: null, place: null, claimed_at: null };
    const imported_tokens = Object.values(state.claims).filter((claim) => claim.user_id === user_id).length;
    lines.push({ type: 'user', user_id, ...home, imported_tokens });
  }
  let next: string | null = null;
  for (const [index, { name, rows, most }] of sections.entries()) {
    if (index < first || next !== null) continue;
    if (id !== undefined && index > first) next = name;
    else {
      const page = rows.filter((row) => index > first || isAfter(row)).slice(0, most);
      lines.push(...page.map(({ line }) => line));
      const last = page.at(-1);
      if (last !== undefined && page.length === most) next = `${name}.${last.id}.${last.key}`;
    }
  }
  if (next === null) lines.push({ type: 'end' });
  const link = `<${own}/api/v1/user/${user_id}/export?cursor=${encodeURIComponent(next ?? '')}>; rel="next"`;
  return new Answer(
    200,
    null,
    { lines },
    {
      'Content-Type': 'application/x-ndjson',
      Link: next === null ? null : link,
    },
  );
}

const RECENT = 'must be a user for whom nothing was created in the last minute: retry later';
export function eraseUser({ state, now }: Call, user_id: number): Answer {
  const [first] = state.businesses
    .filter((business) => business.user_id === user_id)
    .map(({ id }) => id)
    .toSorted((a, b) => a - b);
  if (first !== undefined)
    throw invalidField(
      'user_id',
      `must be a user without a business: delete business ${first} first, or transfer it to another user`,
    );
  const recent = stamp(now - 60_000);
  const own = state.keys.filter((key) => key.user_id === user_id);
  const newest = own.filter(({ ends_at }) => ends_at === null).toSorted((a, b) => b.id - a.id)[0];
  const times = [state.homes[user_id]?.claimed_at, newest?.created_at];
  if (times.some((time) => time !== undefined && time > recent)) throw invalidField('user_id', RECENT);
  forgetUser(state, user_id);
  return success({ erased: { user_id } });
}

function forgetUser(state: State, user_id: number): void {
  const ids = state.keys.filter((key) => key.user_id === user_id).map(({ id }) => id);
  const without = (content: Json | null, name: string): Json | null => {
    if (content === null) return null;
    const { [name]: _, ...rest } = content;
    return rest;
  };
  const names = ({ before, after }: Change) => before?.user_id === user_id || after?.user_id === user_id;
  const isGone = ({ subject, subject_id }: Change) =>
    subject === 'business' && !state.businesses.some(({ id }) => id === subject_id);
  const owned = state.changes.filter((change) => isGone(change) && names(change)).map(({ subject_id }) => subject_id);
  state.changes = state.changes.filter(
    (change) =>
      !(isGone(change) && owned.includes(change.subject_id)) || names(change) || change.action === 'delete_business',
  );
  for (const change of state.changes) {
    if (change.actor_user_id === user_id) Object.assign(change, { actor_name: null, actor_user_id: null });
    if (change.before?.user_id === user_id) change.before = null;
    if (change.after?.user_id === user_id) change.after = null;
    const isOfKey = change.subject === 'business' && ['create_key', 'revoke_key'].includes(change.action);
    if (isOfKey && ids.includes((change.after ?? change.before)?.id as number)) {
      change.before = without(change.before, 'name');
      change.after = without(change.after, 'name');
    }
  }
  state.changes = state.changes.filter(({ subject, subject_id }) => subject !== 'user' || subject_id !== user_id);
  state.spent.push(...state.keys.filter((key) => key.user_id === user_id).map(({ secret }) => secret));
  state.codes = state.codes.filter((code) => code.user_id !== user_id);
  state.keys = state.keys.filter((key) => key.user_id !== user_id);
  delete state.homes[user_id];
  for (const claim of Object.values(state.claims)) if (claim.user_id === user_id) claim.user_id = 0;
}

const LETTERS = '0123456789';
export const listDatabases = ({ state, now }: Call): Answer => {
  const yesterday = plusDays(dayOf(now), -1);
  const databases = state.databases.map((number) => {
    const own = state.businesses.filter(({ id }) => databaseOf(id) === number);
    return {
      number,
      letter: LETTERS[number],
      binding: number === 0 ? 'DB' : `DB_${number}`,
      bytes: ANY,
      uses_yesterday: Math.min(
        Number.MAX_SAFE_INTEGER,
        own.reduce((sum, { id }) => sum + (state.counts[id]?.[yesterday] ?? 0), 0),
      ),
      backlog: ANY,
    };
  });
  return success({ databases });
};
