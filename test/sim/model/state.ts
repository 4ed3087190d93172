// What the service is supposed to know. Plain data only, so `structuredClone` is a snapshot.
import type { KeyRole } from './callers.ts';
import type { DEFAULTS } from './input.ts';

/** The limits of a business. */
export type Plan = Omit<typeof DEFAULTS, 'billing_day'>;
/** Its `billing_day` holds until the first of `billing_changes`. */
export type Business = {
  billing_day: number;
  /** Its limits, each from a day on, in ascending order. The first `from` is empty. */
  plans: (Plan & { from: string })[];
  /** The first day of a change that has not been folded, because nothing changed the business since that day. */
  unfolded: string | null;
  /** What is added to the monthly limit, by the first day of the month. */
  extras: Record<string, number>;
  /** The requests that added something, by their Idempotency-Key. `extra` is the sum afterwards. */
  extra_requests: Record<string, { request: string; starts_on: string; extra: number; day: string }>;
  id: number;
  user_id: number;
  name: string;
  main_domain: string;
  site: string;
  country_id: number;
  business_size: string;
  /** As all secrets: the text, or a marker (secrets.ts). */
  token: string;
  status: string;
  created_at: string;
  updated_at: string;
  /** The month that begins on `starts_on` ends before `changes_on`. From then on, months begin on `billing_day`. */
  billing_changes: { starts_on: string; changes_on: string; billing_day: number }[];
  /** The request that created it with an Idempotency-Key. */
  creation: { user_id: number; key: string; request: string } | null;
};
export type Entry = { id: number; business_id: number; site: string; created_at: string; updated_at: string };
type Former = {
  id: number;
  token: string;
  business_id: number;
  expires_at: string;
  last_used_on: string | null;
  /** The origins that can be registered, with the last day of each. Null if the token was never used. */
  used_from: Record<string, string> | null;
};
/** An API key, or a session if `ends_at` is set. */
export type Key = {
  id: number;
  user_id: number;
  name: string;
  secret: string;
  last_four: string;
  created_at: string;
  expires_on: string | null;
  revoked_at: string | null;
  business_id: number | null;
  /** The number of its label. */
  source: number | null;
  role: KeyRole;
  ends_at: string | null;
  session_of: number | null;
  last_used_on: string | null;
  /** The person whom a session's console link names. */
  actor_name: string | null;
  /** 1 for a session that may create keys. */
  can_create_keys: 1 | null;
  /** Who created a key, as the list of changes says it, and the person whom the console link of that session names. */
  created_by: string | null;
  created_by_name: string | null;
  /** The key or session that created a key. Null if the operator did. */
  creator_id: number | null;
};
export type Code = {
  secret: string;
  user_id: number;
  business_id: number | null;
  role: 'full' | 'read';
  minutes: number;
  expires_at: string;
  return_url: string | null;
  actor_name: string | null;
  can_create_keys: 1 | null;
};
/** `source` is the number of the source. Null if the use has none, and for tokens. */
export type Use = { day: string; recorded_on: string; keep_days: number; quantity: number; source: number | null };
export type Change = {
  subject: 'business' | 'user';
  subject_id: number;
  id: number;
  at: string;
  actor: string;
  action: string;
  before: Json | null;
  after: Json | null;
  /** The person whom the link of the session names, and the user of that session. */
  actor_name: string | null;
  actor_user_id: number | null;
};
export type Json = { [name: string]: unknown };
/**
 * `let_in` is 1 if the origin was let in because no site was registered. The count begins anew when that changes. `total` does not, and is what
 * the count can be if a note was lost.
 */
export type Refused = {
  origin: string;
  count: number;
  first_seen: string;
  last_seen: string;
  let_in: 0 | 1;
  total: number;
};

/** The classes of an allowance (allowance.ts). */
export type Class = 'reading' | 'recording' | 'changing';
/** `until`: the time up to which a user's calls have spent the database's. `ids` and `bytes`: what they stored on the day. */
export type Taken = { until: number; day: string; ids: number; bytes: number };

export type Alert = {
  period: 'day' | 'month';
  starts_on: string;
  ends_on: string;
  limit: number;
  threshold: number;
  used: number;
  at: string;
  /** The id, once the receiver has seen it. */
  id: string | null;
  /** Whether the receiver accepted it. Perhaps: but the service may not know. */
  accepted: 'no' | 'perhaps' | 'surely';
};

/** What has ids that callers see. */
type Kind = 'businesses' | 'sites' | 'api_keys' | 'former_tokens';

export type State = {
  /** The numbers of the bound databases. */
  databases: number[];
  operators: { full: string; record: string; read: string };
  businesses: Business[];
  entries: Entry[];
  former: Former[];
  keys: Key[];
  codes: Code[];
  /** Uses by business and day. Days without uses are missing. */
  counts: Record<number, Record<string, number>>;
  /** Those of the uses that have a source, by business, day and number. A number whose uses were lowered to 0 stays. */
  bySource: Record<number, Record<string, Record<number, number>>>;
  /** The numbers of each business's sources, of labels and sites. Those of sites are negative. */
  sources: Record<number, { name: string; number: number }[]>;
  /** Remembered uses by business and `key:id` or `token:id`. */
  ledger: Record<number, Record<string, Use>>;
  /** The thresholds that each business reached. */
  alerts: Record<number, Alert[]>;
  changes: Change[];
  /** The days of each business that were imported. */
  imported: Record<number, string[]>;
  refused: Record<number, Refused[]>;
  /** Uses that limits refused, by business and day. */
  limited: Record<number, Record<string, number>>;
  homes: Record<number, { database: number; place: number; claimed_at: string }>;
  /** Imported tokens, and the user who may still claim each. */
  claims: Record<string, { user_id: number }>;
  /** Tokens that no business may import any more, by database. */
  retired: Record<number, string[]>;
  deletions: number[];
  /** What the keys and sessions of each user have taken of the database, by class. */
  taken: Record<number, { [kind in Class]?: Taken }>;
  /** The last id of each kind in each database. */
  last: Record<number, Record<Kind, number>>;
  /** The texts of markers, as far as they are known. */
  known: Record<number, string>;
  /** The last four characters of markers whose texts are not known. */
  fours: Record<number, string>;
  markers: number;
  /** Tokens, keys and codes that no longer work, or may no longer work, for callers who use them nevertheless. */
  spent: string[];
  /** What work after a response would have stored, but perhaps did not: ids of keys, former tokens, and ids of businesses. */
  unsure: { keys: number[]; former: string[]; refused: number[]; limited: number[] };
};

export const IDS_PER_DATABASE = 1_000_000_000;
export const databaseOf = (id: number): number => Math.floor((id - 1) / IDS_PER_DATABASE);

export function emptyState(databases: number, operators: State['operators']): State {
  const numbers = Array.from({ length: databases }, (_, number) => number);
  const first = (number: number) => number * IDS_PER_DATABASE;
  return {
    databases: numbers,
    operators,
    businesses: [],
    entries: [],
    former: [],
    keys: [],
    codes: [],
    counts: {},
    bySource: {},
    sources: {},
    alerts: {},
    ledger: {},
    changes: [],
    imported: {},
    refused: {},
    limited: {},
    homes: {},
    claims: {},
    retired: Object.fromEntries(numbers.map((number) => [number, []])),
    deletions: [],
    taken: {},
    last: Object.fromEntries(
      numbers.map((number) => [
        number,
        { businesses: first(number), sites: first(number), api_keys: first(number), former_tokens: first(number) },
      ]),
    ),
    known: {},
    fours: {},
    markers: 0,
    spent: [],
    unsure: { keys: [], former: [], refused: [], limited: [] },
  };
}

/** The next id of a kind, which is never given again. */
export function nextId(state: State, database: number, kind: Kind): number {
  const last = state.last[database];
  if (last === undefined) throw new Error(`there is no database ${database}`);
  last[kind] += 1;
  return last[kind];
}
