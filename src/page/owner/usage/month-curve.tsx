// Draws the billing month's cumulative uses under its limit. Days of the month before that have not been read yet are read only if the
// owner opens it.
import { useState } from 'preact/hooks';
import { dayOf } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';
import type { Api } from '../api.ts';
import { now } from '../clock.ts';
import { monthDays } from '../formats.ts';
import { daysOf } from '../loaded-days.ts';
import type { Forecast } from '../pace.ts';
import { Notice } from '../parts.tsx';
import type { Period } from '../periods.ts';
import { useQuery } from '../query.ts';
import { failureWords } from '../words.ts';
import { linesOf, monthBefore } from './month-curve.ts';

type Props = {
  api: Api;
  id: number;
  created_at: string;
  /** Days up to today. Null until they have been read. */
  recent: readonly Day[] | null;
  revision: number;
  pace: Forecast | null;
  month: Period;
};

export function MonthCurve({ api, id, created_at, recent, revision, pace, month }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { days, ends } = month;
  const wanted = { from: monthBefore(days).from, to: dayOf(new Date(now())) };
  const isMissing = isOpen && recent && daysOf(recent, wanted) === null;
  const { data, failure, busy, reload } = useQuery(isMissing ? wanted.from : null, revision, () =>
    api.report(id, wanted, null),
  );
  const loaded = data ?? recent;
  const lines = loaded ? linesOf(month, loaded, created_at, pace, now()) : [];
  const starts = Date.parse(days.from);
  const top = Math.max(1, ...lines.flatMap(([, points]) => points.map(([, count]) => count)));
  return (
    <details class="curve" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Billing month so far</summary>
      <Notice kind="problem" action={{ label: 'Try again', press: () => reload(failure), busy }}>
        {failure && failureWords(failure)}
      </Notice>
      {lines.length > 0 && (
        <svg
          viewBox="0 0 100 100"
          preserveAspectRatio="none"
          role="img"
          aria-label={lines.map(([, , words]) => words).join('; ')}
        >
          {lines.toReversed().map(([is, points]) => (
            <path
              key={is}
              class={is}
              d={`M${points.map(([at, count]) => [(100 * (at - starts)) / (ends - starts), 100 - (100 * count) / top])}`}
            />
          ))}
        </svg>
      )}
      <small>
        <span>{monthDays(days.from)}</span>
        <span>{monthDays(days.to)}</span>
      </small>
      <ul>
        {lines.map(([is, , words]) => (
          <li key={is} class={is}>
            {words}
          </li>
        ))}
      </ul>
    </details>
  );
}
