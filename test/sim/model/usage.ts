// Recording, lowering and reading uses (docs/api.md, "Recording a use" to "Limits").

import { storeReached } from './alerts.ts';
import { takenBy } from './allowance.ts';
import { type Period, periodsOf, planOn } from './billing.ts';
import { Answer, businessOf, type Call, invalid, invalidField, sentIn, sitesOf, success } from './call.ts';
import { CHANGERS, READERS } from './callers.ts';
import { record } from './changes.ts';
import { csv, prefersCsv } from './csv.ts';
import { dayError } from './errors.ts';
import {
  type Errors,
  history,
  idIn,
  instantOf,
  lowering,
  oneQuantity,
  oneUse,
  REFUSALS,
  REPORT,
  USE,
  uses as usesInput,
} from './input.ts';
import { rulesOf } from './rule.ts';
import { isReachable } from './sites.ts';
import { addToSource, readSources, sourceOf } from './sources.ts';
import type { Business, Plan, Use } from './state.ts';
import { dayOf, daysBetween, plusDays, rangeOf, secondsUntilEndOf } from './time.ts';

const MAX_COUNT = Number.MAX_SAFE_INTEGER;

function readUsage(call: Call): Answer {
  const { from, to } = rangeOf(call);
  const { id } = businessOf(call);
  const counts = call.state.counts[id] ?? {};
  const used = daysBetween(from, to).map((date) => ({ date, count: counts[date] ?? 0 }));
  const name = `usage-${id}-${from}-${to}`;
  if (call.operation === 'read_sources') return readSources(call, { range: { from, to }, used, name });
  if (prefersCsv(call)) return csv(name, ['date', 'count'], used);
  return success({ used }, { Vary: 'Accept' });
}

/** Ids of pages and of servers never meet. */
const nameOf = ({ caller }: Call, id: string) => `${caller === 'token' ? 'token' : 'key'}:${id}`;
const ledgerOf = (call: Call, business: Business) => {
  call.state.ledger[business.id] ??= {};
  return call.state.ledger[business.id] as Record<string, Use>;
};
const countsOf = (call: Call, business: Business) => {
  call.state.counts[business.id] ??= {};
  return call.state.counts[business.id] as Record<string, number>;
};
/** Days without uses are not stored. */
function drop({ state }: Call, { id }: Business, day: string): void {
  delete state.counts[id]?.[day];
  delete state.bySource[id]?.[day];
}
function count(call: Call, business: Business, day: string, quantity: number): void {
  const counts = countsOf(call, business);
  counts[day] = (counts[day] ?? 0) + quantity;
}
const beyondCount = () => invalidField('quantity', `must not raise the count of a day above ${MAX_COUNT} uses`);

/** The uses that the caller may record beyond a limit of a plan. Null is any number. */
function overageOf({ caller, state }: Call, { id }: Business, { overage, page_overage }: Plan) {
  return caller !== 'token' || (page_overage && sitesOf(state, id).some(isReachable)) ? overage : 0;
}

type Refusing = { period: Period['period']; limit: number; left: number };
function limitReached(
  { period, limit, left }: Refusing,
  overage: number,
  wait: number | null,
  when: string,
  uses: number,
) {
  const all = limit + overage;
  const beyond = overage === 0 ? '' : ` (${limit} plus an overage of ${overage})`;
  const allowed = `${all} ${all === 1 ? 'use' : 'uses'} for ${when}${beyond}`;
  let message = `This business has used its ${allowed}.`;
  if (left > 0) message = `Only ${left} of ${allowed} ${left === 1 ? 'is' : 'are'} left.`;
  else if (all === 0) message = `This business has a limit of 0 uses a ${period}.`;
  const body = { status: false, message };
  return new Answer(429, 'limit_reached', body, { 'Retry-After': wait === null ? null : `${wait}` }, uses);
}

/** What is left before the first limit is reached. Undefined without a limit. */
function remainingOf(call: Call, business: Business): number | undefined {
  const periods = periodsOf(call.state, business, dayOf(call.now), dayOf(call.now));
  if (periods.length === 0) return undefined;
  return Math.max(0, Math.min(...periods.map(({ limit, used }) => limit - used)));
}

type OneUse = { quantity?: number; label?: string; at?: string };
function recordOne(call: Call): Answer {
  const { state, now, headers } = call;
  const { quantity = 1, label, at } = Array.isArray(call.json) ? {} : sentIn<OneUse>(call);
  const business = businessOf(call);
  const today = dayOf(now);
  const day = at === undefined ? today : dayOf(instantOf(at) ?? Number.NaN);
  const header = headers['Idempotency-Key'];
  const parsed = header === undefined ? null : idIn(header);
  const name = parsed === null || 'problem' in parsed ? null : nameOf(call, parsed.id);
  const counts = countsOf(call, business);
  const answer = (date: string, isDuplicate = false) => {
    const remaining = remainingOf(call, business);
    return success({
      date,
      count: counts[date] ?? 0,
      ...(isDuplicate && { duplicate: true }),
      ...(remaining !== undefined && { remaining }),
    });
  };
  const known = name === null ? undefined : ledgerOf(call, business)[name];
  if (known !== undefined) return answer(known.day, true);

  const overage = overageOf(call, business, planOn(business, today));
  const periods = periodsOf(state, business, today, today);
  // The limits of its own day and month judge a use with a time.
  if (at !== undefined) {
    refuseBeyond(call, business, [{ name: '', day, quantity, isDated: true }]);
  } else if (overage !== null) {
    const refusing = periods.find(({ limit, used }) => used + quantity > limit + overage);
    if (refusing !== undefined) {
      const isNeverAllowed = periods.some(({ limit }) => quantity > limit + overage);
      const wait = isNeverAllowed ? null : secondsUntilEndOf(refusing.ends_on, now);
      const left = Math.max(0, refusing.limit + overage - refusing.used);
      throw limitReached(
        { ...refusing, left },
        overage,
        wait,
        refusing.period === 'day' ? 'today' : 'this month',
        quantity,
      );
    }
  }
  if ((counts[day] ?? 0) > MAX_COUNT - quantity) throw beyondCount();
  count(call, business, day, quantity);
  const source = addToSource(state, business.id, day, sourceOf(call, label), quantity);
  if (name !== null)
    ledgerOf(call, business)[name] = {
      day,
      source: call.caller === 'token' ? null : source,
      recorded_on: today,
      keep_days: call.caller === 'token' ? 2 : 40,
      quantity,
    };
  storeReached(call, business, [day]);
  return answer(day);
}

/** The uses that limits refused on each day. */
function readRefusals(call: Call): Answer {
  const { from, to } = rangeOf(call);
  const { id } = businessOf(call);
  const counts = call.state.limited[id] ?? {};
  const refused = daysBetween(from, to).map((date) => ({ date, by_limit: counts[date] ?? 0 }));
  if (prefersCsv(call)) return csv(`refusals-${id}-${from}-${to}`, ['date', 'by_limit'], refused);
  return success({ refused }, { Vary: 'Accept' });
}

/** What is remembered of an id, as keys and as tokens sent it. */
function readUse({ query, state, now, ...call }: Call): Answer {
  const { id } = businessOf({ query, state, now, ...call });
  const remembered = (caller: 'key' | 'token') => {
    const use = state.ledger[id]?.[`${caller}:${query.get('id')}`];
    if (use === undefined) return null;
    const { day, quantity, source, recorded_on, keep_days } = use;
    const isOld = day < plusDays(dayOf(now), -40);
    const isNamed = source !== null && state.bySource[id]?.[day]?.[source] !== undefined;
    const name = isNamed ? state.sources[id]?.find(({ number }) => number === source)?.name : null;
    return {
      date: day,
      quantity,
      imported: isOld ? null : (state.imported[id] ?? []).includes(day),
      remembered_until: plusDays(recorded_on, keep_days),
      ...(caller === 'key' && { source: name }),
    };
  };
  return success({ by_key: remembered('key'), by_token: remembered('token') });
}

type Listed = { id: string; at?: string; quantity?: number; label?: string };
type NewUse = { name: string; day: string; quantity: number; isDated: boolean; label?: string | undefined };

function recordMany(call: Call): Answer {
  const { now } = call;
  const { uses: listed } = sentIn<{ uses: Listed[] }>(call);
  const business = businessOf(call);
  const today = dayOf(now);
  const uses: NewUse[] = [];
  for (const { id, at, quantity = 1, label } of listed) {
    const day = at === undefined ? today : dayOf(instantOf(at) ?? Number.NaN);
    const name = nameOf(call, id);
    if (!uses.some((use) => use.name === name)) uses.push({ name, day, quantity, isDated: at !== undefined, label });
  }
  const ledger = ledgerOf(call, business);
  const fresh = uses.filter(({ name }) => ledger[name] === undefined);
  if (call.operator === null) refuseBeyond(call, business, fresh);
  const added: Record<string, number> = {};
  for (const { day, quantity } of fresh) added[day] = (added[day] ?? 0) + quantity;
  const counts = countsOf(call, business);
  if (Object.entries(added).some(([day, more]) => (counts[day] ?? 0) > MAX_COUNT - more)) throw beyondCount();
  for (const [day, more] of Object.entries(added)) count(call, business, day, more);
  const named = fresh.map((use) => ({ ...use, source: sourceOf(call, use.label) }));
  // Names that a day has come first. Of its new ones, those with the lowest numbers.
  for (const use of named.toSorted((a, b) => Math.abs(a.source ?? 0) - Math.abs(b.source ?? 0))) {
    const { name, day, quantity } = use;
    const source = addToSource(call.state, business.id, day, use.source, quantity);
    const keep_days = call.caller === 'token' ? 2 : 40;
    ledger[name] = { day, recorded_on: today, keep_days, quantity, source: call.caller === 'token' ? null : source };
  }
  if (call.key !== null) takenBy(call.state, call.key.user_id, 'recording', call.clock).ids += fresh.length;
  if (fresh.length > 0)
    storeReached(
      call,
      business,
      uses.map(({ day }) => day),
    );
  return success({ recorded: fresh.length, duplicates: listed.length - fresh.length });
}

/** Throws if the new uses of a list exceed a limit of any day or month. */
function refuseBeyond(call: Call, business: Business, fresh: NewUse[]): void {
  const { state, now } = call;
  const today = dayOf(now);
  const beyond: (Period & { adds: number; rest: number; overage: number })[] = [];
  const isIn = (day: string, { starts_on, ends_on }: Period) => starts_on <= day && day <= ends_on;
  for (const kind of ['month', 'day'] as const)
    for (const { day } of fresh) {
      const period = periodsOf(state, business, day, today).find(({ period }) => period === kind);
      if (period === undefined || beyond.some((other) => other.period === kind && isIn(day, other))) continue;
      const adds = fresh.filter((use) => isIn(use.day, period)).reduce((sum, { quantity }) => sum + quantity, 0);
      const overage = overageOf(call, business, period.plan);
      if (overage === null) continue;
      const rest = period.limit + overage - period.used;
      if (adds > rest) beyond.push({ ...period, adds, rest, overage });
    }
  const isCurrent = (period: Period) => isIn(today, period);
  const fitsLater = beyond.every(
    (period) =>
      isCurrent(period) &&
      period.adds <= period.limit + period.overage &&
      !fresh.some(({ day, isDated }) => isDated && isIn(day, period)),
  );
  const end =
    beyond
      .map(({ ends_on }) => ends_on)
      .toSorted()
      .at(-1) ?? today;
  const wait = fitsLater ? secondsUntilEndOf(end, now) : null;
  const order = ({ period, starts_on }: Period) => `${period === 'month' ? 0 : 1} ${starts_on}`;
  const [first] = beyond.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  if (first === undefined) return;
  let when = first.period === 'day' ? 'today' : 'this month';
  if (!isCurrent(first))
    when = first.period === 'day' ? first.starts_on : `the month from ${first.starts_on} to ${first.ends_on}`;
  throw limitReached(
    { ...first, left: first.rest },
    first.overage,
    wait,
    when,
    fresh.reduce((sum, { quantity }) => sum + quantity, 0),
  );
}

function lowerUses(call: Call): Answer {
  const { state, now } = call;
  const { uses: listed } = sentIn<{ uses: { id: string; quantity: number }[] }>(call);
  const business = businessOf(call);
  const ledger = ledgerOf(call, business);
  const counts = countsOf(call, business);
  const oldest = plusDays(dayOf(now), -40);
  const imported = state.imported[business.id] ?? [];
  let [unchanged, onImported, before, after] = [0, 0, 0, 0];
  const ids: string[] = [];
  for (const { id, quantity } of listed) {
    const use = ledger[`key:${id}`];
    if (use === undefined || use.day < oldest) continue;
    const kind = imported.includes(use.day) ? 'imported' : use.quantity <= quantity ? 'unchanged' : 'lowered';
    if (kind === 'imported') onImported += 1;
    if (kind === 'unchanged') unchanged += 1;
    if (kind !== 'lowered') continue;
    ids.push(id);
    before += use.quantity;
    after += quantity;
    counts[use.day] = Number(counts[use.day]) - (use.quantity - quantity);
    if (counts[use.day] === 0) drop(call, business, use.day);
    const ofDay = state.bySource[business.id]?.[use.day];
    if (use.source !== null && ofDay?.[use.source] !== undefined)
      ofDay[use.source] = Number(ofDay[use.source]) - (use.quantity - quantity);
    use.quantity = quantity;
  }
  const lowered = ids.length;
  if (lowered > 0)
    record(call, 'lower_uses', { before: { uses: before }, after: { uses: after, lowered, ids: ids.slice(0, 20) } });
  const unknown = listed.length - lowered - unchanged - onImported;
  return success({ lowered, unchanged, imported: onImported, unknown });
}

type Day = { date: string; count: number };
function importHistory(call: Call): Answer {
  const { state, now } = call;
  const { days, replace = false } = sentIn<{ days: Day[]; replace?: boolean }>(call);
  const business = businessOf(call);
  const counts = countsOf(call, business);
  const today = dayOf(now);
  const errors: Errors = {};
  for (const [index, { date }] of days.entries()) {
    const field = `days.${index}`;
    const stored = counts[date];
    // A date that is listed twice can also be taken by its other count.
    const isTaken = stored !== undefined && days.some((other) => other.date === date && other.count !== stored);
    const error = dayError([...days.entries()], index, date, today);
    Object.assign(errors, error);
    if (Object.keys(error).length === 0 && !replace && isTaken)
      errors[field] = [`${field} ${date} already has a count of ${stored}: send "replace": true to overwrite it`];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const total = { days: days.length, uses: days.reduce((sum, { count }) => sum + count, 0) };
  const changed = days.filter(({ date, count }) => count !== (counts[date] ?? 0));
  if (changed.length > 0) {
    const stored = days.flatMap(({ date }) => counts[date] ?? []);
    const uses = Math.min(
      MAX_COUNT,
      stored.reduce((sum, count) => sum + count, 0),
    );
    record(call, 'import_usage', {
      before: stored.length === 0 ? null : { days: stored.length, uses },
      after: total,
    });
    const oldest = plusDays(today, -41);
    const remembered = (state.imported[business.id] ?? []).filter((day) => day >= oldest);
    const recent = changed.map(({ date }) => date).filter((date) => date >= oldest);
    state.imported[business.id] = [...new Set([...remembered, ...recent])].sort();
    for (const { date, count } of changed) {
      if (count === 0) drop(call, business, date);
      else counts[date] = count;
      delete state.bySource[business.id]?.[date];
    }
    storeReached(
      call,
      business,
      days.map(({ date }) => date),
    );
  }
  return success(total);
}

const REPORTED = 'GET /business/usage/:business_id';
const RECORDED = 'POST /business/usage/:business_id';
export const usage = rulesOf({
  read_usage: {
    ...{ who: `token record recorder ${READERS}`, does: 'read usage', inactive: true, retry: 'always' },
    query: REPORT,
    on: { [REPORTED]: readUsage },
  },
  read_sources: {
    ...{ who: READERS, does: 'read usage by source', inactive: true, retry: 'always' },
    query: REPORT,
    on: { [REPORTED]: readUsage },
  },
  read_use: {
    ...{ who: `recorder ${READERS}`, does: 'look up uses', inactive: true, retry: 'always' },
    query: USE,
    on: { 'GET /business/usage/:business_id/use': readUse },
  },
  read_refusals: {
    ...{ who: `record recorder ${READERS}`, does: 'read refused uses', inactive: true, retry: 'always' },
    query: REFUSALS,
    on: { 'GET /business/:business_id/refusals': readRefusals },
  },
  record_use: {
    ...{ who: `token record recorder ${CHANGERS}`, does: 'record a use', inactive: false, retry: 'with_key' },
    body: [(value, path) => (Array.isArray(value) && value.length === 0 ? {} : oneUse(value, path)), true],
    on: { [RECORDED]: recordOne },
  },
  record_quantity: {
    ...{ who: `record recorder ${CHANGERS}`, does: 'record quantities or labels', inactive: false, retry: 'with_key' },
    body: [oneQuantity],
    on: { [RECORDED]: recordOne },
  },
  record_uses: {
    ...{ who: `record recorder ${CHANGERS}`, does: 'record lists of uses', inactive: false, retry: 'always' },
    body: [usesInput],
    on: { [RECORDED]: recordMany },
  },
  lower_uses: {
    ...{ who: 'operator recorder', does: 'lower uses', inactive: true, retry: 'always' },
    body: [lowering],
    on: { 'PATCH /business/usage/:business_id': lowerUses },
  },
  import_history: {
    ...{ who: 'operator', does: 'import histories', inactive: true, retry: 'always' },
    body: [history],
    on: { 'PUT /business/:business_id/history': importHistory },
  },
});
