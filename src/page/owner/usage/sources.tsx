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
import type { Months } from '../ranges.ts';
import { setQuery } from '../route.ts';
import { SiteName } from '../site-name.tsx';
import { Table } from '../table.tsx';
import { areAlike, comparedParts, coveredBy, rowsOf, type SourceRow } from './source-rows.ts';

const LOADING_ROWS = 3;
/** The others are shown on request. */
const FIRST_ROWS = 10;
/** How the rows can be sorted, the highest first. */
const RANKS: Record<string, (row: SourceRow) => number> = {
  Uses: ({ count }) => count,
  Change: ({ change }) => (change && change.before > 0 ? change.now / change.before : -1),
  'Last use': ({ last_day }) => Date.parse(last_day ?? FIRST_DAY),
};

type Props = {
  api: Api;
  id: number;
  name: string;
  months: Months | null;
  range: Range;
  compared: Range | null;
  today: string;
  revision: number;
  /** The registered sites. Null until they have been read. */
  sites: string[] | null;
  /** The only source that the chart shows, or null. */
  chosen: string | null;
};

export function Sources({ api, id, name, months, range, compared, today, revision, sites, chosen }: Props) {
  const covered = coveredBy(range);
  const parts = comparedParts(range, compared, today);
  const key = [covered, parts?.now, parts?.before].map((part) => part && `${part.from} ${part.to}`).join(' ');
  const { data, failure, reload } = useQuery(key, revision, async () => {
    const read = (part: Range) => api.sources(id, part);
    const all = read(covered);
    if (parts === null) return { uses: await all, parts: null };
    const isWhole = parts.now.to === covered.to; // the shown days do not include today
    const [uses, now, before] = await Promise.all([all, isWhole ? all : read(parts.now), read(parts.before)]);
    return { uses, parts: { now, before } };
  });
  const download = useDownload(
    fileName(`${name} by source`, covered, null, daysIn(range) > MAX_DAYS_BY_SOURCE ? null : months),
    () => api.sourcesCsv(id, covered),
  );
  const rows = data && rowsOf(data.uses, data.parts, sites ?? []);
  const isComparable = data?.parts ? areAlike(data.parts) : true;
  const isEmpty = rows?.every(({ source }) => source === null) === true;
  const hasChanges = isComparable && rows?.some(({ change }) => change !== null && change.before > 0) === true;
  const columns = COLUMN_NAMES.filter((column) => column !== 'Change' || hasChanges);
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
            {daysIn(range) > MAX_DAYS_BY_SOURCE && `: the last ${MAX_DAYS_BY_SOURCE} of these days`}
            {covered.to >= today && ', with today so far'}.
            {parts !== null &&
              (isComparable
                ? ` Changes compare full days with ${rangeWords(parts.before)}.`
                : ` Not compared with ${rangeWords(parts.before)}: most uses of one period have no source.`)}{' '}
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

const COLUMNS = {
  Uses: ({ count }) => number(count),
  Share: ({ count, share }) => (count === 0 ? '' : shareWords(share)),
  Change: ({ change }) => (change ? changeWords(change.now, change.before) : NONE),
  'Last use': ({ last_day }) => (last_day === null ? 'None' : dayWords(last_day)),
} satisfies Record<string, (row: SourceRow) => string>;
const COLUMN_NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

function Name({ row: { source, count }, isChosen }: { row: SourceRow; isChosen: boolean }) {
  if (source === null)
    return (
      <>
        No source
        <small>servers without a label, pages while no domain was registered, and imported days</small>
      </>
    );
  return (
    <>
      {count === 0 ? (
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
