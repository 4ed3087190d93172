// The wording for limits.
import type { Alerts } from '../../../alerts/description.ts';
import type { Limits } from '../../../shown-business/description.ts';
import { dayWords, monthDays, number, shortDayWords, shortInstantWords, timeWords, weekdayTime } from '../formats.ts';
import { leftWords, type Pace, paceWords } from '../pace.ts';
import { allowedIn, type Period } from '../periods.ts';

export const periodName = ({ is, days }: Pick<Period, 'is' | 'days'>): string =>
  is === 'day' ? 'Today' : `Billing month, ${monthDays(days.from, days.to)}`;

/** “92,000 of 100,000”, “8,000 left”, “reaches it about Nov 28” */
export function meterWords(period: Period, pace: Pace | null): string[] {
  const { used, limit } = period;
  const words = [`${number(used)} of ${number(limit)}`, leftWords(limit - used)];
  return pace === null || pace.is === 'reached' ? words : [...words, paceWords(pace, period)];
}

/** Formats the time when a limit resets, in UTC and, if different, in local time. */
export function resetWords(at: number): string {
  const here = new Date(at).getTimezoneOffset() === 0 ? '' : ` (${weekdayTime(at)} your time)`;
  return `Resets on ${shortInstantWords(at)}${here}.`;
}

/** “80% on Thu, Nov 19, reached on Sun, Nov 22.” Without alerts of this period and limit, the text is empty. */
export function alertWords(alerts: Alerts['alerts'], { is, limit, days }: Period): string {
  const words = alerts
    .filter((alert) => alert.period === is && alert.limit === limit && alert.ends_on === days.to)
    .sort((a, b) => a.threshold - b.threshold)
    .map(({ threshold, at }) => {
      const when = is === 'day' ? `at ${timeWords(at)} UTC` : `on ${shortDayWords(at)}`;
      return `${threshold === 100 ? 'reached' : `${threshold}%`} ${when}`;
    });
  return words.length === 0 ? '' : `Alerts: ${words.join(', ')}.`;
}

/** Says until when uses are refused. A limit of 0 refuses them in the next period, too. */
function refusedWords(who: string, refusing: readonly Period[]): string {
  if (refusing.some(({ limit }) => limit === 0)) return `${who} are refused while the limit is 0.`;
  return `${who} are refused until ${shortInstantWords(Math.max(...refusing.map(({ ends }) => ends)))}.`;
}

/** Says what reached limits do, for pages and for servers. Returns null if none is reached. */
export function reachedWords(
  { overage, page_overage, refuses }: Pick<Limits, 'overage' | 'page_overage' | 'refuses'>,
  periods: readonly Period[],
): string | null {
  const pages = allowedIn(periods, 0);
  if (pages.refusing.length === 0) return null;
  const servers = allowedIn(periods, overage);
  const more = `may record ${servers.left === null ? 'any number' : number(servers.left)} more.`;
  if (refuses === 'nobody') return `Uses beyond the limit count: pages and servers together ${more}`;
  const forPages = refusedWords('Pages', pages.refusing);
  if (refuses === 'pages') return `${forPages} Servers ${more}`;
  const forAll = refusedWords('All uses', servers.refusing);
  // With page_overage, pages wait no longer than servers.
  return page_overage || forPages.replace('Pages', 'All uses') === forAll ? forAll : `${forAll} ${forPages}`;
}

/** “From Dec 1: monthly limit 5,000.” Names what a pending change changes. Null if none is pending. */
export function nextWords({ next_limits: next, ...current }: Limits): string | null {
  if (next === null) return null;
  const limit = (name: string, value: number | null, none = 'none') =>
    `${name} ${value === null ? none : number(value)}`;
  const words = {
    daily: limit('daily limit', next.daily),
    monthly: limit('monthly limit', next.monthly),
    overage: limit('overage', next.overage, 'unlimited'),
    page_overage: `overage for pages ${next.page_overage ? 'yes' : 'no'}`,
    alert_at: `alerts at ${next.alert_at.map((percent) => `${number(percent)}%`).join(', ')}`,
  };
  const changed = (Object.keys(words) as (keyof typeof words)[]).filter(
    (name) => `${next[name]}` !== `${current[name]}`,
  );
  return `From ${dayWords(next.from)}: ${changed.map((name) => words[name]).join('; ')}.`;
}
