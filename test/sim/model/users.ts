// Erasure of a user (docs/api.md, "Users").
import { ANY, type Answer, type Call, invalidField, success, userOf } from './call.ts';
import { rulesOf } from './rule.ts';
import { type Change, databaseOf, type Json, type State } from './state.ts';
import { dayOf, plusDays, stamp } from './time.ts';

const RECENT = 'must be a user for whom nothing was created in the last minute: retry later';
function eraseUser(call: Call): Answer {
  const { state, now } = call;
  const user_id = userOf(call);
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
  delete state.taken[user_id];
  for (const claim of Object.values(state.claims)) if (claim.user_id === user_id) claim.user_id = 0;
}

const LETTERS = '0123456789';
const listDatabases = ({ state, now }: Call): Answer => {
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

export const users = rulesOf({
  erase_user: {
    ...{ who: 'operator', does: 'erase users', inactive: true, retry: 'always' },
    on: { 'DELETE /user/:user_id': eraseUser },
  },
  read_databases: {
    ...{ who: 'operator reader', does: 'read databases', inactive: true, retry: 'always' },
    on: { 'GET /database': listDatabases },
  },
});
