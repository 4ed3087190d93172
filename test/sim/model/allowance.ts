// What all keys and sessions of a user may spend (docs/api.md, "Allowances").
import { Answer, type Call } from './call.ts';
import type { Class, Key, State, Taken } from './state.ts';
import { dayOf, daysBetween, rangeOf } from './time.ts';

type Spending = { kind: Class; price: number };

const TOO_MUCH = 'Too Many Attempts: the API keys of this user do more at once than the service allows.';
const TOO_MANY_IDS =
  'The API keys of this user can record 2000000 new ids a day in lists, and a key for one business half of them. Record single uses, or wait until midnight (UTC).';
const TOO_MANY_BYTES = 'The changes of this user can store 4 MB a day. Wait until midnight (UTC).';

/** What a call with right input spends. Null: nothing. */
export function spendingOf(call: Call, method: string): Spending | null {
  const { operation, key, query, json } = call;
  if (key === null) return null;
  const sent = (json ?? {}) as { uses?: unknown[] };
  if (operation === 'read_changes') return { kind: 'reading', price: 250 };
  if (operation === 'list_businesses') {
    return { kind: 'reading', price: 2 * Number(query.get('limit') ?? 20) };
  }
  if (operation === 'read_ended')
    return { kind: 'reading', price: Math.ceil(10 + 0.24 * Number(query.get('limit') ?? 1000)) };
  if (operation === 'read_usage' || operation === 'read_sources') {
    const { from, to } = rangeOf(call);
    const days = daysBetween(from, to).length;
    const each = operation === 'read_usage' ? 0.05 : query.has('by') ? 1 : 0.13;
    return each === 0.05 && days <= 800 ? null : { kind: 'reading', price: Math.ceil(each * days) };
  }
  if (operation === 'record_uses') return { kind: 'recording', price: Math.ceil(10 + 0.24 * (sent.uses?.length ?? 0)) };
  if (operation === 'change_access' && method === 'POST') return { kind: 'changing', price: 250 };
  return null;
}

/** What a user has taken, with what was stored on another day forgotten. */
export function takenBy(state: State, user_id: number, kind: Class, clock: number): Taken {
  const ofUser = state.taken[user_id] ?? {};
  state.taken[user_id] = ofUser;
  const known = ofUser[kind] ?? { until: 0, day: '', ids: 0, bytes: 0 };
  const today = dayOf(clock);
  const current = known.day === today ? known : { ...known, day: today, ids: 0, bytes: 0 };
  ofUser[kind] = current;
  return current;
}

/** Throws if the user has used up what the call would spend. */
export function requireLeft({ state, key, clock }: Call, { kind }: Spending): void {
  const stored = key === null ? undefined : state.taken[key.user_id]?.[kind];
  if (key === null || stored === undefined) return;
  if (stored.until > clock + 10_000 && stored.until <= clock + 10_250) throw refused(TOO_MUCH, 1);
  const message = tooMuchOfDay(key, stored, clock);
  if (message !== null) throw refused(message, Math.ceil((86_400_000 - (clock % 86_400_000)) / 1000));
}
const refused = (message: string, wait: number) =>
  new Answer(429, 'rate_limited', { message }, { 'Retry-After': `${wait}` });

/** Why the largest call would not fit into the volume of the day, or null. */
function tooMuchOfDay(key: Key, { day, ids, bytes }: Taken, clock: number): string | null {
  if (day !== dayOf(clock)) return null;
  if (ids > (key.business_id === null ? 2_000_000 : 1_000_000) - 1000) return TOO_MANY_IDS;
  return bytes > 4_000_000 - 60_000 ? TOO_MANY_BYTES : null;
}

/** Spends the price of a call, whatever its answer is. The call that used up the day's volume spends nothing. */
export function spend({ state, key, clock }: Call, { kind, price }: Spending): void {
  if (key === null) return;
  const taken = takenBy(state, key.user_id, kind, clock);
  const spent = tooMuchOfDay(key, taken, clock) === null ? price : 0;
  taken.until = Math.max(clock, taken.until > clock + 10_250 ? 0 : taken.until) + spent;
}
