// The Usage tab: the chart and figures of the chosen days, and the limits.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { dayOf, daysIn } from '../../../core/time.ts';
import type { Limits as LimitsData } from '../../../shown-business/description.ts';
import type { Data } from '../../report.ts';
import { type Day, fittingUnits, fullDays, summaryOf, UNITS, type Unit } from '../../scale.ts';
import type { UsageChart } from '../../usage-chart.ts';
import { now } from '../clock.ts';
import { dayRows } from '../day-rows.ts';
import { saveRows } from '../download.tsx';
import { type Drop, dropDetails } from '../drop.ts';
import { fileName } from '../file-name.ts';
import { useFocusFallback } from '../focus.ts';
import { limitStatusOf } from '../limit-status.ts';
import type { Forecast } from '../pace.ts';
import { Button, Loading, Notice } from '../parts.tsx';
import { monthOf } from '../periods.ts';
import { type Query, useQuery } from '../query.ts';
import { CHOICES, comparisonIn, DEFAULT_CHOICE, monthsOf, shownBy } from '../ranges.ts';
import { businessHref, setQuery } from '../route.ts';
import type { OnRead, TabProps } from '../session.ts';
import { failureWords } from '../words.ts';
import { type Figures, figuresOf } from './figures.ts';
import { Limits } from './limits.tsx';
import { MonthCurve } from './month-curve.tsx';
import { DrawingChoice, RangeChoice } from './range-choice.tsx';
import { Refusals } from './refusals.tsx';
import { useShownDays } from './shown-days.ts';
import { Sources } from './sources.tsx';
import { figureWords, NOT_COMPARED, noDataWords, problemWords, totalWords } from './usage-words.ts';
import { UseLookup } from './use-lookup.tsx';

const LOADING_ROWS = 5;
/** Below, the bars are days. */
const MIN_DAYS_IN_WEEKS = 60;

type Props = Pick<TabProps, 'api' | 'readOnly' | 'query' | 'revision'> & {
  id: number;
  name: string;
  /** When the business was created. Null until it is known. */
  created_at: string | null;
  limits: LimitsData | null;
  /** The uses of the days of the list, which end today. */
  recent: Query<Day[]>;
  drop: Drop | null;
  pace: Forecast | null;
  isActive: boolean;
  /** As for `Limits`. */
  refusedByLimit: number;
  /** The registered sites. Null until they have been read. */
  sites: string[] | null;
  onRead: OnRead;
};

export function Usage(props: Props) {
  const { api, readOnly, id, name, created_at, limits, recent, drop, pace, refusedByLimit, isActive, sites } = props;
  const { query, revision, onRead } = props;
  const today = dayOf(new Date(now()));
  const month = limits && monthOf(limits);
  const billing = month?.days ?? null;
  const shown = shownBy(query, today, billing);
  const { range, problem } = shown;
  const comparison = comparisonIn(query);
  const { isUnused, earlier, compared, source, report, loaded, used, before, since } = useShownDays(
    props,
    shown,
    today,
  );
  const full = fullDays(range, today);
  const [width, setWidth] = useState(0);
  const units = daysIn(range) < MIN_DAYS_IN_WEEKS ? UNITS.slice(0, 1) : fittingUnits(daysIn(range), width);
  // The chosen unit or, if its bars do not fit, the next that does.
  const by = units.find((unit) => UNITS.indexOf(unit) >= UNITS.indexOf(query.get('by') as Unit)) ?? 'day';
  const daily = source === null ? (limits?.daily ?? null) : null;
  const { failure, busy } = report;
  const readAt = used && report.readAt;
  // Memoized because the chart redraws whenever its data is set.
  const data = useMemo(
    () =>
      used && {
        used,
        today,
        before: before ?? undefined,
        limit: daily ? { count: daily, label: 'Daily limit' } : undefined,
      },
    [loaded, range.from, range.to, compared?.from, compared?.to, today, daily],
  );
  const figures = used && figuresOf(used, today);
  const months = monthsOf(shown, today);
  function download(): void {
    if (used === null || full === null) return;
    const { full: days, compared: earlier } = summaryOf(used, before ?? [], today);
    saveRows(
      dayRows(days, compared && earlier),
      fileName(source === null ? name : `${name}: ${source}`, full, compared),
    );
  }
  const needsSteps = isUnused && isActive && !readOnly && sites?.length === 0;
  const level = limits && limitStatusOf(limits)?.level;
  const alerts = useQuery(level ? 'alerts' : null, revision, () => api.alerts(id));
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
        <h2 id="usage-title" class="sr-only" tabIndex={-1}>
          Usage
        </h2>
        <RangeChoice
          shown={shown}
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
        <Chart report={report} data={data} by={by} onResize={setWidth} />
        <DrawingChoice comparison={comparison} by={by} units={units}>
          <Button class="quiet" busy={used === null || full === null} onClick={download}>
            Download CSV
          </Button>
        </DrawingChoice>
        <p class="sr-only" role="status">
          {figures && !busy && totalWords(figures, full)}
        </p>
        <FigureList figures={figures} isBusy={busy} />
        <p class="note">
          Days are in UTC.
          {range.to >= today &&
            ' Today is not over yet, so it is shown beside the full days, and no figure includes it.'}
          {compared !== null &&
            (months === null
              ? ' The earlier days are aligned to weekdays.'
              : ' The earlier days are those of the calendar, so their weekdays differ.')}
          {comparison !== 'off' && earlier === null && full !== null && ` ${NOT_COMPARED}`}
          {earlier !== null && since !== null && compared === null && ` ${noDataWords(since)}`}
        </p>
        {source === null && month && created_at !== null && (
          <MonthCurve {...{ api, id, created_at, revision, pace, month }} recent={recent.data} />
        )}
        {source === null && <Refusals api={api} id={id} range={range} today={today} revision={revision} />}
      </section>
      {full && (
        <Sources
          api={api}
          id={id}
          name={name}
          full={full}
          compared={earlier}
          isComparable={compared !== null}
          today={range.to < today ? null : today}
          revision={revision}
          sites={sites}
          chosen={source}
        />
      )}
      <UseLookup api={api} id={id} revision={revision} />
    </>
  );
}

type ChartProps = {
  report: Pick<Query<unknown>, 'failure' | 'busy' | 'reload'>;
  /** Null until the days have been read. Until then, the chart shows its previous drawing, dimmed. */
  data: Data | null;
  by: Unit;
  onResize: (width: number) => void;
};

function Chart({ report: { failure, busy, reload }, data, by, onResize }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<UsageChart>(null);
  const hasDrawn = useRef(false);
  hasDrawn.current = data !== null || (failure === null && hasDrawn.current);
  useFocusFallback(container, () => document.getElementById('usage-title'));

  // A layout effect, because the chart reads its data at the end of this task.
  useLayoutEffect(() => {
    if (chart.current && data) chart.current.data = data;
  }, [data, failure]);

  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => onResize(container.current?.clientWidth ?? 0));
    observer.observe(container.current as HTMLElement);
    return () => observer.disconnect();
  }, []);

  return (
    <div ref={container} class={data === null ? 'drawing old' : 'drawing'} aria-busy={`${busy}`}>
      <Notice kind="problem" action={{ label: 'Try again', press: () => reload(failure), busy }}>
        {failure && data === null && failureWords(failure)}
      </Notice>
      {hasDrawn.current && <usage-chart ref={chart} by={by} />}
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
