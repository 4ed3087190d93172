// Who changed what (docs/api.md, "Changes").
import { type Answer, businessOf, type Call, success, userOf } from './call.ts';
import { READERS } from './callers.ts';
import { CHANGES, USER_CHANGES } from './input.ts';
import { rulesOf } from './rule.ts';
import { lastFour, reveal } from './secrets.ts';
import type { Change, Json, State } from './state.ts';
import { stamp } from './time.ts';

export function actorOf({ key, operator }: Call): string {
  if (key === null) return `operator (…${operator})`;
  const four = `(…${key.last_four})`;
  const isOfLink = key.ends_at !== null && key.session_of === null;
  return isOfLink ? `console link ${four}` : `key ${key.session_of ?? key.id} ${four}`;
}
export const masked = (secret: string): string => `…${lastFour(secret)}`;

export function record(
  call: Call,
  action: string,
  { before = null, after = null }: { before?: Json | null; after?: Json | null },
  subject: Change['subject'] = 'business',
  subject_id = call.business?.id ?? 0,
): void {
  const { state, now, key } = call;
  const actor_name = key?.actor_name ?? null;
  const actor_user_id = actor_name === null ? null : (key?.user_id ?? null);
  const ids = state.changes.filter((each) => each.subject === subject && each.subject_id === subject_id);
  const id = Math.max(0, ...ids.map((each) => each.id)) + 1;
  state.changes.push({
    subject,
    subject_id,
    id,
    at: stamp(now),
    actor: actorOf(call),
    action,
    before,
    after,
    actor_name,
    actor_user_id,
  });
}

const keyName = (state: State, id: unknown, user_id: number) =>
  state.keys.find((key) => key.id === id && key.user_id === user_id)?.name ?? null;

/**
 * `before` or `after` for a user: with the current name of a key that is the user's own, without the name of any other, and null if it names
 * another user.
 */
function shownTo(state: State, user_id: number, change: Change, content: Json | null): Json | null {
  if (content?.user_id !== undefined && content.user_id !== user_id) return null;
  if (content === null || change.subject === 'user' || !['create_key', 'revoke_key'].includes(change.action))
    return content;
  const { name: _, ...rest } = content;
  const name = keyName(state, content.id, user_id);
  return name === null ? rest : { ...rest, name };
}

/** The person who made a change. Another owner does not see the name. */
const shownName = ({ actor_name, actor_user_id }: Change, user_id: number | null): string | null =>
  actor_user_id === user_id ? actor_name : null;

const EXAMINED = 1000;
/** How a search text is written in a domain. */
const DOMAINS: Record<string, string> = { bücher: 'xn--bcher-kva', BÜCHER: 'xn--bcher-kva' };

function pageOf(call: Call, all: Change[], owner_id: number | null): Answer {
  const { state, query } = call;
  const limit = Number(query.get('limit') ?? 20);
  const newest = Math.max(0, ...all.map(({ id }) => id));
  const before = Math.min(Number(query.get('before') ?? Number.MAX_SAFE_INTEGER), newest + 1);
  const from = query.get('from') ?? '';
  const to = query.get('to') ?? '9999-12-31';
  const action = query.get('action');
  const search = query.get('search');
  const shown = (change: Change, content: Json | null) =>
    owner_id === null ? content : shownTo(state, owner_id, change, content);
  const keyNameOf = ({ actor }: Change) => {
    const keyId = /^key (\d+)/.exec(actor)?.[1];
    return keyId === undefined || owner_id === null ? null : keyName(state, Number(keyId), owner_id);
  };
  const hasText = (content: Json | string | null) => {
    const json = reveal(state, JSON.stringify(content) ?? '');
    const text = (typeof content === 'string' ? content : json).toLowerCase();
    const wanted = search ?? '';
    return (
      content !== null &&
      (text.includes(wanted.toLowerCase()) || text.includes(DOMAINS[wanted] ?? wanted.toLowerCase()))
    );
  };
  const found = all
    .filter((change) => change.id < before && change.id >= before - EXAMINED)
    .filter(({ at }) => from <= at.slice(0, 10) && at.slice(0, 10) <= to)
    .filter((change) => action === null || change.action === action)
    .filter((change) => {
      const contents = [change.before, change.after].map((each) => shown(change, each));
      return search === null || [...contents, keyNameOf(change), shownName(change, owner_id)].some(hasText);
    })
    .toSorted((a, b) => b.id - a.id);
  const changes = found.slice(0, limit).map((change) => {
    return {
      id: change.id,
      at: change.at,
      actor: change.actor,
      key_name: keyNameOf(change),
      actor_name: shownName(change, owner_id),
      action: change.action,
      before: shown(change, change.before),
      after: shown(change, change.after),
    };
  });
  const examinedTo = before - EXAMINED;
  const isMore = found.length > limit;
  const next = isMore ? changes.at(-1)?.id : all.some(({ id }) => id < examinedTo) ? examinedTo : null;
  return success({ changes, next });
}

const readChanges = (call: Call): Answer => {
  const { id, user_id } = businessOf(call);
  const own = call.state.changes.filter(({ subject, subject_id }) => subject === 'business' && subject_id === id);
  return pageOf(call, own, user_id);
};
const readUserChanges = (call: Call): Answer => {
  const user_id = userOf(call);
  const own = call.state.changes.filter(({ subject, subject_id }) => subject === 'user' && subject_id === user_id);
  return pageOf(call, own, user_id);
};

export const changes = rulesOf({
  read_changes: {
    ...{ who: READERS, does: 'read changes', inactive: true, retry: 'always' },
    query: CHANGES,
    on: { 'GET /business/:business_id/changes': readChanges },
  },
  read_user_changes: {
    ...{ who: 'operator reader', does: 'read the changes of users', inactive: true, retry: 'always' },
    query: USER_CHANGES,
    on: { 'GET /user/:user_id/changes': readUserChanges },
  },
});
