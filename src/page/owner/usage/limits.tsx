// Shows the used and remaining part of each limit, and the month's forecast. Shows nothing if there are no limits.
import type { Limits as LimitsData } from '../../../business/description.ts';
import { number, plural } from '../formats.ts';
import { levelOf } from '../limit-status.ts';
import { Section } from '../parts.tsx';
import type { Pace } from './pace.ts';
import { leftWords, paceWords, resetWords } from './usage-words.ts';

type Props = {
  limits: LimitsData;
  /** The minimum number of uses that a limit refused this billing month. */
  refused: number;
  pace: Pace | null;
  /** The days for the pace could not be read. */
  isPaceUnknown: boolean;
  /** In milliseconds since 1970. */
  now: number;
};

export function Limits({ limits, refused, pace, isPaceUnknown, now }: Props) {
  if (limits === null) return null;
  const { daily, monthly, today, month, day_ends, month_ends } = limits;
  const shared = { limits, now };
  return (
    <Section id="limits" title="Limits">
      <div class="meters">
        {daily !== null && <Meter name="Today" used={today ?? 0} limit={daily} ends={day_ends} {...shared} />}
        {monthly !== null && (
          <Meter name="This month" used={month ?? 0} limit={monthly} ends={month_ends} {...shared} />
        )}
      </div>
      {refused > 0 && (
        <p class="pace">
          At least {plural(refused, 'use')} {refused === 1 ? 'was' : 'were'} refused by a limit this billing month.
        </p>
      )}
      {monthly !== null && pace !== null && <p class="pace">{paceWords(pace, monthly)}</p>}
      {isPaceUnknown && (
        <p class="pace">The forecast for this month could not be loaded. Press “Refresh” to try again.</p>
      )}
    </Section>
  );
}

type MeterProps = {
  name: string;
  used: number;
  limit: number;
  ends: string | null;
  limits: NonNullable<LimitsData>;
  now: number;
};

function Meter({ name, used, limit, ends, limits: { overage, alert_at }, now }: MeterProps) {
  const end = Date.parse(ends ?? '');
  if (now >= end) {
    return (
      <div class="meter">
        <span>{name}</span>
        <small>This period has ended. Press “Refresh”.</small>
      </div>
    );
  }
  const ticks = limit === 0 ? [] : alert_at.filter((percent) => percent < 100);
  return (
    <div class={`meter ${levelOf(limit, used, alert_at) ?? ''}`}>
      <span>{name}</span>
      <span>
        <b>{number(used)}</b> of {number(limit)}
      </span>
      <div class="gauge">
        <progress aria-label={`Uses, ${name.toLowerCase()}`} max={Math.max(1, limit)} value={limit === 0 ? 1 : used} />
        {ticks.map((percent) => (
          <i key={percent} style={{ left: `${percent}%` }} title={`Alert at ${percent}%`} />
        ))}
      </div>
      <small>
        {leftWords(limit - used, overage)} {resetWords(end)}
      </small>
    </div>
  );
}
