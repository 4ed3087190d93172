// The limits of a business: how much of each is used, what a reached one does, when alerts were stored, and the forecast.
import { Fragment } from 'preact';
import type { Alerts } from '../../../alerts/description.ts';
import type { Limits as LimitsData } from '../../../shown-business/description.ts';
import { dayWords, plural } from '../formats.ts';
import { levelOf } from '../limit-status.ts';
import { PACE_NOTE, type Pace } from '../pace.ts';
import { monthOf, type Period, periodsOf } from '../periods.ts';
import { alertWords, meterWords, nextWords, periodName, reachedWords, resetWords } from './limit-words.ts';

type Props = {
  limits: LimitsData;
  /** Whether to say what reached limits do: only if uses are recorded. */
  explains: boolean;
  /** The number of uses that a limit refused this billing month. Counts each retry, and some may be missing. */
  refusedByLimit: number;
  alerts: Alerts['alerts'];
  pace: Pace | null;
};

export function Limits({ limits, explains, refusedByLimit, alerts, pace }: Props) {
  const periods = periodsOf(limits);
  if (periods.length === 0 && limits.next_limits === null) return null;
  const month = monthOf(limits);
  const reached = explains && reachedWords(limits, periods);
  const notes = [
    refusedByLimit > 0 &&
      `${plural(refusedByLimit, 'use')} ${refusedByLimit === 1 ? 'was' : 'were'} refused by a limit this billing month, counting each retry.`,
    pace !== null && pace.is !== 'reached' && PACE_NOTE,
    month && limits.extra > 0 && `The monthly limit includes ${plural(limits.extra, 'use')} added to this month only.`,
    nextWords(limits),
    limits.from && `From ${dayWords(limits.from)}, billing months begin on day ${limits.next_billing_day}.`,
  ];
  return (
    <section class="limits" id="limits-title" aria-label="Limits" tabIndex={-1}>
      {periods.map((period) => (
        <Meter
          key={period.is}
          period={period}
          limits={limits}
          alerts={alerts}
          pace={period.is === 'month' ? pace : null}
        />
      ))}
      {reached && <p class="notice warning">{reached}</p>}
      {notes.map((note) => note && <p key={note}>{note}</p>)}
    </section>
  );
}

type MeterProps = Pick<Props, 'limits' | 'alerts' | 'pace'> & { period: Period };

function Meter({ period, limits, alerts, pace }: MeterProps) {
  const { limit, used, ends } = period;
  const name = periodName(period);
  const ticks = limit === 0 ? [] : limits.alert_at.filter((percent) => percent < 100);
  return (
    <div class={`meter ${levelOf(limits, limit, used) ?? ''}`}>
      <b>{name}</b>{' '}
      {meterWords(period, pace).map((figure, index) => (
        <Fragment key={figure}>
          {index > 0 && ' · '}
          <span class="whole">{figure}</span>
        </Fragment>
      ))}
      <div class="gauge">
        <progress aria-label={`Uses, ${name}`} max={Math.max(1, limit)} value={limit === 0 ? 1 : used} />
        {ticks.map((percent) => (
          <i key={percent} style={{ left: `${percent}%` }} title={`Alert at ${percent}%`} />
        ))}
      </div>
      <small>
        {resetWords(ends)} {alertWords(alerts, period)}
      </small>
    </div>
  );
}
