// The Usage tab: the chart and figures of the chosen days, and the limits.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { LISTED_DAYS } from '../../../business/rules.ts';
import { addDays, dayOf } from '../../../core/time.ts';
import type { Limits as LimitsData } from '../../../shown-business/description.ts';
import type { Data } from '../../report.ts';
import { type Day, summaryOf, UNITS, type Unit } from '../../scale.ts';
import type { UsageChart } from '../../usage-chart.ts';
import { now } from '../clock.ts';
import { DAY_COLUMNS, dayRows } from '../day-rows.ts';
import { saveRows } from '../download.tsx';
import { type Drop, dropDetails } from '../drop.ts';
import { fileName } from '../file-name.ts';
import { useFocusFallback } from '../focus.ts';
import { plural, rangeWords } from '../formats.ts';
import { limitStatusOf } from '../limit-status.ts';
import { daysOf, withCompared } from '../loaded-days.ts';
import type { Pace } from '../pace.ts';
import { Button, Loading, Notice } from '../parts.tsx';
import { billingMonth } from '../periods.ts';
import { type Query, useQuery } from '../query.ts';
import {
  CHOICES,
  comparedDays,
  comparisonIn,
  coversAllDays,
  DEFAULT_CHOICE,
  fullDays,
  monthsOf,
  shownBy,
} from '../ranges.ts';
import { businessHref, setQuery } from '../route.ts';
import type { OnRead, TabProps } from '../session.ts';
import { failureWords } from '../words.ts';
import { type Figures, figuresOf } from './figures.ts';
import { Limits } from './limits.tsx';
import { RangeChoice } from './range-choice.tsx';
import { Refusals } from './refusals.tsx';
import { Sources } from './sources.tsx';
import { figureWords, NOT_COMPARED, problemWords } from './usage-words.ts';
import { UseLookup } from './use-lookup.tsx';

const LOADING_ROWS = 5;

type Props = Pick<TabProps, 'api' | 'readOnly' | 'query' | 'revision'> & {
  id: number;
  name: string;
  /** The day on which the business was created. Null until it is known. */
  created_on: string | null;
  limits: LimitsData | null;
  /** The uses of the days of the list, which end today. */
  recent: Query<Day[]>;
  drop: Drop | null;
  pace: Pace | null;
  isActive: boolean;
  /** As for `Limits`. */
  refusedByLimit: number;
  /** The registered sites. Null until they have been read. */
  sites: string[] | null;
  onRead: OnRead;
};

export function Usage(props: Props) {
  const { api, readOnly, id, name, created_on, limits, recent, drop, pace, refusedByLimit, isActive, sites } = props;
  const { query, revision, onRead } = props;
  const today = dayOf(new Date(now()));
  const billing = billingMonth(limits);
  const shown = shownBy(query, today, billing);
  const { range, problem } = shown;
  const comparison = comparisonIn(query);
  const compared = comparedDays(shown, comparison, today);
  const full = fullDays(range, today);
  const source = query.get('source');
  const by = UNITS.find((unit) => unit === query.get('by')) ?? 'day';
  const daily = source === null ? (limits?.daily ?? null) : null;
  const wanted = withCompared(range, compared);
  // The listed days have been read already. Other days that have been read can contain those that are wanted later, but only for the same
  // source.
  const isRecent = source === null && wanted.from >= addDays(today, 1 - LISTED_DAYS) && wanted.to <= today;
  const other = useQuery(
    isRecent ? null : source === null ? 'all' : `of ${source}`,
    `${wanted.from} ${wanted.to} ${revision}`,
    () => api.report(id, wanted, source),
  );
  const report = isRecent ? recent : other;
  const { data: loaded, failure, busy } = report;
  const used = loaded && daysOf(loaded, range);
  const before = loaded && compared && daysOf(loaded, compared);
  const readAt = used && report.readAt;
  // Memoized because the chart redraws whenever its data is set.
  const data = useMemo(
    () =>
      used && {
        used,
        today,
        ...(before && { before }),
        ...(daily && { limit: { count: daily, label: 'Daily limit' } }),
      },
    [loaded, range.from, range.to, compared?.from, compared?.to, today, daily],
  );
  const figures = used && figuresOf(used, today);
  const months = monthsOf(shown, today);
  const label = source === null ? name : `${name}: ${source}`;
  function download(): void {
    if (used === null) return;
    const { fullDays: days, compared: earlier } = summaryOf(used, before ?? [], today);
    const rows = dayRows(days > 0 ? used.slice(0, days) : used, earlier);
    saveRows([DAY_COLUMNS, ...rows], fileName(label, range, compared, months));
  }
  const isUnused =
    created_on !== null &&
    coversAllDays(range, created_on, today) &&
    source === null &&
    loaded?.every(({ count }) => count === 0);
  const needsSteps = isUnused && isActive && !readOnly && sites?.length === 0;
  const status = limits && limitStatusOf(limits);
  const hasAlerts = status !== null && status.level !== null;
  const alerts = useQuery(hasAlerts ? 'alerts' : null, revision, () => api.alerts(id));
  const typed = { from: query.get('from') ?? '', to: query.get('to') ?? '' };

  useEffect(() => onRead({ readAt, busy, failure }), [readAt, busy, failure]);

  return (
    <>
      {limits && (
        <Limits
          limits={limits}
          explains={isActive}
          refusedByLimit={refusedByLimit}
          alerts={alerts.data ?? []}
          pace={pace}
        />
      )}
      <Notice kind="warning">{drop && dropDetails(drop)}</Notice>
      {needsSteps && (
        <p class="notice">
          <span>
            First steps: record uses, <a href={businessHref(id, 'token')}>copy the tag</a> into your pages to show this
            chart, and <a href={businessHref(id, 'domains')}>add their domains</a>, so that the token works only there.
          </span>
        </p>
      )}
      <section class="card usage" aria-labelledby="usage-title">
        <div class="heading">
          <h2 id="usage-title" tabIndex={-1}>
            Usage
          </h2>
          <Button class="quiet" busy={used === null} onClick={download}>
            Download CSV
          </Button>
        </div>
        <RangeChoice
          shown={shown}
          comparison={comparison}
          by={by}
          address={`${query}`}
          fault={
            problem &&
            `${problemWords(problem, typed)} Showing the ${CHOICES[DEFAULT_CHOICE].label.toLowerCase()} instead.`
          }
          today={today}
          billing={billing}
        />
        {source !== null && (
          <p class="only">
            Only uses of <b>{source}</b>{' '}
            <Button class="link" onClick={() => setQuery({ source: null }, 'push')}>
              Show all uses
            </Button>
          </p>
        )}
        <Chart report={report} name={label} data={data} by={by} />
        <p class="sr-only" role="status">
          {figures && !busy && `${rangeWords(full ?? range)}: ${plural(figures.total, 'use')}`}
        </p>
        <FigureList figures={figures} isBusy={busy} />
        <p class="note">
          Days are in UTC.
          {range.to >= today && ' Today is not over yet, so only the peak includes it.'}
          {compared !== null &&
            (months === null
              ? ' The earlier days are aligned to weekdays.'
              : ' The earlier days are those of the calendar, so their weekdays differ.')}
          {comparison !== 'off' && compared === null && full !== null && ` ${NOT_COMPARED}`}
        </p>
        {source === null && <Refusals api={api} id={id} range={range} revision={revision} />}
      </section>
      <Sources
        api={api}
        id={id}
        name={name}
        months={months}
        range={range}
        compared={compared}
        today={today}
        revision={revision}
        sites={sites}
        chosen={source}
      />
      <UseLookup api={api} id={id} revision={revision} />
    </>
  );
}

type ChartProps = {
  report: Pick<Query<unknown>, 'failure' | 'busy' | 'reload'>;
  name: string;
  /** Null until the days have been read. Until then, the chart shows its previous drawing, dimmed. */
  data: Data | null;
  by: Unit;
};

function Chart({ report: { failure, busy, reload }, name, data, by }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<UsageChart>(null);
  const hasDrawn = useRef(false);
  hasDrawn.current = data !== null || (failure === null && hasDrawn.current);
  useFocusFallback(container, () => document.getElementById('usage-title'));

  // A layout effect, because the chart reads its data at the end of this task.
  useLayoutEffect(() => {
    if (chart.current && data) chart.current.data = data;
  }, [data, failure]);

  return (
    <div ref={container} class={data === null ? 'drawing old' : 'drawing'} aria-busy={`${busy}`}>
      <Notice kind="problem" action={{ label: 'Try again', press: () => reload(failure), busy }}>
        {failure && data === null && failureWords(failure)}
      </Notice>
      {hasDrawn.current && <usage-chart ref={chart} label={name} by={by} />}
      {!hasDrawn.current && failure === null && <Loading rows={LOADING_ROWS} />}
    </div>
  );
}

type FigureListProps = { figures: Figures | null; isBusy: boolean };

function FigureList({ figures, isBusy }: FigureListProps) {
  return (
    <dl class="figures" aria-busy={`${isBusy}`}>
      {figureWords(figures).map(([name, value, detail]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b class="value">{value}</b>
            <small>{detail}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}
