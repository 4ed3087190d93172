// An independent model of a business's uses, limits and alerts (docs/api.md, "Limits" and "Alerts"). It stores one count per day, computes
// months day by day, and shares no code with src.

const DAY = 86_400_000;
export const dayAt = (time: number): string => new Date(time).toISOString().slice(0, 10);
const stampAt = (time: number): string => new Date(time).toISOString().replace('Z', '000Z');
const stepped = (day: string, step: 1 | -1): string => dayAt(Date.parse(day) + step * DAY);

type Period = 'day' | 'month';
export type Alert = {
  period: Period;
  starts_on: string;
  ends_on: string;
  limit: number;
  threshold: number;
  used: number;
  at: string;
};
export type Settings = {
  daily_limit: number | null;
  monthly_limit: number | null;
  /** The billing day requested last. */
  billing_day: number;
  overage: number | null;
  alert_at: number[];
};
export type Answer = { status: number; body: object; retry_after: string | null };
export type Listed = { id: string; day: string; quantity: number; isDated: boolean };
type Limited = { period: Period; limit: number; days: string[]; used: number };
/** Whether the write that follows a response succeeds. */
export type Write = 'arrives' | 'is lost';

/** The highest threshold that is reached, or 0. */
function levelOf(limit: number, used: number, alert_at: number[]): number {
  if (limit === 0) return 0;
  return Math.max(0, ...alert_at.filter((percent) => used >= firstOf(limit, percent)));
}
/** The lowest count that reaches a percentage of a limit. */
const firstOf = (limit: number, percent: number): number => Math.ceil((limit * percent) / 100);

const daysFrom = (first: string, next: string): string[] => {
  const days: string[] = [];
  for (let day = first; day < next; day = stepped(day, 1)) days.push(day);
  return days;
};

export class Oracle {
  readonly counts = new Map<string, number>();
  readonly countedAt = new Map<string, number>();
  readonly alerts: Alert[] = [];
  settings: Settings = { daily_limit: null, monthly_limit: null, billing_day: 1, overage: 0, alert_at: [80, 100] };
  private readonly dayOfId = new Map<string, string>();
  private readonly written = new Map<string, number>();
  private changedOn: string;
  /** The first day of a calendar month before all events. The initial billing day is 1. */
  private readonly first: string;
  /** Requested billing days, by the first day of the month in which each takes effect. A change of the billing day lengthens that month. */
  private readonly wanted = new Map<string, number>();

  constructor(now: number) {
    this.changedOn = dayAt(now);
    this.first = `${dayAt(now - 120 * DAY).slice(0, 8)}01`;
  }

  /** The days of the billing month that contains a day. Each month ends before the first billing day that is at least 28 days later. */
  private monthOf(day: string): string[] {
    let billing_day = 1;
    for (let first = this.first; ; ) {
      billing_day = this.wanted.get(first) ?? billing_day;
      let next = dayAt(Date.parse(first) + 28 * DAY);
      while (Number(next.slice(8)) !== billing_day) next = stepped(next, 1);
      if (day < next) return daysFrom(first, next);
      first = next;
    }
  }

  private wantBillingDay(billing_day: number, today: string): void {
    for (const first of this.wanted.keys()) if (first > today) this.wanted.delete(first);
    const current = [...this.wanted.values()].at(-1) ?? 1;
    if (billing_day !== current) this.wanted.set(stepped(this.monthOf(today).at(-1) as string, 1), billing_day);
  }

  private billing(today: string) {
    const billing_day = Number(this.monthOf(today)[0]?.slice(8));
    const [first, next_billing_day] = [...this.wanted].at(-1) ?? [];
    const from = first === undefined ? '' : stepped(this.monthOf(first).at(-1) as string, 1);
    return from > today ? { billing_day, next_billing_day, from } : { billing_day, next_billing_day: null, from: null };
  }

  private sum(days: string[]): number {
    let sum = 0;
    for (const day of days) sum += this.counts.get(day) ?? 0;
    return sum;
  }

  /** The limits that are set. The monthly limit is first, because a refusal names the first limit that is exceeded. */
  private limitsOn(day: string) {
    const { daily_limit, monthly_limit } = this.settings;
    const all: { period: Period; limit: number | null; days: string[] }[] = [
      { period: 'month', limit: monthly_limit, days: this.monthOf(day) },
      { period: 'day', limit: daily_limit, days: [day] },
    ];
    return all.flatMap(({ period, limit, days }) =>
      limit === null ? [] : [{ period, limit, days, used: this.sum(days) }],
    );
  }

  /** Quantities at a boundary. Each one either uses up a limit, with or without the overage, or reaches one of the limit's thresholds. */
  edges(now: number): number[] {
    return this.limitsOn(dayAt(now)).flatMap(({ limit, used }) => [
      limit - used,
      limit + (this.settings.overage ?? 0) - used,
      ...this.settings.alert_at.map((percent) => firstOf(limit, percent) - used),
    ]);
  }

  private remaining(now: number): number | null {
    let least: number | null = null;
    for (const { limit, used } of this.limitsOn(dayAt(now))) {
      const left = used > limit ? 0 : limit - used;
      if (least === null || left < least) least = left;
    }
    return least;
  }

  /** A business's `limits`, in the form in which responses contain them. */
  limits(now: number): object | null {
    const { daily_limit, monthly_limit, overage, alert_at } = this.settings;
    const remaining = this.remaining(now);
    if (remaining === null) return null;
    const today = dayAt(now);
    const month = this.monthOf(today);
    const after = (day: string) => `${stepped(day, 1)}T00:00:00.000000Z`;
    return {
      daily: daily_limit,
      monthly: monthly_limit,
      ...this.billing(today),
      overage,
      alert_at,
      today: daily_limit === null ? null : this.sum([today]),
      month: monthly_limit === null ? null : this.sum(month),
      remaining,
      day_ends: daily_limit === null ? null : after(today),
      month_ends: monthly_limit === null ? null : after(month.at(-1) as string),
    };
  }

  /** The error message for a quantity that would exceed a limit. */
  private refusal({ period, limit, days, used }: Limited, overage: number, now: number): string {
    const isNow = days.includes(dayAt(now));
    const month = isNow ? 'this month' : `the month from ${days[0]} to ${days.at(-1)}`;
    const when = period === 'month' ? month : isNow ? 'today' : days[0];
    const parts = overage === 0 ? '' : ` (${limit} plus an overage of ${overage})`;
    const most = limit + overage;
    const name = `${most} ${most === 1 ? 'use' : 'uses'} for ${when}${parts}`;
    if (used < most) return `Only ${most - used} of ${name} ${most - used === 1 ? 'is' : 'are'} left.`;
    return `This business ${most === 0 ? `has a limit of 0 uses a ${period}` : `has used its ${name}`}.`;
  }

  /** Records a single use, with or without an id. The overage does not apply to pages. */
  use(quantity: number, id: string | undefined, now: number, write: Write, by: 'page' | 'server'): Answer {
    const today = dayAt(now);
    const known = id === undefined ? undefined : this.dayOfId.get(id);
    if (known !== undefined) return this.recorded(known, now, true);
    const before = this.limitsOn(today);
    const overage = by === 'page' ? 0 : this.settings.overage;
    for (const one of before) {
      if (overage === null || one.used + quantity <= one.limit + overage) continue;
      const canFit = before.every(({ limit }) => quantity <= limit + overage);
      const end = Date.parse(one.days.at(-1) as string) + DAY;
      const retry_after = canFit ? `${Math.ceil((end - now) / 1000)}` : null;
      return { status: 429, body: { status: false, message: this.refusal(one, overage, now) }, retry_after };
    }
    this.counts.set(today, (this.counts.get(today) ?? 0) + quantity);
    this.countedAt.set(today, now);
    if (id !== undefined) this.dayOfId.set(id, today);
    for (const { period, limit, days, used } of before) {
      const { alert_at } = this.settings;
      const threshold = levelOf(limit, used + quantity, alert_at);
      const isPassed = threshold > levelOf(limit, used, alert_at);
      if (isPassed && write === 'arrives') this.alert({ period, days, limit, threshold, used: used + quantity }, now);
    }
    return this.recorded(today, now);
  }

  private recorded(date: string, now: number, duplicate?: true): Answer {
    const remaining = this.remaining(now);
    const use = { date, count: this.counts.get(date) ?? 0, ...(duplicate && { duplicate }) };
    const data = remaining === null ? use : { ...use, remaining };
    return { status: 200, body: { status: true, data }, retry_after: null };
  }

  /** Checks a list sent with a key, use by use. Returns the refusal, or null if the list is accepted. */
  private refusesList(uses: Listed[], now: number): Answer | null {
    const { overage } = this.settings;
    if (overage === null) return null;
    const added = new Map<string, { one: Limited; sum: number }>();
    const seen = new Set(this.dayOfId.keys());
    const dated = new Set<string>();
    let first: { index: number; one: Limited } | undefined;
    for (const [index, { id, day, quantity, isDated }] of uses.entries()) {
      if (seen.has(id)) continue;
      seen.add(id);
      if (isDated) dated.add(day);
      for (const one of this.limitsOn(day)) {
        const name = `${one.period} ${one.days[0]}`;
        const sum = (added.get(name)?.sum ?? 0) + quantity;
        added.set(name, { one, sum });
        if (one.used + sum > one.limit + overage) first ??= { index, one };
      }
    }
    if (first === undefined) return null;
    const beyond = [...added.values()].filter(({ one, sum }) => one.used + sum > one.limit + overage);
    const fitsLater = beyond.every(
      ({ one, sum }) =>
        one.days.includes(dayAt(now)) && sum <= one.limit + overage && !one.days.some((day) => dated.has(day)),
    );
    const end = Math.max(...beyond.map(({ one }) => Date.parse(one.days.at(-1) as string))) + DAY;
    const field = `uses.${first.index}`;
    const errors = { [field]: [`${field} is the first use that exceeds the limit`] };
    return {
      status: 429,
      body: { status: false, message: this.refusal(first.one, overage, now), errors },
      retry_after: fitsLater ? `${Math.ceil((end - now) / 1000)}` : null,
    };
  }

  /**
   * Records a list. A list sent with a key is recorded in full or not at all. A list sent by the operator is counted even if it exceeds a
   * limit.
   */
  list(uses: Listed[], now: number, write: Write, by: 'server' | 'operator'): Answer {
    const refusal = by === 'operator' ? null : this.refusesList(uses, now);
    if (refusal !== null) return refusal;
    let recorded = 0;
    for (const { id, day, quantity } of uses) {
      if (this.dayOfId.has(id)) continue;
      this.dayOfId.set(id, day);
      this.counts.set(day, (this.counts.get(day) ?? 0) + quantity);
      this.countedAt.set(day, now);
      recorded += 1;
    }
    if (recorded > 0 && write === 'arrives') this.sweep(now);
    const data = { recorded, duplicates: uses.length - recorded };
    return { status: 200, body: { status: true, data }, retry_after: null };
  }

  /** Imports counts of earlier days. Without `replace`, returns false and changes nothing if a stored count differs. */
  import(days: { date: string; count: number }[], replace: boolean): boolean {
    if (!replace && days.some(({ date, count }) => (this.counts.get(date) ?? count) !== count)) return false;
    for (const { date, count } of days) {
      if (count > 0) this.counts.set(date, count);
      else for (const map of [this.counts, this.countedAt]) map.delete(date);
    }
    return true;
  }

  change(fields: Partial<Settings>, now: number): void {
    const changed = { ...this.settings, ...fields };
    if (JSON.stringify(changed) === JSON.stringify(this.settings)) return;
    if (changed.billing_day !== this.settings.billing_day) this.wantBillingDay(changed.billing_day, dayAt(now));
    const { overage, billing_day } = this.settings; // no alert depends on these
    const isMeasured = JSON.stringify({ ...changed, overage, billing_day }) !== JSON.stringify(this.settings);
    this.settings = changed;
    if (isMeasured) this.changedOn = dayAt(now);
  }

  /**
   * Stores the alerts of the current day and month. Also stores those of the previous day and month if the limits have not changed since
   * that period ended. Unless `inFull` is true, the sweep skips a business unless it has a use today or yesterday that was imported or was
   * recorded in the last two hours, and it includes a previous period only if that period ended yesterday.
   */
  sweep(now: number, inFull = true): void {
    const today = dayAt(now);
    const yesterday = stepped(today, -1);
    const isUsed = (day: string) => this.counts.has(day) && (this.countedAt.get(day) ?? now) >= now - 2 * 3_600_000;
    if (!inFull && !isUsed(today) && !isUsed(yesterday)) return;
    for (const current of this.limitsOn(today)) {
      const dayBefore = stepped(current.days[0] as string, -1);
      const earlier = this.limitsOn(dayBefore).filter(({ period }) => period === current.period);
      for (const { period, limit, days, used } of [current, ...earlier]) {
        if (days !== current.days && this.changedOn > (days.at(-1) as string)) continue;
        if (days !== current.days && !inFull && days.at(-1) !== yesterday) continue;
        const threshold = levelOf(limit, used, this.settings.alert_at);
        if (threshold > 0) this.alert({ period, days, limit, threshold, used }, now);
      }
    }
  }

  /** Stores at most one alert per period, limit value and threshold. Stores no alert whose threshold is below that of a stored alert. */
  private alert(
    {
      period,
      days,
      limit,
      threshold,
      used,
    }: Pick<Alert, 'period' | 'limit' | 'threshold' | 'used'> & { days: string[] },
    now: number,
  ): void {
    const name = `${period} ${days[0]} ${limit}`;
    if ((this.written.get(name) ?? 0) >= threshold) return;
    this.written.set(name, threshold);
    const [starts_on, ends_on] = [days[0] as string, days.at(-1) as string];
    this.alerts.push({ period, starts_on, ends_on, limit, threshold, used, at: stampAt(now) });
  }
}
