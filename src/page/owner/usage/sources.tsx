// The table of sources: which sites and servers the uses of the shown days came from.
import { useState } from 'preact/hooks';
import { daysIn, FIRST_DAY, type Range } from '../../../core/time.ts';
import { MAX_DAYS_BY_SOURCE } from '../../../usage/rules.ts';
import type { Api } from '../api.ts';
import { DownloadButton, DownloadNotice, useDownload } from '../download.tsx';
import { fileName } from '../file-name.ts';
import { changeWords, dayWords, NONE, number, rangeWords, shareWords } from '../formats.ts';
import { Button, FailureNotice, Field, Loading, Section } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { setQuery } from '../route.ts';
import { SiteName } from '../site-name.tsx';
import { readSources } from '../source-uses.ts';
import { Table } from '../table.tsx';
import { areAlike, comparedBySource, coveredBy, rowsOf, type SourceRow } from './source-rows.ts';

const LOADING_ROWS = 3;
/** The others are shown on request. */
const FIRST_ROWS = 10;
/** How the rows can be sorted, the highest first. */
const RANKS: Record<string, (row: SourceRow) => number> = {
  Uses: ({ count }) => count,
  Change: ({ count, before }) => (before ? count / before : -1),
  'Last use': ({ last_day }) => Date.parse(last_day ?? FIRST_DAY),
};

type Props = {
  api: Api;
  id: number;
  name: string;
  /** The full days that the chart shows. */
  full: Range;
  compared: Range | null;
  /** Whether the business has data for the compared days. */
  isComparable: boolean;
  /** Today, if the chart shows it beside them. */
  today: string | null;
  revision: number;
  /** The registered sites. Null until they have been read. */
  sites: string[] | null;
  /** The only source that the chart shows, or null. */
  chosen: string | null;
};

export function Sources({ api, id, name, full, compared, isComparable, today, revision, sites, chosen }: Props) {
  const covered = coveredBy(full);
  const earlier = comparedBySource(full, compared);
  const key = [covered, earlier].map((part) => part && `${part.from} ${part.to}`).join(' ');
  const { data, failure, reload } = useQuery(`${key} ${today}`, revision, async () => {
    const [uses, before] = await Promise.all([
      readSources((days) => api.sources(id, days), covered, today),
      earlier && api.sources(id, earlier),
    ]);
    return { uses, before };
  });
  const download = useDownload(
    () => fileName(`${name} by source`, covered, null),
    () => api.sourcesCsv(id, covered),
  );
  const isAlike = data?.before ? areAlike(data.uses, data.before) : true;
  const rows = data && rowsOf(data.uses, isAlike ? data.before : null, sites ?? []);
  const isEmpty = rows?.every(({ source }) => source === null) === true;
  const hasChanges = isComparable && rows?.some(({ before }) => (before ?? 0) > 0) === true;
  const isUsedToday = rows?.some(({ today }) => today > 0) === true;
  const columns = COLUMN_NAMES.filter(
    (column) => (column !== 'Change' || hasChanges) && (column !== TODAY || isUsedToday),
  );
  const [order, setOrder] = useState('Uses');
  const [showsAll, setShowsAll] = useState(false);
  const rank = RANKS[order] ?? (() => 0);
  const sorted = rows?.toSorted((a, b) => rank(b) - rank(a)) ?? [];
  const isChosen = ({ source }: SourceRow) => chosen !== null && source === chosen;
  const isLong = sorted.length > FIRST_ROWS;
  return (
    <Section id="sources" title="Sources">
      {rows === null && failure !== null && <FailureNotice failure={failure} reload={reload} />}
      {rows === null && failure === null && <Loading rows={LOADING_ROWS} />}
      {isEmpty && (
        <p class="none">
          No use had a source. Uses of pages have one as soon as a domain is registered, and uses of servers if they
          send a label, or their key has one.
        </p>
      )}
      {rows !== null && !isEmpty && (
        <>
          <p class="note">
            {rangeWords(covered)}
            {daysIn(full) > MAX_DAYS_BY_SOURCE && `: the last ${MAX_DAYS_BY_SOURCE} of these days`}.{' '}
            {earlier !== null &&
              isComparable &&
              (isAlike
                ? `Compared with ${rangeWords(earlier)}. `
                : `Not compared with ${rangeWords(earlier)}: most uses of one period have no source. `)}
            A wildcard stands for all of its subdomains.
          </p>
          {isLong && (
            <Field id="sources-sort" label="Sort by" class="inline">
              <select id="sources-sort" value={order} onChange={({ currentTarget }) => setOrder(currentTarget.value)}>
                {Object.keys(RANKS)
                  .filter((one) => one !== 'Change' || hasChanges)
                  .map((one) => (
                    <option key={one}>{one}</option>
                  ))}
              </select>
            </Field>
          )}
          <Table
            columns={['Source', ...columns]}
            rows={sorted
              .filter((row, index) => showsAll || index < FIRST_ROWS || isChosen(row))
              .map((row) => ({
                key: row.source ?? '',
                isChosen: isChosen(row),
                name: <Name row={row} isChosen={isChosen(row)} />,
                cells: columns.map((column) => COLUMNS[column](row)),
              }))}
          />
          {isLong && (
            <Button class="quiet" onClick={() => setShowsAll(!showsAll)}>
              {showsAll ? `Show the first ${FIRST_ROWS}` : `Show all ${number(sorted.length)} sources`}
            </Button>
          )}
          <DownloadButton {...download} words="Download CSV by source" />
          <DownloadNotice {...download} />
        </>
      )}
    </Section>
  );
}

const TODAY = 'Today so far';
const COLUMNS = {
  Uses: ({ count }) => number(count),
  Share: ({ count, share }) => (count === 0 ? '' : shareWords(share)),
  Change: ({ count, before }) => (before ? changeWords(count, before) : NONE),
  'Last use': ({ last_day }) => (last_day === null ? 'None' : dayWords(last_day)),
  [TODAY]: ({ today }) => (today === 0 ? '' : number(today)),
} satisfies Record<string, (row: SourceRow) => string>;
const COLUMN_NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

function Name({ row: { source, count, today }, isChosen }: { row: SourceRow; isChosen: boolean }) {
  if (source === null)
    return (
      <>
        No source
        <small>servers without a label, pages while no domain was registered, and imported days</small>
      </>
    );
  return (
    <>
      {count + today === 0 ? (
        <SiteName site={source} />
      ) : (
        <Button
          class="link"
          label={`Show only uses of ${source}`}
          onClick={() => setQuery({ source: isChosen ? null : source }, 'push')}
        >
          <SiteName site={source} />
        </Button>
      )}
      {!source.includes('://') && <small>from servers</small>}
    </>
  );
}
