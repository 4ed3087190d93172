// Businesses, their sites and tokens (docs/api.md, "Businesses", "Sites", "Replacing the token").

import { storeReached } from './alerts.ts';
import { takenBy } from './allowance.ts';
import { billingDayOn, changeBillingDay, latestBillingDay, monthOf, periodsOf, planOn } from './billing.ts';
import {
  ANY,
  type Answer,
  businessOf,
  type Call,
  entriesOf,
  invalid,
  invalidField,
  sentIn,
  sitesOf,
  success,
  unknownId,
} from './call.ts';
import { CHANGERS, READERS, ROLES } from './callers.ts';
import { masked, record } from './changes.ts';
import { claimHome } from './homes.ts';
import {
  DEFAULTS,
  DELETION,
  extra,
  hoursIn,
  idIn,
  idOf,
  LIMITS,
  newBusiness,
  newSites,
  rotation,
  update,
} from './input.ts';
import { rulesOf } from './rule.ts';
import { lastFour, newMarker } from './secrets.ts';
import { isCovered, isReachable, isRegistrable, storedFor } from './sites.ts';
import { canNameSites, nameSites } from './sources.ts';
import { type Business, databaseOf, IDS_PER_DATABASE, type Json, nextId, type Plan, type State } from './state.ts';
import { dayOf, plusDays, stamp } from './time.ts';

const DEFAULT_ALERT_AT = [80, 100];

const HIDDEN = ['billing_day', 'billing_changes', 'plans', 'unfolded', 'extras', 'extra_requests', 'creation'] as const;
/** The members of a business that every response shows. Some keys see only the end of the token. */
export function fieldsOf(call: Call, business: Business) {
  const shown = Object.entries(business).filter(([name]) => !HIDDEN.some((hidden) => hidden === name));
  const seesToken = call.key === null ? call.caller !== 'reader' : ROLES[call.key.role].seesToken;
  const token = seesToken ? business.token : masked(business.token);
  return { ...(Object.fromEntries(shown) as Omit<Business, (typeof HIDDEN)[number]>), token };
}
const withSites = (call: Call, business = businessOf(call)) => ({
  ...fieldsOf(call, business),
  access_list: entriesOf(call.state, business.id).toSorted((a, b) => a.id - b.id),
});

const shownPlan = ({ daily_limit, monthly_limit, overage, page_overage, alert_at }: Plan) => ({
  daily: daily_limit,
  monthly: monthly_limit,
  ...{ overage, page_overage, alert_at: alert_at ?? DEFAULT_ALERT_AT },
});
/** The limits that will hold after a pending change. */
const pendingOf = ({ plans }: Business, today: string) => plans.find(({ from }) => from > today);

/** Whose next use is refused: after the overage everybody's, and those of pages at the limit unless the overage is for pages, too. */
function refusesOf(left: number, { overage, page_overage }: Plan, sites: string[]) {
  if (overage !== null && left + overage <= 0) return 'everybody';
  return left <= 0 && !(page_overage && sites.some(isReachable)) ? 'pages' : 'nobody';
}

export function limitsOf({ state, now }: Call, business: Business) {
  const today = dayOf(now);
  const periods = periodsOf(state, business, today, today);
  const used = (kind: string) => periods.find(({ period }) => period === kind)?.used ?? null;
  const month = used('month');
  const startOf = (day: string) => `${day}T00:00:00.000000Z`;
  const { starts_on, ends_on } = monthOf(business, today);
  const pending = pendingOf(business, today);
  const left = Math.min(...periods.map((period) => period.limit - period.used));
  return {
    ...shownPlan(planOn(business, today)),
    extra: business.extras[starts_on] ?? 0,
    next_limits: pending === undefined ? null : { from: pending.from, ...shownPlan(pending) },
    ...billingDayOn(business, today),
    today: used('day'),
    month: month === null ? null : Math.min(month, Number.MAX_SAFE_INTEGER),
    remaining: periods.length === 0 ? null : Math.max(0, left),
    refuses: refusesOf(left, planOn(business, today), sitesOf(state, business.id)),
    day_ends: planOn(business, today).daily_limit === null ? null : startOf(plusDays(today, 1)),
    month_starts: startOf(starts_on),
    month_ends: startOf(plusDays(ends_on, 1)),
  };
}

/** The uses that limits refused since the billing month began. */
export function refusedByLimit({ state, now }: Call, business: Business): number {
  const { starts_on } = monthOf(business, dayOf(now));
  const days = Object.entries(state.limited[business.id] ?? {}).filter(([day]) => day >= starts_on);
  return days.reduce((sum, [, count]) => sum + count, 0);
}

/** The former tokens that still work, in the order in which they were replaced. */
export const workingTokens = (state: State, business_id: number, now: number) =>
  state.former
    .filter((former) => former.business_id === business_id && former.expires_at > stamp(now))
    .toSorted((a, b) => a.id - b.id);
const shownToken = ({ token, expires_at }: State['former'][number]) => ({ last_four: lastFour(token), expires_at });
const usedTokens = (state: State, business_id: number, now: number) =>
  // Marked after responses, so requests at the same time may not see each other's.
  workingTokens(state, business_id, now).map((former) => ({
    ...{ id: former.id, ...shownToken(former), last_used_on: ANY, used_from: ANY },
  }));

const details = (call: Call): Answer => {
  const business = businessOf(call);
  const former_tokens = usedTokens(call.state, business.id, call.now);
  // Counted after responses, so requests at the same time may not see each other's. The list of businesses is exact.
  return success({ ...withSites(call), limits: limitsOf(call, business), refused_by_limit: ANY, former_tokens });
};

const readAccess = (call: Call): Answer => success(withSites(call));

const MAX_SITES = 500;
function addSites(call: Call): Answer {
  const { state, now, origin, own } = call;
  const { sites: given } = sentIn<{ sites: string[] }>(call);
  const business = businessOf(call);
  const sites = [...new Set(given.map((text) => storedFor(text) as string))];
  const stored = sitesOf(state, business.id);
  const mayBeFirst = origin === null || origin === own || isCovered(sites, origin);
  if (stored.length === 0 && !mayBeFirst)
    throw invalidField(
      'sites',
      isRegistrable(origin)
        ? 'must cover the origin of this page, or the page would lose access: add it, or register the first sites from a server'
        : 'must be registered from a server: the origin of this page cannot be registered, so the page would lose access',
    );
  const added = sites.filter((site) => !stored.includes(site));
  if (stored.length + added.length > MAX_SITES && added.length > 0)
    throw invalidField('sites', `must not give the business more than ${MAX_SITES} sites`);
  if (!canNameSites(state, business.id, sites))
    throw invalidField(
      'sites',
      'must not give the business more than 1000 sites that are registered, or were and have counted uses: reports name those, too',
    );
  if (added.length > 0) {
    addEntries(call, business, added);
    // A site that is registered deletes the refused and let-in origins that it covers.
    const remembered = state.refused[business.id] ?? [];
    state.refused[business.id] = remembered.filter(({ origin }) => !isCovered(added, origin));
    business.updated_at = stamp(now);
    record(call, 'add_sites', { after: { sites: added } });
    const bytes = 2 * (200 + new TextEncoder().encode(JSON.stringify({ sites: added })).length);
    if (call.key !== null) takenBy(state, call.key.user_id, 'changing', call.clock).bytes += bytes;
  }
  return success(withSites(call));
}
function addEntries({ state, now }: Call, { id: business_id }: Business, sites: string[]): void {
  for (const site of sites) {
    const id = nextId(state, databaseOf(business_id), 'sites');
    state.entries.push({ id, business_id, site, created_at: stamp(now), updated_at: stamp(now) });
  }
  nameSites(state, business_id, sites);
}

/** Removes one entry, or all of them. */
function removeSites(call: Call): Answer {
  const { state, now, origin, own: ownOrigin } = call;
  const entry = call.parameters.access_id;
  const business = businessOf(call);
  const own = entriesOf(state, business.id);
  const removed = entry === undefined ? own : own.filter(({ id }) => id === idOf(entry));
  if (entry !== undefined && removed.length === 0) throw unknownId('Access id');
  if (entry !== undefined && own.length === 1)
    throw invalid(
      {
        access_id: [
          'access_id must not be the last site: without sites, the token works everywhere. To allow that, DELETE the whole list.',
        ],
      },
      'last_domain',
    );
  const kept = own.filter((each) => !removed.includes(each)).map(({ site }) => site);
  if (kept.length > 0 && origin !== null && origin !== ownOrigin && !isCovered(kept, origin))
    throw invalidField(
      'access_id',
      'must not be the site that lets this page in, or the page would lose access: first register another that covers its origin, or remove this one from a server',
    );
  if (removed.length > 0) {
    state.entries = state.entries.filter((each) => !removed.includes(each));
    business.updated_at = stamp(now);
    // A list in a change has no order.
    record(call, 'remove_sites', { before: { sites: removed.map(({ site }) => site).sort() } });
  }
  return success(withSites(call));
}

const seenSince = (state: State, id: number, today: string) =>
  (state.refused[id] ?? []).filter(({ last_seen }) => last_seen >= plusDays(today, -90));
export function stillRefused(state: State, id: number, today: string) {
  const sites = sitesOf(state, id);
  return seenSince(state, id, today).filter(({ let_in }) => sites.length > 0 && let_in === 0);
}
function readRefused(call: Call): Answer {
  const { state, now } = call;
  const { id } = businessOf(call);
  const isOpen = sitesOf(state, id).length === 0;
  const shown = (origins: ReturnType<typeof seenSince>) =>
    origins
      .toSorted((a, b) => (a.last_seen === b.last_seen ? 0 : a.last_seen < b.last_seen ? 1 : -1))
      .map(({ let_in: _, total: __, ...origin }) => origin);
  return success({
    refused: shown(stillRefused(state, id, dayOf(now))),
    let_in: shown(seenSince(state, id, dayOf(now)).filter(({ let_in }) => isOpen && let_in === 1)),
  });
}
function forgetRefused({ state, business }: Call): Answer {
  delete state.refused[business?.id ?? 0];
  return success({ refused: [], let_in: [] });
}

const MAX_FORMER = 5;
function rotateToken(call: Call): Answer {
  const { state, now } = call;
  const { keep_old } = sentIn<{ keep_old?: string }>(call);
  const business = businessOf(call);
  const old = business.token;
  const until = keep_old === undefined ? null : stamp(now + Number(hoursIn(keep_old)) * 3_600_000);
  const others = state.former.filter(({ business_id }) => business_id !== business.id);
  const own = workingTokens(state, business.id, now);
  const kept = until === null ? [] : [...own, formerOf(call, old, until)].slice(-MAX_FORMER);
  state.former = [...others, ...kept];
  state.spent.push(old);
  business.token = newMarker(state);
  business.updated_at = stamp(now);
  record(call, 'rotate_token', {
    before: { token: masked(old) },
    after: { token: masked(business.token), ...(until !== null && { former_works_until: until }) },
  });
  return success(withSites(call));
}

function formerOf(call: Call, token: string, expires_at: string): State['former'][number] {
  const { id: business_id } = businessOf(call);
  const id = nextId(call.state, databaseOf(business_id), 'former_tokens');
  return { id, token, business_id, expires_at, last_used_on: null, used_from: null };
}

/** Stops one former token, or all of them. */
function stopFormerTokens(call: Call): Answer {
  const { state, now } = call;
  const business = businessOf(call);
  const { former_id } = call.parameters;
  const isNamed = ({ id }: State['former'][number]) => former_id === undefined || id === idOf(former_id);
  const tokens = workingTokens(state, business.id, now).filter(isNamed).map(shownToken);
  if (former_id !== undefined && tokens.length === 0) throw unknownId('Former id');
  if (tokens.length > 0) {
    state.former = state.former.filter((former) => former.business_id !== business.id || !isNamed(former));
    business.updated_at = stamp(now);
    record(call, 'stop_former_tokens', { before: { tokens } });
  }
  return details(call);
}

/** The error if uses of pages could be counted without bound. */
export function overageError(isOfPages: boolean): Record<string, string[]> {
  const [field, rule] = isOfPages
    ? ['page_overage', 'must not be true while overage is null']
    : ['overage', 'must not be null while page_overage is true'];
  return { [field]: [`${field} ${rule}: pages are public, so what they can cost must be bounded`] };
}

type Fields = Partial<Omit<Business, 'plans'> & Omit<Plan, 'alert_at'>> & {
  alert_at?: number[];
  limits_from?: string | null;
};
/** Lines without the spaces around them. No other text may have any. */
const trimmed = (fields: Json): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value]),
  );

const appliedOf = (plan: Plan, name: (typeof LIMITS)[number]) =>
  JSON.stringify(name === 'alert_at' ? (plan.alert_at ?? DEFAULT_ALERT_AT) : plan[name]);
const differ = (one: Plan, other: Plan) => LIMITS.some((name) => appliedOf(one, name) !== appliedOf(other, name));
const limitsIn = (fields: object): Partial<Plan> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => LIMITS.some((limit) => limit === name)));

/** The plans of a business after a change of limits. Throws if it is impossible. */
function plansAfter(business: Business, { limits_from, ...fields }: Fields, today: string): Business['plans'] {
  const given = limitsIn(fields);
  const current = planOn(business, today);
  const pending = pendingOf(business, today);
  const isLater = typeof limits_from === 'string' && limits_from !== today;
  const from = limits_from === 'next_month' ? plusDays(monthOf(business, today).ends_on, 1) : limits_from;
  if (isLater && pending !== undefined && pending.from !== from)
    throw invalidField(
      'limits_from',
      `must be ${pending.from}, the date of the pending change, or null, which cancels it`,
    );
  if (limits_from === null && pending === undefined)
    throw invalidField('limits_from', 'must not be null: no change of the limits is pending');
  const plan = isLater ? current : { ...current, ...given };
  const passed = LIMITS.filter(
    (name) => pending === undefined || appliedOf(pending, name) === appliedOf(current, name),
  );
  let later: Plan | undefined;
  if (isLater) later = { ...(pending ?? current), ...given };
  else if (limits_from !== null && pending !== undefined)
    later = { ...pending, ...Object.fromEntries(passed.map((name) => [name, plan[name]])) };
  for (const { page_overage, overage } of later === undefined ? [plan] : [plan, later])
    if (page_overage && overage === null) throw invalid(overageError(fields.page_overage === true));
  const plans = business.plans.filter((other) => other.from <= today);
  const last = plans.at(-1);
  if (last === undefined) throw new Error('a business has no limits');
  if (last.from === today || !differ(plan, current)) plans[plans.length - 1] = { ...plan, from: last.from };
  else plans.push({ ...plan, from: today });
  const start = isLater ? from : pending?.from;
  if (later !== undefined && differ(later, plan)) plans.push({ ...later, from: `${start}` });
  return plans;
}

function updateBusiness(call: Call): Answer {
  const { state, now } = call;
  const business = businessOf(call);
  const today = dayOf(now);
  const { limits_from, ...others } = trimmed(sentIn(call));
  const isDated = limits_from !== undefined && limits_from !== today;
  const fields: Fields = isDated ? { ...others, limits_from } : others;
  const plans = plansAfter(business, fields, today);
  const { user_id } = fields;
  if (user_id !== undefined) {
    const database = databaseOf(business.id);
    const { home } = claimHome(call, user_id, { wanted: database });
    if (home !== database)
      throw invalidField(
        'user_id',
        `must be a user of database ${database}, which contains the business: user ${user_id} is in database ${home}`,
      );
  }
  const pending = pendingOf(business, today);
  const compared =
    typeof fields.limits_from === 'string' ? (pending ?? planOn(business, today)) : planOn(business, today);
  const stored = (name: string): unknown => {
    if (name === 'billing_day') return latestBillingDay(business);
    if (name === 'limits_from') return pending?.from ?? null;
    const limit = LIMITS.find((limit) => limit === name);
    if (limit === undefined) return business[name as keyof Business];
    return JSON.parse(appliedOf(compared, limit));
  };
  const wanted = { ...fields, ...(isDated && { limits_from: pendingOf({ ...business, plans }, today)?.from ?? null }) };
  const differing = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(stored(name)),
  );
  if (differing.length > 0) {
    const before = Object.fromEntries(differing.map(([name]) => [name, stored(name)]));
    record(call, 'update_business', { before, after: Object.fromEntries(differing) });
    if (differing.some(([name]) => name === 'user_id')) endCredentialsOf(state, business.id, now);
    const { billing_day, limits_from: _, ...columns } = fields;
    if (billing_day !== undefined) changeBillingDay(business, billing_day, today);
    const ofBusiness = Object.entries(columns).filter(([name]) => !(name in limitsIn(columns)));
    business.plans = plans;
    business.unfolded = pendingOf(business, today)?.from ?? null;
    Object.assign(business, Object.fromEntries(ofBusiness), { updated_at: stamp(now) });
    storeReached(call, business, [today]);
  }
  return details(call);
}

const MAX_LIMIT = 1_000_000_000_000;
function addExtra(call: Call): Answer {
  const { now, headers } = call;
  const { uses, month } = sentIn<{ uses: number; month: 'this' | 'next' }>(call);
  const business = businessOf(call);
  const { extras, extra_requests } = business;
  const today = dayOf(now);
  const parsed = idIn(headers['Idempotency-Key'] ?? '');
  const key = 'id' in parsed ? parsed.id : '';
  const request = `${uses} ${month}`;
  const known = extra_requests[key];
  if (known !== undefined) {
    if (known.request !== request)
      throw invalidField('Idempotency-Key', 'was already used for another extra of this business');
    return success({ starts_on: known.starts_on, extra: known.extra });
  }
  const current = monthOf(business, today);
  const starts_on = month === 'this' ? current.starts_on : plusDays(current.ends_on, 1);
  if (planOn(business, month === 'this' ? today : starts_on).monthly_limit === null)
    throw invalidField('month', 'must be a month in which the business has a monthly limit');
  const before = extras[starts_on] ?? 0;
  const sum = before + uses;
  if (sum < 0 || sum > MAX_LIMIT)
    throw invalidField(
      'uses',
      `must be a number from ${-before} to ${MAX_LIMIT - before}: ${before} were added to this month`,
    );
  record(call, 'add_extra', { before: { extra: before }, after: { extra: sum, starts_on } });
  extras[starts_on] = sum;
  extra_requests[key] = { request, starts_on, extra: sum, day: today };
  business.updated_at = stamp(now);
  storeReached(call, business, [today]);
  return success({ starts_on, extra: sum });
}

/** What a run does with a change of limits whose day has come. */
export function foldLimits(state: State, business: Business, now: number): void {
  business.unfolded = null;
  storeReached({ state, now }, business, [dayOf(now)]);
}
/** Revokes the keys, sessions and links for a business that is transferred. */
function endCredentialsOf(state: State, business_id: number, now: number): void {
  for (const key of state.keys.filter((key) => key.business_id === business_id && key.revoked_at === null)) {
    key.revoked_at = stamp(now);
    if (key.ends_at !== null && key.ends_at > stamp(now)) key.ends_at = stamp(now);
  }
  dropCodes(state, business_id);
}
function dropCodes(state: State, business_id: number): void {
  const dropped = state.codes.filter((code) => code.business_id === business_id);
  state.spent.push(...dropped.map(({ secret }) => secret));
  state.codes = state.codes.filter((code) => !dropped.includes(code));
}

function deleteBusiness(call: Call): Answer {
  const { state, query } = call;
  const business = businessOf(call);
  const { id, user_id, name, main_domain } = business;
  if (query.get('name') !== name) throw invalidField('name', `must be the name of the business: ${name}`);
  const isOwn = ({ business_id }: { business_id: number | null }) => business_id === id;
  record(call, 'delete_business', { before: { user_id, name, main_domain } });
  const tokens = [business.token, ...state.former.filter(isOwn).map(({ token }) => token)];
  state.spent.push(...tokens, ...state.keys.filter(isOwn).map(({ secret }) => secret));
  dropCodes(state, id);
  state.businesses = state.businesses.filter((other) => other !== business);
  state.keys = state.keys.filter((key) => !isOwn(key));
  state.entries = state.entries.filter((entry) => !isOwn(entry));
  state.former = state.former.filter((former) => !isOwn(former));
  delete state.counts[id];
  delete state.bySource[id];
  delete state.sources[id];
  delete state.alerts[id];
  delete state.refused[id];
  delete state.limited[id];
  delete state.imported[id];
  state.deletions.push(id);
  return success({ deleted: { id, name } });
}

const UNUSED_TOKEN = 'must not be a current or former token of any business';
function createBusiness(call: Call): Answer {
  const { state, now, headers } = call;
  const sent = sentIn<Json>(call);
  const header = headers['Idempotency-Key'];
  const parsed = header === undefined ? null : idIn(header);
  const given = (sent.sites ?? []) as string[];
  const {
    sites: _,
    token,
    database,
    id,
    ...columns
  } = trimmed(sent) as Fields & { sites?: string[]; database?: number };
  const sites = [...new Set(given.map((text) => storedFor(text) as string))];
  const user_id = columns.user_id as number;

  const { home, isFree } = claimHome(call, user_id, { wanted: database, token });
  if (home !== null && database !== undefined && home !== database)
    throw invalidField('database', `must be ${home}, the database of user ${user_id}`);
  if (home === null || (!isFree && parsed === null)) throw invalidField('token', UNUSED_TOKEN);
  const most = home * IDS_PER_DATABASE + IDS_PER_DATABASE / 2;
  if (id !== undefined && id > most) throw invalidField('id', `must be at most ${most}, to leave room for later ids`);

  const asked = { ...trimmed(sent), sites };
  const request = JSON.stringify(Object.entries(asked).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const key = parsed !== null && 'id' in parsed ? parsed.id : null;
  const known = state.businesses.find(
    ({ id, creation }) =>
      databaseOf(id) === home && key !== null && creation?.user_id === user_id && creation.key === key,
  );
  if (known !== undefined) {
    if (known.user_id !== user_id)
      throw invalidField(
        'Idempotency-Key',
        'must be a new key: the business that it created now belongs to another user',
      );
    if (known.creation?.request !== request)
      throw invalidField(
        'Idempotency-Key',
        `was already used for business ${known.id} with a different body: GET /business/${known.id} shows it, and PATCH changes it`,
      );
    return success(withSites(call, known));
  }
  const last = state.last[home]?.businesses ?? 0;
  if (id !== undefined && id <= last)
    throw invalidField('id', `must be greater than ${last}, the last id of its database`);
  const retired = state.retired[home] as string[];
  if (!isFree || (token !== undefined && retired.includes(token))) throw invalidField('token', UNUSED_TOKEN);

  if (id !== undefined) (state.last[home] as { businesses: number }).businesses = id;
  const { billing_day = DEFAULTS.billing_day, ...others } = columns;
  const { billing_day: _day, ...defaults } = DEFAULTS;
  const ofBusiness = Object.entries(others).filter(([name]) => !(name in limitsIn(others)));
  const business = {
    ...Object.fromEntries(ofBusiness),
    ...{ billing_day, plans: [{ ...defaults, ...limitsIn(others), from: '' }] },
    ...{ unfolded: null, extras: {}, extra_requests: {} },
    id: id ?? nextId(state, home, 'businesses'),
    token: token ?? newMarker(state),
    status: 'active',
    created_at: stamp(now),
    updated_at: stamp(now),
    billing_changes: [],
    creation: key === null ? null : { user_id, key, request },
  } as unknown as Business;
  if (token !== undefined) retired.push(token);
  state.businesses.push(business);
  addEntries(call, business, sites);
  const after = { ...columns, ...(sites.length > 0 && { sites }), token: masked(business.token), status: 'active' };
  record(call, 'create_business', { after }, 'business', business.id);
  return success(withSites(call, business));
}

export const business = rulesOf({
  read_business: {
    ...{ who: READERS, does: 'read businesses', inactive: true, retry: 'always' },
    on: { 'GET /business/:business_id': details },
  },
  create_business: {
    ...{ who: 'operator', does: 'create businesses', inactive: true, retry: 'with_key' },
    body: [newBusiness],
    on: { 'POST /business': createBusiness },
  },
  update_business: {
    ...{ who: 'operator', does: 'change businesses', inactive: true, retry: 'always' },
    body: [update],
    on: { 'PATCH /business/:business_id': updateBusiness },
  },
  add_extra: {
    ...{ who: 'operator', does: 'add to limits', inactive: true, retry: 'with_key' },
    body: [extra],
    on: { 'POST /business/:business_id/extra': addExtra },
  },
  delete_business: {
    ...{ who: 'operator', does: 'delete businesses', inactive: true, retry: 'always' },
    query: DELETION,
    on: { 'DELETE /business/:business_id': deleteBusiness },
  },
  read_access: {
    ...{ who: READERS, does: 'read sites', inactive: true, retry: 'always' },
    on: { 'GET /business/:business_id/access': readAccess },
  },
  change_access: {
    ...{ who: CHANGERS, does: 'change sites', inactive: true, retry: 'always' },
    body: [newSites],
    on: {
      'POST /business/:business_id/access': addSites,
      'DELETE /business/:business_id/access': removeSites,
      'DELETE /business/:business_id/access/:access_id': removeSites,
    },
  },
  read_refused_origins: {
    ...{ who: READERS, does: 'read refused origins', inactive: true, retry: 'always' },
    on: { 'GET /business/:business_id/access/refused': readRefused },
  },
  change_refused_origins: {
    ...{ who: CHANGERS, does: 'change refused origins', inactive: true, retry: 'always' },
    on: { 'DELETE /business/:business_id/access/refused': forgetRefused },
  },
  rotate_token: {
    ...{ who: CHANGERS, does: 'rotate tokens', inactive: true, retry: 'never' },
    body: [rotation, true],
    on: { 'POST /business/:business_id/token': rotateToken },
  },
  stop_former_tokens: {
    ...{ who: CHANGERS, does: 'stop former tokens', inactive: true, retry: 'always' },
    on: {
      'DELETE /business/:business_id/token/former': stopFormerTokens,
      'DELETE /business/:business_id/token/former/:former_id': stopFormerTokens,
    },
  },
});
