// Generates steps: what callers send, and when. A step contains no ids, secrets or dates, but places for them, such as {business} and
// {day-1}. They are filled in when the step is taken, so the steps after a removed one still make sense.
import { NEW_BUSINESS } from '../routes.ts';
import type { FaultKind } from './faults.ts';
import { monthOf } from './model/billing.ts';
import { workingTokens } from './model/business.ts';
import type { Plain } from './model/call.ts';
import { KEY_ROLES, OWN_ROLES } from './model/callers.ts';
import { may, READS } from './model/may.ts';
import type { Model } from './model/model.ts';
import { reveal } from './model/secrets.ts';
import {
  BAD_SITES,
  FEW_REACH,
  isCovered,
  LIKE_LOOPBACK,
  ORIGINS,
  OVERLAPPING,
  SHARED_SITES,
  SITES,
} from './model/sites.ts';
import type { Business, Key } from './model/state.ts';
import { dayOf, plusDays, stamp } from './model/time.ts';
import type { Random } from './random.ts';
import type { Receiver } from './world.ts';

/** Who sends a request. Keys and tokens belong to the business or user in the path, unless the name says otherwise. */
type Who =
  | 'token'
  | 'former'
  | 'other_token'
  | 'key'
  | 'any_key'
  | 'ended'
  | 'narrow'
  | 'of_one'
  | 'owner'
  | 'key_session'
  | 'session'
  | 'spent'
  | 'operator'
  | 'recorder'
  | 'reader'
  | 'none'
  | 'malformed'
  | 'unknown';

export type RequestStep = {
  kind: 'request';
  who: Who;
  method: string;
  /** With places in braces. So can the Origin be. */
  path: string;
  body: string | null;
  headers: Record<string, string>;
  /** Which of the things that exist fills each place, modulo their number. */
  pick: number[];
};
/** What the owner of the business has taken from now on: of the time `ahead` milliseconds, and of the day in `day` days the rest. */
export type SpentStep = {
  kind: 'spent';
  class: (typeof CLASSES)[number];
  pick: number;
  ahead: number;
  day: number;
  ids: number;
  bytes: number;
};
const CLASSES = ['reading', 'recording', 'changing'] as const;
export type Step =
  | RequestStep
  | SpentStep
  | { kind: 'together'; requests: RequestStep[] }
  | { kind: 'wait'; ms: number }
  | { kind: 'run'; name: 'purge' | 'alerts'; late?: number; times?: number }
  | { kind: 'sweep' }
  | { kind: 'health' }
  | ({ kind: 'receiver' } & Receiver)
  | { kind: 'down'; database: number; ms: number }
  | { kind: 'fault'; fault: FaultKind; at: number; ms?: number; database?: number };

const USERS = [1, 2, 3, 4, 5, 6];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Filling in.

const at = <T>(list: readonly T[], index = 0): T | undefined => list[index % Math.max(1, list.length)];

/** A time in the zone +05:30, whose day is not always the one in UTC. */
const inIndia = (ms: number) => new Date(ms + 5.5 * HOUR).toISOString().replace('Z', '+05:30');

/** Fills the places of a step with what exists now. */
export function resolve(step: RequestStep, model: Model, now: number): Plain {
  const { state } = model;
  const { pick, who } = step;
  const businesses = state.businesses;
  const inUse = at(businesses, pick[0]);
  // Now and then a business that is deleted or never existed.
  const business_id = pick[1] === 0 ? (at([...state.deletions, 999, 1_000_000_077], pick[0]) ?? 999) : (inUse?.id ?? 1);
  const business = businesses.find(({ id }) => id === business_id);
  const namesUser = step.path.includes('{user}');
  const user_id = namesUser || business === undefined ? (at(USERS, pick[2]) ?? 1) : business.user_id;
  const today = dayOf(now);
  const own = businesses.filter((each) => each.user_id === user_id);
  const keys = state.keys.filter((key) => key.user_id === user_id);
  // Now and then, an entry or a key in the path belongs to somebody else.
  const isOthers = (pick[4] ?? 0) % 16 === 0;
  const entries = state.entries.filter((entry) => isOthers || entry.business_id === business_id);
  const former = state.former.filter((token) => isOthers || token.business_id === business_id);
  const places: Record<string, string | number> = {
    business: business_id,
    user: user_id,
    owner: user_id,
    idle: at(withoutBusinesses(model), pick[3]) ?? user_id,
    own: at(own, pick[3])?.id ?? 999,
    name: encodeURIComponent(business?.name ?? 'Acme'),
    entry: at(entries, pick[3])?.id ?? 999,
    key: at(isOthers ? state.keys : keys, pick[3])?.id ?? 999,
    former: at(former, pick[3])?.id ?? 999,
    id: (at(businesses, pick[3])?.id ?? 1) - 1,
    change: 1 + ((pick[3] ?? 0) % 40),
    next_id: (state.last[(pick[3] ?? 0) % state.databases.length]?.businesses ?? 0) + ((pick[4] ?? 0) % 3),
    code: codeOf(model, pick[3], now),
    month_end: at(monthEnds(businesses, today), pick[3]) ?? plusDays(today, -1),
    tomorrow: Math.min(28, Number(plusDays(today, 1).slice(8))),
  };
  const fill = (text: string) =>
    text
      .replace(/\{day([+-]\d+)\}/g, (_, days) => plusDays(today, Number(days)))
      .replace(/"\{sites\+(\d)\}"/g, (_, more) => JSON.stringify(newSites(model, business_id, Number(more))))
      .replace(/\{at([+-]\d+)\}/g, (_, ms) => new Date(now + Number(ms)).toISOString())
      .replace(/\{local([+-]\d+)\}/g, (_, ms) => inIndia(now + Number(ms)))
      .replace(/"?\{(\w+)\}"?/g, (place, name) => {
        const value = places[name];
        if (value === undefined) return place;
        return place.startsWith('"') && typeof value === 'string' ? `"${value}"` : `${value}`;
      });
  const credential = credentialOf(model, who, { business, user_id, keys, now, pick: pick[5] ?? 0 });
  const authorization = credential === null ? {} : { Authorization: credential };
  const headers = { ...step.headers };
  if (headers.Origin !== undefined) headers.Origin = originFor(headers.Origin, model, business_id, pick);
  const { Origin: _, 'Sec-Fetch-Site': __, ...fromServer } = headers;
  // An operator stands in for a credential that does not exist.
  const isStandIn = credential?.startsWith('Bearer bua_op_f') === true && who !== 'operator';
  const path = fill(step.path);
  const body = step.body === null ? null : fill(step.body);
  return { method: step.method, path, headers: { ...authorization, ...(isStandIn ? fromServer : headers) }, body };
}

/** The users whom nothing keeps from being erased, most often one whom changes name. */
function withoutBusinesses({ state }: Model): number[] {
  const idle = USERS.filter((user_id) => state.businesses.every((business) => business.user_id !== user_id));
  const named = idle.filter((user_id) => state.changes.some((change) => change.actor_user_id === user_id));
  return named.length > 0 ? named : idle;
}

/** Days on which months ended: those that became final yesterday, today or tomorrow, and those on which a business was created. */
const monthEnds = (businesses: Business[], today: string): string[] =>
  businesses.flatMap((business) => {
    const created = business.created_at.slice(0, 10);
    const days = [created, ...[-40, -41, -42].map((days) => plusDays(today, days))];
    return days.filter((day) => day < today && monthOf(business, day).ends_on === day);
  });

/** New sites, with which a business has as many as it can have, and some more. At most 100. */
function newSites({ state }: Model, business_id: number, more: number): string[] {
  const stored = state.entries.filter((entry) => entry.business_id === business_id).map(({ site }) => site);
  const length = Math.min(100, Math.max(1, 500 + more - stored.length));
  const all = Array.from({ length: 610 }, (_, index) => `https://s${index}.example`);
  return all.filter((site) => !stored.includes(site)).slice(0, length);
}

/** An origin of a business: one that its sites let in, most often one that several do, or a new one to list. */
function originFor(
  text: string,
  { state }: Model,
  business_id: number,
  [, , , first = 0, second = 0]: number[],
): string {
  if (text === '{new}') {
    const known = (state.refused[business_id] ?? []).map(({ origin }) => origin);
    return (
      at(
        STRANGERS.filter((origin) => !known.includes(origin)),
        first,
      ) ?? 'https://evil.example'
    );
  }
  if (text !== '{covered}') return text;
  const sites = state.entries.filter((entry) => entry.business_id === business_id).map(({ site }) => site);
  const covered = ORIGINS.filter((origin) => isCovered(sites, origin));
  const byMany = covered.filter((origin) => sites.filter((site) => isCovered([site], origin)).length > 1);
  return at(byMany.length > 0 && second % 4 > 0 ? byMany : covered, first) ?? 'https://shop.example';
}

/** Codes, of which the last one works most often. */
function codeOf({ state }: Model, pick = 0, now: number): string {
  const working = state.codes.filter(({ expires_at }) => expires_at > stamp(now));
  const codes = [...working, ...state.codes, { secret: state.spent.at(-1) ?? 'x' }].map(({ secret }) =>
    reveal(state, secret),
  );
  // Nobody can send a code whose answer was lost.
  const seen = codes.filter((code) => !code.includes('⟨'));
  return at(seen, pick % 3 === 2 ? pick : 0) ?? 'x';
}

const UNKNOWN = [
  `bua_sk_0${'A'.repeat(33)}`,
  `bua_pk_0${'A'.repeat(33)}`,
  `bua_op_${'A'.repeat(43)}`,
  'imported-token-of-nobody-1',
];
type Around = { business: Business | undefined; user_id: number; keys: Key[]; now: number; pick: number };
function credentialOf({ state }: Model, who: Who, { business, keys, now, pick }: Around): string | null {
  const today = dayOf(now);
  const works = (key: Key) =>
    key.revoked_at === null &&
    (key.expires_on ?? today) >= today &&
    (key.ends_at === null || key.ends_at > stamp(now)) &&
    (key.business_id === null || business === undefined || key.business_id === business.id);
  const withEnd = (hasEnd: boolean) => keys.filter((key) => (key.ends_at !== null) === hasEnd && works(key));
  const isOwners = ({ role, business_id }: Key) => role === 'full' && business_id === null;
  const secrets: Partial<Record<Who, () => string | undefined>> = {
    token: () => business?.token,
    former: () => business && at(workingTokens(state, business.id, now), pick)?.token,
    other_token: () => at(state.businesses, pick)?.token,
    key: () => at(withEnd(false), pick)?.secret,
    any_key: () => at(state.keys, pick)?.secret,
    ended: () => at(keys.filter((key) => !works(key)).toReversed(), pick % 8)?.secret,
    narrow: () =>
      at(
        keys.filter((key) => key.business_id !== null && key.business_id !== business?.id),
        pick,
      )?.secret,
    of_one: () =>
      at(
        withEnd(false).filter(({ business_id }) => business_id !== null),
        pick,
      )?.secret,
    owner: () => at(withEnd(false).filter(isOwners), pick)?.secret,
    key_session: () =>
      at(
        withEnd(true).filter(({ can_create_keys }) => can_create_keys === 1),
        pick,
      )?.secret,
    session: () => at(withEnd(true), pick)?.secret,
    spent: () => at(state.spent, pick),
    operator: () => state.operators.full,
    recorder: () => state.operators.record,
    reader: () => state.operators.read,
    unknown: () => at(UNKNOWN, pick),
  };
  if (who === 'none') return null;
  if (who === 'malformed')
    return (
      at(['Bearer', 'Bearer x', 'Basic dTpw', `Bearer bua_sk_${'A'.repeat(50)}`, 'Bearer a, Bearer b'], pick) ?? ''
    );
  const secret = secrets[who]?.();
  const text = secret === undefined ? '⟨' : reveal(state, secret);
  return text.includes('⟨') ? `Bearer ${state.operators.full}` : `Bearer ${text}`;
}

// Generating.

const SMALL = [0, 1, 2, 3, 5, 8, 10, 15, 20, null];
const QUANTITIES = [1, 1, 2, 3, 4, 5, 7, 10, 20, 1_000_000_000];
const IDS = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', '"u1"', 'u"2'];
const NAMES = ['Acme', 'Bücher & Söhne', ' Acme ', '=1+2', 'A, "B"', "O'Neil"];
export const TOKENS = [1, 2, 3].map((n) => `imported-token-number-${n}`.padEnd(24 + n, 'x'));
/** The days from which limits change. */
const FROM = [-1, 0, 1, 1, 2, 2, 3, 10, 40];
/** Days around today, with the edges of what is remembered. */
const DAYS = [-1, -1, -2, -3, -29, -30, -31, -34, -35, -36, -40, -41, -42, -45];
const AGES = [0, -1, -HOUR, -DAY, -2 * DAY, -34 * DAY, -35 * DAY, -35 * DAY - 1, 5 * MINUTE, 5 * MINUTE + 1, -40 * DAY];

/** More than a business lists. */
const STRANGERS = Array.from({ length: 60 }, (_, index) => `https://o${index}.evil.example`);

const fromList = (random: Random, list: readonly unknown[], most: number) =>
  Array.from({ length: 1 + random.int(most) }, () => random.pick(list));
/** Keeps each member with a chance of one half, and at least one. */
function some(random: Random, members: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(members);
  const kept = entries.filter(() => random.chance(0.3));
  return Object.fromEntries(kept.length === 0 ? [random.pick(entries)] : kept);
}
const limits = (random: Random) => ({
  daily_limit: random.pick(SMALL),
  monthly_limit: random.pick([...SMALL, 30, 40]),
  billing_day: random.chance(0.3) ? '{tomorrow}' : 1 + random.int(28),
  overage: random.pick([0, 0, 1, 5, null]),
  page_overage: random.chance(0.5),
  alert_at: random.pick([[80], [80, 100], [50, 80, 120]]),
});
const fields = (random: Random) => ({
  user_id: random.pick(USERS),
  name: random.pick(NAMES),
  main_domain: random.pick(['acme.example', 'shop.example']),
  site: random.pick(['https://acme.example', 'http://shop.example/a?b']),
  country_id: 1 + random.int(3),
  business_size: random.pick(['small', 'large']),
});
const sites = (random: Random) => fromList(random, Object.keys(SITES), 3);
/** Labels that mean something to a JSON path or a spreadsheet, the longest, and ordinary ones. */
const ODD_LABELS = ['$', '[0]', '1', '#-1', "'", '"', '\\', '$."1"', 'a.b', '__proto__', '=1+1', 'x'.repeat(64)];
const LABELS = [...ODD_LABELS, 'sms', 'sms', 'sms', 'back office'];
const BAD_LABELS = ['', ' ', ' sms', 'sms ', 'a\tb', 'ü', 'x'.repeat(65), 'https://a.example', 'a://b', 5];
const labelled = (random: Random) =>
  random.chance(0.4) && { label: random.pick<unknown>(random.chance(0.05) ? BAD_LABELS : LABELS) };
const dated = (random: Random) => ({
  at: `{${random.pick(['at', 'at', 'local'])}${signed(random.pick(AGES))}}`,
});
const use = (random: Random, lower = false) => ({
  id: random.pick(IDS.slice(0, 8)),
  ...(!lower && labelled(random)),
  ...(!lower && random.chance(0.5) && dated(random)),
  ...(lower
    ? { quantity: random.pick([0, 0, 1, 2, 3, 5]) }
    : random.chance(0.5) && { quantity: random.pick(QUANTITIES) }),
});
const signed = (n: number) => (n < 0 ? `${n}` : `+${n}`);
const dayPlace = (random: Random) => `{day${signed(random.pick([...DAYS, 0, 0, 1, 2]))}}`;
const query = (...parts: string[]) => (parts.length === 0 ? '' : `?${parts.join('&')}`);
const kept = (random: Random, members: Record<string, string>) =>
  Object.entries(members).flatMap(([name, value]) => (random.chance(0.4) ? [`${name}=${value}`] : []));
/** The longest ranges, those that are a day longer, and the ends of the calendar and of a February. */
const RANGES = [
  ...[91, 92, 1829, 1830].map((days) => `from={day-${days}}`),
  ...['from=1970-01-01&to=1970-01-01', 'to=9999-12-31', 'to=2024-03-01', 'from=2100-02-28&to=2100-03-01'],
];
const range = (random: Random) =>
  random.chance(0.3) ? [random.pick(RANGES)] : kept(random, { from: dayPlace(random), to: dayPlace(random) });

const pageOfAlerts = (random: Random) =>
  kept(random, { limit: random.pick(['1', '2', '100']), since: `{at${signed(random.pick(AGES))}}` });

type Made = { on: string; body?: unknown; headers?: Record<string, string>; operator?: true };
type Kind = {
  weight: number;
  /** Runs in one batch, so several can run at the same time, in any order. */
  isOneBatch?: true;
  who: Partial<Record<Who, number>>;
  make: (random: Random) => Made;
};

const OWNERS: Kind['who'] = {
  key: 40,
  session: 15,
  operator: 20,
  recorder: 3,
  reader: 3,
  token: 4,
  any_key: 5,
  ended: 1,
  narrow: 2,
  former: 1,
  spent: 2,
  unknown: 1,
  none: 1,
  malformed: 1,
};
const ANYONE: Kind['who'] = {
  token: 40,
  key: 30,
  session: 10,
  former: 8,
  operator: 6,
  recorder: 6,
  reader: 6,
  any_key: 4,
  ended: 1,
  narrow: 2,
  other_token: 2,
  spent: 2,
  unknown: 1,
  none: 1,
  malformed: 1,
};
const SERVERS: Kind['who'] = {
  key: 50,
  session: 12,
  operator: 12,
  recorder: 12,
  reader: 2,
  token: 4,
  any_key: 5,
  narrow: 2,
  spent: 1,
};
/** Of the keys of a user. */
const OF_KEYS: Kind['who'] = {
  operator: 40,
  key: 30,
  session: 25,
  any_key: 6,
  recorder: 3,
  reader: 6,
  token: 1,
  spent: 2,
  none: 1,
};
const OPERATORS: Kind['who'] = { operator: 90, recorder: 5, reader: 5, key: 3, session: 1, token: 1, none: 1 };
const accept = (random: Random) =>
  random.chance(0.1)
    ? { Accept: random.pick(['text/csv', 'application/json, text/csv;q=0.9', 'text/csv, application/json', '*/*']) }
    : {};

export const KINDS: Record<string, Kind> = {
  ...Object.fromEntries(
    READS.map(([operation, path]): [string, Kind] => {
      const on = `GET ${path.replace(/:(\w+)_id/g, '{$1}')}`;
      const who = may('token', operation) ? ANYONE : may('full', operation) ? OWNERS : OPERATORS;
      return [operation, { weight: 15, isOneBatch: true, who, make: () => ({ on }) }];
    }),
  ),
  record_use: {
    isOneBatch: true,
    weight: 160,
    who: ANYONE,
    make: (random) => ({
      on: 'POST /business/usage/{business}',
      headers: random.chance(0.6) ? { 'Idempotency-Key': random.pick(IDS) } : {},
      body: random.pick([undefined, undefined, undefined, {}, [], dated(random)]),
    }),
  },
  record_quantity: {
    isOneBatch: true,
    weight: 60,
    who: SERVERS,
    make: (random) => ({
      on: 'POST /business/usage/{business}',
      headers: random.chance(0.6) ? { 'Idempotency-Key': random.pick(IDS) } : {},
      body: {
        ...random.pick([{ quantity: random.pick(QUANTITIES) }, { label: random.pick(LABELS) }]),
        ...labelled(random),
        ...(random.chance(0.3) && dated(random)),
      },
    }),
  },
  /** Until a day has as many names as it can have, and then the business. */
  record_many_labels: {
    isOneBatch: true,
    weight: 6,
    who: SERVERS,
    make: (random) => ({
      on: 'POST /business/usage/{business}',
      body: {
        uses: Array.from({ length: 40 }, () => ({ id: `m${random.int(400)}`, label: `n${random.int(240)}` })),
      },
    }),
  },
  record_uses: {
    isOneBatch: true,
    weight: 90,
    who: SERVERS,
    make: (random) => ({
      on: 'POST /business/usage/{business}',
      body: { uses: Array.from({ length: 1 + random.int(4) }, () => use(random)) },
    }),
  },
  /** By a key for one business, which stores fewer ids. */
  uses_of_narrow: {
    isOneBatch: true,
    weight: 2,
    who: { of_one: 1 },
    make: (random) => ({ on: 'POST /business/usage/{business}', body: { uses: [use(random)] } }),
  },
  lower_uses: {
    isOneBatch: true,
    weight: 50,
    who: { operator: 50, recorder: 50, key: 5, token: 2 },
    make: (random) => ({
      on: 'PATCH /business/usage/{business}',
      body: { uses: Array.from({ length: 1 + random.int(3) }, () => use(random, true)) },
    }),
  },
  read_usage: {
    isOneBatch: true,
    weight: 40,
    who: ANYONE,
    make: (random) => ({
      on: `GET /business/usage/{business}${query(...range(random))}`,
      headers: accept(random),
    }),
  },
  read_sources: {
    isOneBatch: true,
    weight: 30,
    who: OWNERS,
    make: (random) => {
      const source = `source=${encodeURIComponent(random.pick([...LABELS, '', 'n1', 'n2', ...Object.values(SITES)]))}`;
      const asked = random.pick([...Array(6).fill('by=source'), source, source, `by=source&${source}`, 'by=label']);
      return { on: `GET /business/usage/{business}${query(asked, ...range(random))}`, headers: accept(random) };
    },
  },
  // Counted after responses, so requests at the same time need not see each other's.
  read_refusals: {
    weight: 20,
    who: ANYONE,
    make: (random) => ({ on: `GET /business/{business}/refusals${query(...range(random))}`, headers: accept(random) }),
  },
  read_use: {
    isOneBatch: true,
    weight: 30,
    who: ANYONE,
    make: (random) => ({
      on: `GET /business/usage/{business}/use?id=${encodeURIComponent(random.pick(random.chance(0.8) ? IDS.slice(0, 8) : IDS))}`,
    }),
  },
  add_sites: {
    isOneBatch: true,
    weight: 35,
    who: OWNERS,
    make: (random) => ({ on: 'POST /business/{business}/access', body: { sites: sites(random) } }),
  },
  add_many: {
    weight: 0,
    who: { operator: 1, key: 1 },
    make: (random) => ({
      on: 'POST /business/{business}/access',
      body: { sites: `{sites+${random.pick([0, 0, 1, 2])}}` },
    }),
  },
  /** Instead of the others, or with some of them. */
  one_site: {
    weight: 4,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /business/{business}/access',
      body: { sites: [random.chance(0.3) ? LIKE_LOOPBACK : random.pick(FEW_REACH)] },
    }),
  },
  overlapping_sites: {
    weight: 6,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /business/{business}/access',
      body: { sites: fromList(random, OVERLAPPING, 4) },
    }),
  },
  page_overage: {
    weight: 3,
    who: OPERATORS,
    make: (random) => ({
      on: 'PATCH /business/{business}',
      body: { page_overage: true, overage: 4 + random.int(20), daily_limit: random.int(4), monthly_limit: null },
    }),
  },
  use_of_page: {
    isOneBatch: true,
    weight: 25,
    who: { token: 12, former: 1, session: 1 },
    make: (random) => ({
      on: 'POST /business/usage/{business}',
      headers: { Origin: '{covered}', ...(random.chance(0.3) && { 'Idempotency-Key': random.pick(IDS) }) },
    }),
  },
  refuse: {
    weight: 0,
    who: { token: 1 },
    make: (random) => ({
      on: 'GET /business/usage/{business}',
      headers: { Origin: random.chance(0.85) ? '{new}' : random.pick(STRANGERS) },
    }),
  },
  /** By a person, if a link named one. */
  change_of_session: {
    isOneBatch: true,
    weight: 2,
    who: { session: 1 },
    make: (random) =>
      random.chance(0.5)
        ? { on: 'POST /business/{business}/token' }
        : { on: 'POST /business/{business}/access', body: { sites: sites(random) } },
  },
  remove_site: {
    isOneBatch: true,
    weight: 20,
    who: OWNERS,
    make: () => ({ on: 'DELETE /business/{business}/access/{entry}' }),
  },
  remove_sites: {
    isOneBatch: true,
    weight: 10,
    who: OWNERS,
    make: () => ({ on: 'DELETE /business/{business}/access' }),
  },
  forget_refused: { weight: 4, who: OWNERS, make: () => ({ on: 'DELETE /business/{business}/access/refused' }) },
  rotate_token: {
    isOneBatch: true,
    weight: 30,
    who: OWNERS,
    make: (random) => ({
      on: 'POST /business/{business}/token',
      body: random.pick([
        undefined,
        {},
        { keep_old: '1h' },
        { keep_old: '24h' },
        { keep_old: '7d' },
        { keep_old: '30d' },
      ]),
    }),
  },
  stop_former: {
    isOneBatch: true,
    weight: 8,
    who: OWNERS,
    make: (random) => ({
      on: `DELETE /business/{business}/token/former${random.pick(['', '/{former}', '/{former}', '/{former}', '/x'])}`,
    }),
  },
  read_changes: {
    weight: 30,
    who: OWNERS,
    make: (random) => ({
      on: `GET /business/{business}/changes${query(
        ...kept(random, {
          limit: random.pick(['1', '2', '20', '100']),
          before: '{change}',
          action: random.pick([
            'add_sites',
            'rotate_token',
            'create_key',
            'update_business',
            'lower_uses',
            'revoke_key',
          ]),
          search: random.pick([
            'acme',
            'SHOP',
            'bücher',
            'B%C3%9CCHER',
            'operator',
            'full',
            'uses',
            'nothing',
            'ANNA',
            "o'neil",
            'id-1',
          ]),
          from: dayPlace(random),
          to: dayPlace(random),
        }),
      )}`,
    }),
  },
  crowd: {
    weight: 0,
    who: { key: 8, session: 4 },
    make: () => ({ on: 'GET /business/{business}/changes?limit=1' }),
  },
  read_alerts: {
    isOneBatch: true,
    weight: 12,
    who: OWNERS,
    make: (random) => ({ on: `GET /business/{business}/alerts${query(...pageOfAlerts(random))}` }),
  },
  update_business: {
    weight: 70,
    who: OPERATORS,
    make: (random) => {
      const { user_id, ...columns } = fields(random);
      const status = random.pick(['active', 'active', 'active', 'suspended', 'closed']);
      const all = { ...columns, ...limits(random), status, ...(random.chance(0.15) && { user_id }) };
      return { on: 'PATCH /business/{business}', body: some(random, all) };
    },
  },
  update_plan: {
    isOneBatch: true,
    weight: 40,
    who: OPERATORS,
    make(random) {
      const limits_from = random.pick([
        ...Array(6).fill('next_month'),
        ...FROM.map((days) => `{day${signed(days)}}`),
        null,
      ]);
      const { billing_day, ...plan } = limits(random);
      const given = some(random, plan);
      const isMonth = limits_from === 'next_month' && random.chance(0.2);
      return {
        on: 'PATCH /business/{business}',
        body: { ...(limits_from !== null && given), ...(isMonth && { billing_day }), limits_from },
      };
    },
  },
  extra: {
    isOneBatch: true,
    weight: 30,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /business/{business}/extra',
      headers: random.chance(0.97) ? { 'Idempotency-Key': random.pick([...IDS, `pack-${random.int(500)}`]) } : {},
      body: {
        uses: random.pick([1, 2, 5, 5, 10, -1, -2, -5, 1_000_000_000_000]),
        month: random.pick(['this', 'this', 'next']),
      },
    }),
  },
  transfer: {
    weight: 5,
    who: OPERATORS,
    make: (random) => ({ on: 'PATCH /business/{business}', body: { user_id: random.pick(USERS) } }),
  },
  activate: {
    isOneBatch: true,
    weight: 15,
    who: OPERATORS,
    make: () => ({ on: 'PATCH /business/{business}', body: { status: 'active' } }),
  },
  import_history: {
    isOneBatch: true,
    weight: 30,
    who: OPERATORS,
    make: (random) => ({
      on: 'PUT /business/{business}/history',
      body: {
        days: Array.from({ length: 1 + random.int(3) }, () => ({
          date: `{day${signed(random.pick([...DAYS, ...DAYS, 0]))}}`,
          count: random.chance(0.02) ? Number.MAX_SAFE_INTEGER - 2 : random.pick([0, 1, 2, 5, 20]),
        })),
        ...(random.chance(0.6) && { replace: random.chance(0.9) }),
      },
    }),
  },
  delete_business: {
    isOneBatch: true,
    weight: 6,
    who: OPERATORS,
    make: (random) => ({ on: `DELETE /business/{business}?name=${random.pick(['{name}', '{name}', 'Acme'])}` }),
  },
  list_businesses: {
    weight: 25,
    who: OWNERS,
    make: (random) => ({
      on: `GET /business${query(...kept(random, { limit: random.pick(['1', '2', '50']), after: random.pick(['{id}', '1', '1000000000']), ...(random.chance(0.3) && { user_id: `${random.pick(USERS)}` }) }))}`,
    }),
  },
  create_business: {
    weight: 12,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /business',
      headers: random.chance(0.6) ? { 'Idempotency-Key': random.pick(['k1', 'k2', 'k3', '"k1"']) } : {},
      body: {
        ...fields(random),
        ...(random.chance(0.3) && { sites: sites(random) }),
        ...(random.chance(0.5) && some(random, limits(random))),
        ...(random.chance(0.15) && { token: random.pick(TOKENS) }),
        ...(random.chance(0.1) && { database: random.int(3) }),
        ...(random.chance(0.15) && { id: '{next_id}' }),
      },
    }),
  },
  /** Its first month is a day. */
  short_month: {
    weight: 2,
    who: OPERATORS,
    make: () => ({ on: 'POST /business', body: { ...NEW_BUSINESS, user_id: '{owner}', billing_day: '{tomorrow}' } }),
  },
  /** Of up to 59 days, so that a use can be late by 35 and still be in it. */
  long_month: {
    isOneBatch: true,
    weight: 2,
    who: OPERATORS,
    make: (random) => ({
      on: 'PATCH /business/{business}',
      body: {
        billing_day: random.pick([1, 27, 28]),
        daily_limit: null,
        monthly_limit: 5 + random.int(20),
        overage: null,
      },
    }),
  },
  late_uses: {
    isOneBatch: true,
    weight: 2,
    who: { operator: 1, recorder: 1 },
    make: (random) => ({
      on: 'POST /business/usage/{business}',
      body: {
        uses: [{ id: `l${random.int(500)}`, at: `{at-${(31 + random.int(4)) * DAY}}`, quantity: 1 + random.int(4) }],
      },
    }),
  },
  repeat_creation: {
    weight: 8,
    who: OPERATORS,
    make(random) {
      const user_id = random.pick(USERS);
      const members = {
        ...{ ...NEW_BUSINESS, user_id, token: TOKENS[user_id % 3] },
        sites: [random.pick(['https://SHOP.example:443/cart?item=1#top', 'https://shop.example'])],
      };
      const entries = Object.entries(members);
      const turn = random.int(entries.length);
      const body = Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)]);
      return { on: 'POST /business', headers: random.chance(0.8) ? { 'Idempotency-Key': 'again' } : {}, body };
    },
  },
  list_keys: { weight: 12, who: OF_KEYS, make: () => ({ on: 'GET /user/{user}/keys' }) },
  create_key: {
    weight: 40,
    who: OF_KEYS,
    make: (random) => ({
      on: 'POST /user/{user}/keys',
      body: random.pick([
        undefined,
        {},
        some(random, {
          name: random.pick(NAMES),
          role: random.pick(KEY_ROLES),
          business_id: random.pick(['{own}', '{own}', '{own}', '{business}']),
          label: random.pick(LABELS),
          expires_on: `{day${signed(random.pick([-1, 0, 1, 30, 366, 367]))}}`,
        }),
        { business_id: '{own}', role: 'record', ...labelled(random) },
        { role: random.pick(OWN_ROLES), expires_on: `{day${signed(random.pick([0, 1, 366]))}}` },
        { role: random.pick(KEY_ROLES) },
        { expires_on: `{day+${random.int(2)}}` },
      ]),
    }),
  },
  create_own_key: {
    weight: 0,
    who: { owner: 4, key_session: 1 },
    make: (random) => ({
      on: 'POST /user/{user}/keys',
      body: {
        role: random.pick(OWN_ROLES),
        ...random.pick([
          {},
          { business_id: '{own}' },
          { business_id: '{own}', label: random.pick(LABELS) },
          ...[0, 0, 366, 367].map((days) => ({ expires_on: `{day+${days}}` })),
        ]),
      },
    }),
  },
  /** The last day of the key is today or tomorrow. */
  create_ending_key: {
    weight: 4,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /user/{owner}/keys',
      body: { ...(random.chance(0.3) && { role: random.pick(KEY_ROLES) }), expires_on: `{day+${random.int(2)}}` },
    }),
  },
  create_narrow_key: {
    weight: 4,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /user/{owner}/keys',
      body: {
        ...{ business_id: '{business}', role: random.pick(KEY_ROLES) },
        ...(random.chance(0.5) && { label: random.pick([...LABELS, `n${random.int(240)}`]) }),
      },
    }),
  },
  /** Of a user who has one. */
  second_business: {
    weight: 2,
    who: OPERATORS,
    make: () => ({ on: 'POST /business', body: { ...NEW_BUSINESS, user_id: '{owner}' } }),
  },
  use_of_ended: {
    isOneBatch: true,
    weight: 4,
    who: { ended: 1 },
    make: (random) => ({ on: random.pick(['GET /business/{business}', 'POST /business/usage/{business}']) }),
  },
  use_of_narrow: {
    weight: 4,
    who: { narrow: 1 },
    make: (random) => ({
      on: random.pick([
        'GET /business/{business}',
        'GET /business',
        'POST /business/usage/{business}',
        'GET /business/usage/{business}',
        'POST /session',
      ]),
    }),
  },
  revoke_key: { weight: 14, who: OF_KEYS, make: () => ({ on: 'DELETE /user/{user}/keys/{key}' }) },
  user_changes: {
    weight: 6,
    who: OPERATORS,
    make: (random) => ({ on: `GET /user/{user}/changes${query(...kept(random, { limit: '2', before: '{change}' }))}` }),
  },
  console_link: {
    weight: 15,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /user/{user}/console-link',
      body: random.pick([
        undefined,
        some(random, {
          role: random.pick(['full', 'read']),
          business_id: random.pick(['{own}', '{own}', '{business}']),
          minutes: random.pick([1, 15, 60, 1440]),
          return_url: random.pick([null, 'https://product.example/settings', 'http://localhost:3000/']),
          as: random.pick(['Anna', ' Bücher ', 'x'.repeat(64)]),
          can_create_keys: random.chance(0.5),
        }),
        { can_create_keys: true },
      ]),
    }),
  },
  narrow_link: {
    weight: 5,
    who: OPERATORS,
    make: () => ({ on: 'POST /user/{owner}/console-link', body: { business_id: '{business}', minutes: 1440 } }),
  },
  /** Of the owner, who stays signed in for a while, and whose name the changes show. */
  named_link: {
    weight: 2,
    who: OPERATORS,
    make: (random) => ({
      on: 'POST /user/{owner}/console-link',
      body: { as: random.pick(['Anna', 'Ben']), minutes: 1440, can_create_keys: random.chance(0.5) },
    }),
  },
  redeem: {
    isOneBatch: true,
    weight: 20,
    who: { none: 1 },
    make: () => ({ on: 'POST /session', body: { code: '{code}' } }),
  },
  start_session: {
    isOneBatch: true,
    weight: 20,
    who: { key: 70, session: 8, operator: 4, token: 4, any_key: 10, none: 2, spent: 2 },
    make: () => ({ on: 'POST /session' }),
  },
  end_session: {
    isOneBatch: true,
    weight: 5,
    who: { session: 70, key: 8, operator: 4, token: 4, any_key: 10, none: 2 },
    make: () => ({ on: 'DELETE /session' }),
  },
  totals: {
    weight: 15,
    who: { operator: 50, recorder: 50, reader: 20, key: 3, token: 1 },
    make: (random) => ({
      on: `GET /usage${query(
        ...range(random),
        ...kept(random, {
          limit: random.pick(['1', '2', '1000']),
          after: random.pick(['{id}', '1000000000']),
          user_id: `${random.pick(USERS)}`,
        }),
      )}`,
      headers: accept(random),
    }),
  },
  ended: {
    weight: 25,
    who: { ...OWNERS, operator: 40, recorder: 40 },
    make: (random) => ({
      on: `GET /usage${query(
        `ended=${random.chance(0.5) ? '{month_end}' : `{day-${random.pick([1 + random.int(60), 40, 41])}}`}`,
        ...(random.chance(0.1) ? range(random) : []),
        ...kept(random, { limit: random.pick(['1', '2', '1000']), after: '{id}', user_id: `${random.pick(USERS)}` }),
      )}`,
      headers: accept(random),
    }),
  },
  all_alerts: {
    weight: 3,
    who: OPERATORS,
    make: (random) => ({ on: `GET /alerts${query(...pageOfAlerts(random))}` }),
  },
  read_databases: { weight: 3, who: OPERATORS, make: () => ({ on: 'GET /database' }) },
  erase_user: { weight: 5, who: OPERATORS, make: () => ({ on: 'DELETE /user/{user}' }) },
  erase_idle: { weight: 3, who: OPERATORS, make: () => ({ on: 'DELETE /user/{idle}' }) },
  /** The service stores refused origins after its responses, so their order beside other calls is not known. */
  read_refused_origins: { weight: 15, who: OWNERS, make: () => ({ on: 'GET /business/{business}/access/refused' }) },
};
const WEIGHTS = Object.fromEntries(Object.entries(KINDS).map(([name, { weight }]) => [name, weight]));
const TOGETHER = Object.fromEntries(
  Object.entries(KINDS).flatMap(([name, { weight, isOneBatch }]) => (isOneBatch ? [[name, weight]] : [])),
);

/** Wrong inputs: what is sent instead, for the kinds whose names begin like this. */
const LONG = 'x'.repeat(256);
const NEW = { ...NEW_BUSINESS, user_id: 1 };
const BAD_BODIES: Record<string, unknown[]> = {
  record_: [
    ...[0, -1, 1.5, '1', null, 1_000_000_001].map((quantity) => ({ quantity })),
    { quantity: 1, at: '{at-1}' },
    { at: '{day-1}' },
    { uses: [] },
    { uses: {} },
    { uses: [{}] },
    { uses: ['u1'] },
    { uses: [{ id: 'u 1' }] },
    { uses: [{ id: LONG }] },
    { uses: [{ id: 'u1', quantity: 0 }] },
    { uses: [{ id: 'u1', date: '{day-1}' }] },
    { uses: [{ id: 'u1', at: '{day-1}' }] },
    { uses: [{ id: 'u1', at: '{day-1}T24:00:00Z' }] },
    {
      uses: [
        { id: 'u1', at: '2026-02-30T12:00:00Z' },
        { id: 'u2', at: 5 },
      ],
    },
    { other: 1 },
    [1],
    'text',
    5,
  ],
  lower_: [
    { uses: [{ id: 'u1', quantity: -1 }] },
    { uses: [{ id: 'u1' }] },
    { uses: [{ id: 'u1', quantity: 1_000_000_001 }] },
    {
      uses: [
        { id: 'u1', quantity: 0 },
        { id: 'u1', quantity: 1 },
      ],
    },
    {},
  ],
  add_: [
    ...[...Object.keys(BAD_SITES), ...Object.keys(SHARED_SITES)].map((site) => ({ sites: [site] })),
    { sites: ['https://shop.example', 5] },
    { sites: [] },
    { site: 'https://shop.example' },
    [],
  ],
  rotate_: [
    { keep_old: '0h' },
    { keep_old: '721h' },
    { keep_old: '31d' },
    { keep_old: 24 },
    { keep_old: null },
    [],
    { keep: '1h' },
  ],
  update_: [
    {},
    [],
    null,
    { status: 'deleted' },
    { billing_day: 0 },
    { billing_day: 29 },
    { billing_day: null },
    { daily_limit: -1 },
    { daily_limit: 1_000_000_000_001 },
    { monthly_limit: '5' },
    { overage: 0.5 },
    { alert_at: [] },
    { alert_at: [80, 80] },
    { alert_at: [1001] },
    { alert_at: [1, 2, 3, 4, 5, 6] },
    { name: '' },
    { name: LONG },
    { name: 'a\nb' },
    { name: '\u202eevil' },
    { site: 'acme.example' },
    { site: 'https://a b' },
    { country_id: 0 },
    { user_id: '7' },
    { token: 'imported-token-number-1xxx' },
    ...['tomorrow', '2026-02-30', '', 5, '{day-1}', '{day+1}', 'next_month'].map((limits_from) => ({ limits_from })),
    { limits_from: null, daily_limit: 1 },
    { limits_from: '{day+1}', daily_limit: 1, billing_day: 3 },
    { limits_from: 'next_month', daily_limit: -1, name: 'Acme' },
  ],
  extra: [
    ...[0, 1.5, '5', null, 1_000_000_000_001, undefined].map((uses) => ({ uses, month: 'this' })),
    ...['last', 1, undefined].map((month) => ({ uses: 5, month })),
    { uses: 5, month: 'this', daily: true },
    [],
  ],
  import_: [
    { days: [] },
    { days: [{ date: '2026-02-30', count: 1 }] },
    { days: [{ date: '{day-1}' }] },
    { days: [{ date: '{day-1}', count: -1 }] },
    { days: [{ date: '{day-1}', count: 1 }], replace: 'yes' },
    {
      days: [
        { date: '{day-1}', count: 1 },
        { date: '{day-1}', count: 2 },
      ],
      replace: true,
    },
    {
      days: [
        { date: '{day-1}', count: Number.MAX_SAFE_INTEGER },
        { date: '{day-2}', count: 1 },
      ],
    },
    { days: [{ date: '{day+0}', count: 1 }] },
    {},
  ],
  create_business: [
    {},
    { ...NEW, business_size: undefined },
    { ...NEW, database: 62 },
    { ...NEW, database: 9 },
    { ...NEW, token: 'short' },
    { ...NEW, token: `Bua_${'x'.repeat(30)}` },
    { ...NEW, id: 600_000_000 },
    { ...NEW, sites: ['https://*.github.io'] },
  ],
  create_key: [
    { role: 'admin' },
    { name: ' ' },
    { business_id: 0 },
    { expires_on: 'never' },
    { expires_on: '{day-1}' },
    { label: 'sms' },
    { label: ' sms', business_id: 0 },
    { label: 'sms', business_id: 1, role: 'read' },
    { label: 'sms', role: 'read', expires_on: 'never' },
    { key: 1 },
    [],
  ],
  console_: [
    { role: 'record' },
    { minutes: 0 },
    { minutes: 1441 },
    { as: '' },
    { as: 'x'.repeat(65) },
    { return_url: 'http://product.example' },
    { return_url: 'https://a@b.example' },
    { business_id: '5' },
    { can_create_keys: 1 },
    { can_create_keys: true, role: 'read' },
  ],
};
const BAD_QUERIES: Record<string, string[]> = {
  read_usage: [
    'from=tomorrow',
    'to=2026-02-30',
    'from={day+0}&to={day-1}',
    'form={day-1}',
    'from={day-1}&from={day-2}',
    '_=5',
    '_=x',
  ],
  read_refusals: ['from=tomorrow', 'from={day+0}&to={day-1}', 'by=source', 'to={day+0}&to={day+0}'],
  read_use: ['', 'id=', 'id=two%20words', 'id=a&id=b', 'id=a+b', 'use=a', `id=${LONG}`, 'id=%C3%A9'],
  read_changes: [
    'limit=0',
    'limit=101',
    'limit=01',
    'before=x',
    'before=9007199254740992',
    'action=read',
    'action=Add_sites',
    'search=',
    `search=${LONG}`,
    'from={day+0}&to={day-1}',
    'actor=1',
  ],
  read_alerts: ['limit=0', 'limit=101', 'since=2026-02-30T12:00:00Z', 'cursor=', 'cursor=-', 'cursor=00'],
  list_businesses: ['limit=51', 'after=0', 'user_id=x', 'user=1'],
  totals: ['ended={day+0}', 'ended={day+0}&from={day-1}', 'limit=1001', 'user_id=0'],
  delete_business: ['', 'name=Nothing', 'name=Acme&name=Acme'],
  '': ['x=1'],
};
/** Paths and methods that do not exist. */
const BAD_PATHS: [method: string, path: string][] = [
  ['GET', '/nothing'],
  ['GET', '/business/usage'],
  ['POST', '/business/usage/{business}/access'],
  ['PUT', '/business/{business}'],
  ['POST', '/business/{business}/access/refused'],
  ['DELETE', '/business/{business}/access/'],
  ['DELETE', '/business/{business}/access/x'],
  ['GET', '/business/0{business}'],
  ['GET', '/business/x'],
  ['GET', '/business/99999999999999999'],
  ['GET', '/business/{business}/'],
  ['PATCH', '/business/{business}/'],
  ['HEAD', '/business/{business}'],
  ['HEAD', '/business/usage/{business}'],
  ['GET', '/user/x/keys'],
  ['POST', '/user/0/keys'],
  ['DELETE', '/user/{user}/keys/x'],
  ['DELETE', '/user/9'],
  ['POST', '/database'],
];

const isPlain = (body: unknown): body is object => typeof body === 'object' && body !== null && !Array.isArray(body);
/** Joins two wrong bodies, so that one request breaks rules of several kinds. */
function mixed(one: unknown, other: unknown): unknown {
  if (!isPlain(one) || !isPlain(other)) return one;
  const lists = Object.entries(one).flatMap(([name, list]) => {
    const more = (other as Record<string, unknown>)[name];
    return Array.isArray(list) && Array.isArray(more) ? [[name, [...list, ...more]]] : [];
  });
  return { ...one, ...other, ...Object.fromEntries(lists) };
}

/** Sends one wrong thing, or several. */
function withBadInput(random: Random, name: string, made: Made): Made {
  const bodies = Object.entries(BAD_BODIES)
    .filter(([start]) => name.startsWith(start))
    .flatMap(([, list]) => list);
  const queries = [...(BAD_QUERIES[name] ?? []), ...(BAD_QUERIES[''] ?? [])];
  const [on = ''] = made.on.split('?');
  const bad = { ...made };
  const some = () => random.chance(0.2);
  const kind = random.int(10);
  if (kind === 0 || some())
    bad.headers = { ...made.headers, 'Idempotency-Key': random.pick(['two words', '"', '"a b"', LONG, 'k1']) };
  if (kind === 2 || kind === 3 || bodies.length === 0 || some())
    bad.on = `${on}?${random.pick(queries)}${some() ? `&${random.pick(queries)}` : ''}`;
  if (kind === 1) bad.body = random.pick(RAW);
  else if (bodies.length > 0 && (kind > 3 || some())) {
    const body = random.pick(bodies);
    bad.body = some() ? mixed(body, random.pick(bodies)) : body;
  }
  return bad;
}

/** Bodies that are no JSON are sent as they are. */
const RAW = ['{', '{}x', '{"quantity":1,"quantity":2}', ' '];
const textOf = (body: unknown) =>
  body === undefined ? null : RAW.includes(body as string) ? (body as string) : JSON.stringify(body);

function request(random: Random, weights: Record<string, number>, badChance: number): RequestStep {
  const name = random.weighted(weights);
  const { who: callers, make } = KINDS[name] as Kind;
  const who = random.weighted(callers as Record<Who, number>);
  let made = make(random);
  if (random.chance(badChance)) made = withBadInput(random, name, made);
  else if (badChance > 0 && random.chance(0.01)) made = { on: random.pick(BAD_PATHS).join(' ') };
  const [method = 'GET', path = ''] = made.on.split(/ (.*)/s);
  const headers = { ...made.headers };
  const isOperator = ['operator', 'recorder', 'reader'].includes(who);
  // Pages use tokens and sessions. Now and then, somebody else sends an origin.
  const pages = { token: 0.8, former: 0.8, other_token: 0.8, session: 0.4, key: 0.15 } as Partial<Record<Who, number>>;
  if (headers.Origin !== undefined) {
    // The kind has chosen one.
  } else if (random.chance(isOperator ? 0.01 : (pages[who] ?? 0.05)))
    headers.Origin = random.chance(0.5) ? random.pick(ORIGINS.slice(0, 3)) : random.pick(ORIGINS);
  else if (random.chance(isOperator ? 0.005 : 0.03)) headers['Sec-Fetch-Site'] = 'same-origin';
  if (random.chance(0.003)) headers['Content-Encoding'] = random.pick(['gzip', 'identity']);
  if (random.chance(0.002)) headers['X-API-Key'] = 'x';
  // The second number is 0 for a business that does not exist.
  const pick = [random.int(64), random.chance(0.02) ? 0 : 1, ...Array.from({ length: 4 }, () => random.int(64))];
  const body = method === 'GET' || method === 'HEAD' ? null : textOf(made.body);
  return { kind: 'request', who, method, path: `/api/v1${path}`, body, headers, pick };
}

const create = (random: Random, name: string): RequestStep => ({
  ...request(random, { [name]: 1 }, 0),
  who: 'operator',
});

/** Uses of the oldest business, more than any limit admits. */
export const tooManyUses = (random: Random): RequestStep => ({
  ...request(random, { record_quantity: 1 }, 0),
  who: 'operator',
  body: JSON.stringify({ quantity: 1_000_000_000 }),
  pick: [0, 1, 0, 0, 0, 0],
});

/** By how much a scheduled run is late. */
const LATE = [0, 0, 0, 2 * MINUTE, HOUR, DAY, 8 * DAY];
/** For a while, one business or user is asked for the same few things, so that what has a maximum reaches it. */
const PHASES: Record<string, number>[] = [
  { start_session: 50, redeem: 10, console_link: 10, end_session: 2, create_key: 4, revoke_key: 1, read_business: 4 },
  {
    ...{
      record_many_labels: 60,
      lower_uses: 10,
      record_quantity: 20,
      read_sources: 10,
      import_history: 2,
      add_sites: 5,
    },
    ...{ create_narrow_key: 6, record_use: 10 },
  },
  { create_own_key: 60, revoke_key: 15, console_link: 8, redeem: 12 },
  { narrow_link: 10, redeem: 16, list_businesses: 10, add_sites: 10, list_keys: 6, end_session: 3, transfer: 3 },
  { rotate_token: 40, record_use: 30, stop_former: 4, read_business: 10, read_access: 4 },
  { update_business: 10, record_use: 40, record_quantity: 30, record_uses: 30, lower_uses: 15, import_history: 8 },
  {
    ...{ update_plan: 30, extra: 20, update_business: 8, record_use: 40, record_quantity: 30, record_uses: 40 },
    ...{ lower_uses: 8, import_history: 8, read_business: 8, ended: 8, list_businesses: 4 },
  },
  { repeat_creation: 30, create_business: 10, update_business: 8, delete_business: 10, erase_user: 8, create_key: 4 },
  { add_many: 30, remove_site: 4, remove_sites: 1, read_access: 2 },
  { refuse: 120, read_refused_origins: 6, add_sites: 3, remove_sites: 1, list_businesses: 2 },
  { one_site: 12, remove_sites: 6, page_overage: 12, use_of_page: 40, read_business: 10, list_businesses: 4 },
  { overlapping_sites: 8, remove_site: 4, remove_sites: 1, use_of_page: 30, read_sources: 10, record_use: 5 },
  {
    create_ending_key: 16,
    create_own_key: 14,
    start_session: 10,
    use_of_ended: 10,
    console_link: 4,
    erase_user: 2,
    list_keys: 4,
    read_business: 6,
  },
  {
    second_business: 4,
    create_narrow_key: 12,
    use_of_narrow: 20,
    start_session: 6,
    list_businesses: 8,
    record_use: 6,
    read_usage: 6,
  },
  {
    update_business: 20,
    transfer: 6,
    activate: 8,
    create_key: 20,
    console_link: 10,
    redeem: 10,
    start_session: 10,
    revoke_key: 10,
    list_keys: 8,
  },
  { short_month: 4, ended: 30 },
  { long_month: 4, late_uses: 40, read_business: 4, record_quantity: 4 },
  // Changes that name persons and keys, and then belong to another owner.
  {
    ...{ named_link: 10, redeem: 16, change_of_session: 16, create_narrow_key: 10, revoke_key: 3 },
    ...{ transfer: 6, read_changes: 24, user_changes: 2, erase_idle: 2 },
  },
];
type Phase = { weights: Record<string, number>; left: number; pick: number[] };
const phases = new WeakMap<Random, Phase>();

/** The next step. It depends on the model only to keep a world with at least so many businesses, and with keys that work. */
export function nextStep(random: Random, { state }: Model, now: number, businesses: number): Step {
  if (state.businesses.length < businesses) return create(random, 'create_business');
  if (state.keys.length < 4) return create(random, 'create_key');
  const phase = phases.get(random);
  if (phase !== undefined && phase.left > 0) {
    phase.left -= 1;
    const days = 'late_uses' in phase.weights ? 8 : 'short_month' in phase.weights ? 1 : 0;
    if (days > 0 && random.chance(0.15)) return { kind: 'wait', ms: days * DAY };
    if (random.chance(0.05)) {
      const edge = untilMidnight(now) + random.pick([-1, 0, 0, 1]);
      return { kind: 'wait', ms: random.pick([1, 1000, MINUTE, MINUTE + 1, DAY, Math.max(0, edge)]) };
    }
    const step = request(random, phase.weights, 0.01);
    return random.chance(0.9) ? { ...step, pick: [...phase.pick, ...step.pick.slice(phase.pick.length)] } : step;
  }
  if (random.chance(0.016)) {
    // One business and one user.
    const pick = [random.int(64), 1, random.int(64)];
    const weights = random.pick(PHASES);
    // As many origins as a business lists, and a few more.
    const least = 'refuse' in weights ? 60 : 20;
    phases.set(random, { weights, left: least + random.int(60), pick });
  }
  if (random.chance(0.015)) {
    const pick = [random.int(64), 1, random.int(64)];
    phases.set(random, { weights: AFTER_SPENDING, left: 4 + random.int(10), pick });
    return spent(random, pick[0] ?? 0);
  }
  const kind = random.weighted({ request: 850, wait: 110, purge: 30, alerts: 30, receiver: 6, health: 4 });
  if (kind === 'receiver') return { kind, ...receiverFrom(random) };
  if (kind === 'health') return { kind };
  if (kind === 'wait') return { kind: 'wait', ms: waitFrom(random, now, state.businesses) };
  // Runs are far apart, so most are skipped. Some are late, and some happen twice at once.
  if (kind !== 'request') return { kind: 'run', name: kind, late: random.pick(LATE), times: random.pick([1, 1, 1, 2]) };
  const isFull = state.businesses.length > businesses + 5;
  const weights = isFull ? { ...WEIGHTS, delete_business: 40, create_business: 3, repeat_creation: 3 } : WEIGHTS;
  return request(random, weights, 0.06);
}

/** What is just below, at and beyond what an owner may take, and what a clock that was wrong may have stored. */
const AHEAD = [-1000, 0, 9000, 9740, 9989, 10_000, 10_001, 10_100, 10_250, 10_251, MINUTE, 400 * DAY];
const spent = (random: Random, pick: number): SpentStep => ({
  ...{
    kind: 'spent',
    class: random.pick(CLASSES),
    pick,
    ahead: random.pick(AHEAD),
    day: random.pick([0, 0, 0, -1, 1]),
  },
  ids: random.pick([0, 0, 998_999, 999_000, 999_001, 1_998_999, 1_999_000, 1_999_001, 2_000_000]),
  bytes: random.pick([0, 0, 3_939_000, 3_940_000, 3_940_001, 4_000_000]),
});
const AFTER_SPENDING = {
  ...{ read_changes: 10, list_businesses: 8, record_uses: 12, add_sites: 12, record_use: 4, read_usage: 2 },
  ...{ create_narrow_key: 8, uses_of_narrow: 16 },
  ...{ start_session: 3, create_own_key: 3, revoke_key: 1, rotate_token: 1, remove_site: 1, read_business: 1 },
};

/** More calls of one owner's keys and sessions than an allowance lets through. */
export const nextCrowd = (random: Random): Step => {
  const pick = [random.int(64), 1];
  const requests = Array.from({ length: 42 + random.int(8) }, () => {
    const step = request(
      random,
      random.chance(0.95) ? { crowd: 1 } : { record_use: 1, record_uses: 1, read_usage: 1 },
      0,
    );
    return { ...step, pick: [...pick, ...step.pick.slice(2)] };
  });
  return { kind: 'together', requests };
};

/** Requests that reach the service at the same time. */
export const nextTogether = (random: Random): Step => {
  const pick = [random.int(64), 1];
  const requests = Array.from({ length: 2 + random.int(4) }, () => {
    const step = request(random, TOGETHER, 0);
    // Most of them concern one business.
    return random.chance(0.8) ? { ...step, pick: [...pick, ...step.pick.slice(2)] } : step;
  });
  return { kind: 'together', requests };
};

/** Half of the time it accepts alerts. */
function receiverFrom(random: Random): Receiver {
  if (random.chance(0.5)) return { status: 204, retryAfter: null, ms: random.pick([0, 1, 9999]) };
  const retryAfter = random.pick([null, '0', '90', '7200', '999999', 'Fri, 01 Jan 2027 00:00:00 GMT', 'soon']);
  return {
    status: random.pick([0, 307, 400, 404, 429, 500, 503, 200]),
    retryAfter,
    ms: random.pick([0, 1, 9999, 10_001]),
  };
}

const untilMidnight = (now: number) => DAY - (now % DAY);
function waitFrom(random: Random, now: number, businesses: Business[]): number {
  const weights = { instant: 20, minutes: 30, hours: 20, midnight: 15, day: 8, days: 4, month: 1, next_month: 2 };
  const kind = random.weighted(weights);
  switch (kind) {
    case 'next_month':
      return Date.parse(monthOf(random.pick(businesses), dayOf(now)).ends_on) + DAY - now;
    case 'instant':
      return random.pick([0, 1, 999, 1000]);
    case 'minutes':
      return random.pick([30_000, MINUTE - 1, MINUTE, MINUTE + 1, 2 * MINUTE, 5 * MINUTE]);
    case 'hours':
      return random.pick([HOUR, 12 * HOUR, 12 * HOUR - 1]);
    case 'midnight':
      return Math.max(0, untilMidnight(now) + random.pick([-1, 0, 1]));
    case 'day':
      return DAY;
    case 'days':
      return DAY * random.pick([2, 3, 7, 8]);
    case 'month':
      return DAY * (random.chance(0.1) ? random.pick([90, 91, 400, 401]) : random.pick([28, 31, 35, 40, 41]));
  }
}
