// The chart of a business with a choice of days, and the figures read off it.
import { useEffect, useLayoutEffect, useRef, useState } from 'hono/jsx/dom';
import { addDays, dayOf, daysIn, isDay, MAX_RANGE_DAYS, type Range } from '../../core/time.ts';
import type { Limits as Standing } from '../../wire/responses.ts';
import type { Failed } from '../report.ts';
import type { Loaded, UsageChart } from '../usage-chart.ts';
import { type Api, Failure, type ListedBusiness } from './api.ts';
import { Limits } from './limits.tsx';
import { Button } from './parts.tsx';
import { useMutation } from './query.ts';
import type { RoomProps } from './session.ts';
import { compact, dayWords, failureWords, mean, number, percentChange, rangeWords } from './words.ts';

const LENGTHS = [7, 30, 90, 365];
const DEFAULT_LENGTH = 30;
const BLOB_MS = 60_000;

const lastDays = (length: number): Range => {
  const to = dayOf(new Date());
  return { from: addDays(to, 1 - length), to };
};

/** Why a range cannot be reported, or null. */
function problemOf(range: Range): string | null {
  if (range.from > range.to) return 'The first day is after the last day. Choose another one.';
  return daysIn(range) > MAX_RANGE_DAYS ? `Choose at most ${MAX_RANGE_DAYS} days.` : null;
}

/** `listed` is the business as it was listed, if it was opened from the list. */
type Props = Pick<RoomProps, 'api' | 'query' | 'revision'> & {
  id: number;
  name: string;
  listed: ListedBusiness | null;
  limits: Standing;
};

export function Usage({ api, id, name, limits }: Props) {
  const [range, setRange] = useState(() => lastDays(DEFAULT_LENGTH));
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const chart = useRef<UsageChart>(null);
  const problem = problemOf(range);
  // A layout effect runs before the chart looks for its token, which it does at the end of this task.
  useLayoutEffect(() => {
    if (chart.current) api.lend(chart.current);
    return () => {
      if (chart.current) chart.current.token = null;
    };
  }, [api]);

  function fail({ detail }: CustomEvent<Failed>): void {
    setLoaded(null);
    if (detail.status === 401) api.ended();
  }
  function type(end: keyof Range, event: Event): void {
    const { value } = event.target as HTMLInputElement;
    // While somebody types a year, the field passes through years that they do not mean.
    if (isDay(value)) setRange((last) => ({ ...last, [end]: value }));
  }

  return (
    <>
      <section class="card usage" aria-labelledby="usage-title">
        <div class="heading">
          <h2 id="usage-title" tabIndex={-1}>
            Usage
          </h2>
          <Download api={api} id={id} range={range} problem={problem} />
        </div>
        <div class="controls">
          <fieldset class="lengths">
            <legend class="sr-only">Last days</legend>
            {LENGTHS.map((length) => {
              const last = lastDays(length);
              const isShown = last.from === range.from && last.to === range.to;
              return (
                <button key={length} type="button" aria-pressed={`${isShown}`} onClick={() => setRange(last)}>
                  {`${length}`}
                  <span class="unit"> days</span>
                </button>
              );
            })}
          </fieldset>
          <div class="dates">
            <label>
              From{' '}
              <input type="date" min="1970-01-01" value={range.from} onInput={(event: Event) => type('from', event)} />
            </label>
            <label>
              To <input type="date" min="1970-01-01" value={range.to} onInput={(event: Event) => type('to', event)} />
            </label>
          </div>
        </div>
        <usage-chart
          ref={chart}
          business={`${id}`}
          label={name}
          from={range.from}
          to={range.to}
          compare=""
          word-error={problem ?? undefined}
          onLoad={({ detail }: CustomEvent<Loaded>) => setLoaded(detail)}
          onError={fail}
        />
        <Figures loaded={loaded} />
        <p class="note">Days are UTC.{range.to >= dayOf(new Date()) && ' Today is not over yet.'}</p>
      </section>
      <Limits limits={limits} />
    </>
  );
}

/** Mean, peak, and the change against the same number of days before. */
function Figures({ loaded }: { loaded: Loaded | null }) {
  const peak = loaded?.used.reduce((most, day) => (day.count > most.count ? day : most));
  const figures: [string, string, string][] =
    loaded === null || peak === undefined
      ? ['Mean', 'Peak', 'Change'].map((name) => [name, '–', ''])
      : [
          ['Mean', mean(loaded.total, loaded.used.length), 'a day'],
          ['Peak', compact(peak.count), peak.count === 0 ? '' : dayWords(peak.date)],
          ['Change', ...changeOf(loaded)],
        ];
  return (
    <dl class="figures">
      {figures.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b class="value">{value}</b>
            <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function changeOf({ total, before }: Loaded): [string, string] {
  if (before === undefined) return ['–', 'the days before could not be read'];
  const against = `against ${number(before.total)}, ${rangeWords(before)}`;
  if (before.total === 0) return [total === 0 ? '0%' : 'New', against];
  return [percentChange(total, before.total), against];
}

/** Downloads the days that are shown. */
function Download({ api, id, range, problem }: { api: Api; id: number; range: Range; problem: string | null }) {
  const [file, setFile] = useState<{ url: string; name: string } | null>(null);
  const link = useRef<HTMLAnchorElement>(null);
  const { busy, failure, run } = useMutation();
  useEffect(() => {
    if (file === null) return;
    link.current?.click();
    const timer = setTimeout(() => URL.revokeObjectURL(file.url), BLOB_MS);
    return () => clearTimeout(timer);
  }, [file]);
  const download = () =>
    run('Downloading…', async () => {
      if (problem !== null) throw new Failure(422, problem);
      const url = URL.createObjectURL(await api.csv(id, range));
      setFile({ url, name: `usage-${id}-${range.from}-${range.to}.csv` });
    });
  return (
    <div class="download">
      <span class="problem" role="alert">
        {failure && failureWords(failure)}
      </span>
      <Button class="quiet" busy={busy !== null} onClick={download}>
        {busy ?? 'Download CSV'}
      </Button>
      <a ref={link} hidden href={file?.url} download={file?.name}>
        CSV
      </a>
    </div>
  );
}
