// An invariant that needs no model: whatever happens later, a day that has passed keeps its limits, and a billing month that has ended keeps
// its days, its limit and its extra. Only their counts can change.
import { dayOf, plusDays } from './model/time.ts';
import { OPERATOR, type World } from './world.ts';

/** A request that began before midnight can still change the limits of its day. */
const MINUTE_MS = 60_000;
/** Uses can be 35 days late, and a month is final after 41. */
const DAYS_BACK = 45;
const CHECKED_EVERY_DAYS = 5;

type Row = Record<string, unknown>;
type Month = { business_id: number; starts_on: string; ends_on: string; monthly_limit: number | null; extra: number };

const LIMITS = ['daily_limit', 'monthly_limit', 'overage', 'page_overage', 'alert_at'];
/** Null stands for the thresholds by default. */
const limitsIn = (row: Row | undefined, prefix = '') =>
  LIMITS.map((name) => row?.[prefix + name] ?? (name === 'alert_at' ? '[80,100]' : null));

export class Past {
  #nextCheck = '';
  /** By business and day or month: what held. */
  readonly #held = new Map<string, string>();

  /** Compares what has passed with what held, every few days. Returns the first difference, or null. */
  async difference(world: World): Promise<string | null> {
    const today = dayOf(world.now - MINUTE_MS);
    if (today < this.#nextCheck || world.mayFail) return null;
    this.#nextCheck = plusDays(today, CHECKED_EVERY_DAYS);
    const now = new Map<string, string>();
    for (let back = 1; back <= DAYS_BACK; back++) {
      const day = plusDays(today, -back);
      for (const [id, limits] of limitsOn(world, day)) now.set(`business ${id} on ${day}`, JSON.stringify(limits));
      for (const month of await monthsEnded(world, day))
        now.set(`business ${month.business_id} in the month that ended on ${day}`, JSON.stringify(keptOf(month)));
    }
    for (const [key, value] of now) {
      const before = this.#held.get(key);
      if (before !== undefined && before !== value) return `the past changed: ${key}, ${value} was ${before}`;
      this.#held.set(key, value);
    }
    for (const key of this.#held.keys()) if (!now.has(key)) this.#held.delete(key);
    return null;
  }
}

const keptOf = ({ starts_on, ends_on, monthly_limit, extra }: Month) => ({ starts_on, ends_on, monthly_limit, extra });

/** The limits of each business on a day, from the rows. */
function limitsOn({ databases }: World, day: string): [unknown, unknown[]][] {
  return databases.flatMap((d1): [unknown, unknown[]][] => {
    const former = d1.rows('select * from former_limits order by business_id, ends_on');
    return d1.rows('select * from businesses').map((row) => {
      const { id, limits_since, next_from } = row;
      if (limits_since !== null && day < `${limits_since}`)
        return [id, limitsIn(former.find(({ business_id, ends_on }) => business_id === id && `${ends_on}` >= day))];
      return [id, next_from !== null && day >= `${next_from}` ? limitsIn(row, 'next_') : limitsIn(row)];
    });
  });
}

/** The months that ended on a day, as the invoice run returns them. */
async function monthsEnded(world: World, day: string): Promise<Month[]> {
  const months: Month[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const path = `/api/v1/usage?ended=${day}${after}`;
    const headers = { Authorization: `Bearer ${OPERATOR.record}` };
    const [answer] = await world.send([{ method: 'GET', path, headers, body: null }]);
    if (answer?.status !== 200) throw new Error(`${path}: ${answer?.text}`);
    const { usage, next }: { usage: Month[]; next: number | null } = JSON.parse(answer.text).data;
    months.push(...usage);
    after = next === null ? null : `&after=${next}`;
  }
  return months;
}
