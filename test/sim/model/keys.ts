// API keys, console links and sessions (docs/api.md, "API keys", "Console links").
import { type Answer, type Call, invalidField, sentIn, success, unknownId, userOf } from './call.ts';
import { OWNERS } from './callers.ts';
import { actorOf, masked, record } from './changes.ts';
import { claimHome } from './homes.ts';
import { consoleLink, idOf, newKey } from './input.ts';
import { rulesOf } from './rule.ts';
import { lastFour, newMarker } from './secrets.ts';
import { nameOf, numberOfLabel } from './sources.ts';
import { type Key, nextId, type State } from './state.ts';
import { dayOf, plusDays, stamp } from './time.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const MAX_SESSIONS = 20;

function shownKey(state: State, key: Key) {
  const { secret: _, ends_at, session_of, actor_name, can_create_keys, creator_id, source, ...shown } = key;
  const label = key.business_id === null || source === null ? null : nameOf(state, key.business_id, source);
  return { ...shown, label };
}
export const keysOf = (state: State, user_id: number): Key[] =>
  state.keys.filter((key) => key.user_id === user_id && key.ends_at === null).toSorted((a, b) => a.id - b.id);

const listKeys = (call: Call): Answer =>
  success({ keys: keysOf(call.state, userOf(call)).map((key) => shownKey(call.state, key)) });

type NewKey = { name?: string; role?: Key['role']; business_id?: number; label?: string; expires_on?: string };
const isOf = ({ state }: Call, user_id: number, business_id: number) =>
  state.businesses.some((business) => business.id === business_id && business.user_id === user_id);
const notOwned = (user_id: number) => invalidField('business_id', `must be a business of user ${user_id}`);

/** The last day of the keys that a key or a session creates. Null if the key does not expire. */
const latestOf = ({ ends_at, expires_on }: Key, now: number) =>
  ends_at === null ? expires_on : plusDays(dayOf(now), 366);
/** Throws if a user's own key or session cannot create a key now. */
function requireRoom({ state, now }: Call, creator: Key, expires_on: string | undefined, latest: string | null): void {
  if (creator.ends_at !== null && expires_on === undefined)
    throw invalidField('expires_on', 'is required in a console session');
  if (expires_on !== undefined && latest !== null && expires_on > latest)
    throw invalidField('expires_on', `must be at most ${latest}`);
  const today = dayOf(now);
  const own = keysOf(state, creator.user_id).filter(({ creator_id }) => creator_id !== null);
  const working = own.filter((key) => key.revoked_at === null && (key.expires_on ?? today) >= today);
  if (working.length >= 20) throw invalidField('keys', 'must not exceed 20 working keys: revoke one first');
  if (own.filter(({ created_at }) => created_at >= today).length >= 20)
    throw invalidField('keys', 'must not exceed 20 created per day (UTC)');
}

/** Of the keys that no operator created, the last 200 that no longer work are kept. */
function forgetEnded(state: State, user_id: number, today: string): void {
  const ended = keysOf(state, user_id).filter(
    (key) => key.creator_id !== null && (key.revoked_at !== null || (key.expires_on ?? today) < today),
  );
  const forgotten = new Set(ended.slice(0, -200));
  state.keys = state.keys.filter((key) => !forgotten.has(key));
}

function createKey(call: Call): Answer {
  const user_id = userOf(call);
  const { name, role = 'full', business_id, label, expires_on } = sentIn<NewKey>(call);
  const { state, now } = call;
  if (business_id !== undefined && !isOf(call, user_id, business_id)) throw notOwned(user_id);
  if (call.key === null && business_id === undefined) claimHome(call, user_id);
  const latest = call.key === null ? null : latestOf(call.key, now);
  if (call.key !== null) requireRoom(call, call.key, expires_on, latest);
  const source = business_id === undefined || label === undefined ? null : numberOfLabel(state, business_id, label);
  if (source === undefined)
    throw invalidField('label', 'must be a label that the business has: it cannot have more than 200');
  const secret = newMarker(state);
  const key: Key = {
    id: nextId(state, state.homes[user_id]?.database ?? 0, 'api_keys'),
    user_id,
    name: name?.trim() ?? 'API key',
    secret,
    last_four: lastFour(secret),
    created_at: stamp(now),
    expires_on: expires_on ?? latest,
    revoked_at: null,
    business_id: business_id ?? null,
    source,
    role,
    ends_at: null,
    session_of: null,
    last_used_on: null,
    actor_name: null,
    can_create_keys: null,
    created_by: actorOf(call),
    created_by_name: call.key?.actor_name ?? null,
    creator_id: call.key?.id ?? null,
  };
  state.keys.push(key);
  forgetEnded(state, user_id, dayOf(now));
  const after = {
    key: masked(secret),
    name: key.name,
    expires_on: key.expires_on,
    business_id: key.business_id,
    ...(label !== undefined && { label }),
    role,
    id: key.id,
  };
  record(call, 'create_key', { after }, business_id === undefined ? 'user' : 'business', business_id ?? user_id);
  return success({ api_key: secret, ...shownKey(state, key) });
}

/** Ends a session at `now`, unless it has ended. */
function end(session: Key, now: number): void {
  session.revoked_at = stamp(now);
  if (session.ends_at !== null && session.ends_at > stamp(now)) session.ends_at = stamp(now);
}

function revokeKey(call: Call): Answer {
  const { state, now } = call;
  const user_id = userOf(call);
  const key = keysOf(state, user_id).find(({ id }) => id === idOf(call.parameters.key_id ?? ''));
  if (key === undefined) throw unknownId('Key id');
  const ending = [key, ...keysOf(state, user_id).filter(({ creator_id }) => creator_id === key.id)];
  for (const each of ending) {
    const hasExpired = (each.expires_on ?? dayOf(now)) < dayOf(now);
    if (each.revoked_at !== null || (each !== key && hasExpired)) continue;
    each.revoked_at = stamp(now);
    const { id, name, business_id } = each;
    const before = { id, key: `…${each.last_four}`, name };
    record(call, 'revoke_key', { before }, business_id === null ? 'user' : 'business', business_id ?? user_id);
  }
  // The sessions of a key that has expired have ended with it.
  const ids = ending.filter(({ revoked_at }) => revoked_at !== null).map(({ id }) => id);
  for (const session of state.keys)
    if (session.session_of !== null && ids.includes(session.session_of) && session.revoked_at === null)
      end(session, now);
  return success({ key: shownKey(state, key) });
}

type Link = {
  business_id?: number;
  role?: 'full' | 'read';
  minutes?: number;
  return_url?: string | null;
  as?: string;
  can_create_keys?: boolean;
};
function createLink(call: Call): Answer {
  const user_id = userOf(call);
  const link = sentIn<Link>(call);
  const { business_id, role = 'full', minutes = 60, return_url = null } = link;
  const can_create_keys = link.can_create_keys ? 1 : null;
  const actor_name = link.as?.trim() ?? null;
  const { state, now, own } = call;
  const today = dayOf(now);
  const hasBusiness = state.businesses.some((business) => business.user_id === user_id);
  const hasKey = keysOf(state, user_id).some(
    (key) => key.business_id === null && key.revoked_at === null && (key.expires_on ?? today) >= today,
  );
  if (state.homes[user_id] === undefined || !(hasBusiness || hasKey)) throw unknownId('User id');
  if (business_id !== undefined && !isOf(call, user_id, business_id)) throw notOwned(user_id);
  const secret = newMarker(state);
  const expires_at = stamp(now + 2 * MINUTE_MS);
  const of = { user_id, business_id: business_id ?? null, actor_name, can_create_keys } as const;
  state.codes.push({ ...of, secret, role, minutes, expires_at, return_url });
  return success({ url: `${own}/owner#code=${secret}`, expires_at });
}

function startSession(call: Call): Answer {
  const { state, now, key, code } = call;
  const secret = newMarker(state);
  const started = {
    name: 'console',
    secret,
    created_at: stamp(now),
    revoked_at: null,
    last_used_on: dayOf(now),
    actor_name: code?.actor_name ?? null,
    can_create_keys: code?.can_create_keys ?? null,
    ...{ created_by: null, created_by_name: null, creator_id: null },
  };
  let session: Key;
  if (code !== null) {
    const { user_id, business_id } = code;
    const ends_at = stamp(now + code.minutes * MINUTE_MS);
    session = {
      ...started,
      id: nextId(state, state.homes[user_id]?.database ?? 0, 'api_keys'),
      user_id,
      business_id,
      source: null,
      last_four: lastFour(secret),
      role: code.role,
      session_of: null,
      ends_at,
      expires_on: null,
    };
    state.codes = state.codes.filter((other) => other !== code);
    state.spent.push(code.secret);
  } else {
    if (key === null) throw new Error('only a key or a code starts a session');
    const { user_id, business_id, source, last_four, role, expires_on } = key;
    const latest = stamp(now + 12 * HOUR_MS);
    const ofKey = expires_on === null ? latest : `${plusDays(expires_on, 1)}T00:00:00.000000Z`;
    session = {
      ...started,
      id: nextId(state, state.homes[user_id]?.database ?? 0, 'api_keys'),
      user_id,
      business_id,
      source,
      last_four,
      role,
      session_of: key.id,
      ends_at: ofKey < latest ? ofKey : latest,
      expires_on: null,
    };
  }
  state.keys.push(session);
  dropExcess(state, session, now);
  return success({
    session_key: secret,
    expires_at: session.ends_at,
    user_id: session.user_id,
    can_create_keys: session.can_create_keys === 1,
    role: session.role,
    return_url: code?.return_url ?? null,
  });
}

/** Forgets sessions if there are too many: ended ones, then those of the same origin, the oldest first. */
function dropExcess(state: State, session: Key, now: number): void {
  const isSame = (other: Key) => other.session_of === session.session_of && other.business_id === session.business_id;
  const rank = (other: Key) => 2 * Number(`${other.ends_at}` > stamp(now)) + Number(!isSame(other));
  const own = state.keys.filter(({ user_id, ends_at }) => user_id === session.user_id && ends_at !== null);
  const others = own.filter((other) => other !== session).toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
  const dropped = others.slice(0, Math.max(0, own.length - MAX_SESSIONS));
  state.keys = state.keys.filter((key) => !dropped.includes(key));
}

function endSession({ key, now }: Call): Answer {
  if (key !== null) end(key, now);
  return success({ ended: true });
}

export const keys = rulesOf({
  list_keys: {
    ...{ who: `${OWNERS} reader`, does: 'list API keys', inactive: true, retry: 'always' },
    on: { 'GET /user/:user_id/keys': listKeys },
  },
  create_key: {
    ...{ who: OWNERS, does: 'create API keys', inactive: true, retry: 'never' },
    body: [newKey, true],
    on: { 'POST /user/:user_id/keys': createKey },
  },
  revoke_key: {
    ...{ who: OWNERS, does: 'revoke API keys', inactive: true, retry: 'always' },
    on: { 'DELETE /user/:user_id/keys/:key_id': revokeKey },
  },
  create_console_link: {
    ...{ who: 'operator', does: 'create console links', inactive: true, retry: 'never' },
    body: [consoleLink, true],
    on: { 'POST /user/:user_id/console-link': createLink },
  },
  start_session: {
    ...{ who: 'full read code', does: 'start sessions', inactive: true, retry: 'never' },
    on: { 'POST /session': startSession },
  },
  end_session: {
    ...{ who: 'session read_session key_session', does: 'end sessions', inactive: true, retry: 'always' },
    on: { 'DELETE /session': endSession },
  },
});
