// The table of sources: which sites and servers the uses of the shown days came from.
import { daysIn, type Range } from '../../../core/time.ts';
import { MAX_DAYS_BY_SOURCE } from '../../../usage/rules.ts';
import type { Api } from '../api.ts';
import { SiteName } from '../domains/domain-list.tsx';
import { changeWords, dayWords, NONE, number, plural, rangeWords, shareWords } from '../formats.ts';
import { AS, Button, FailureNotice, Loading, Section } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { setQuery } from '../route.ts';
import { DownloadButton, DownloadNotice, useDownload } from './download.tsx';
import type { Months } from './ranges.ts';
import { areAlike, comparedParts, coveredBy, rowsOf, type SourceRow } from './source-rows.ts';
import { fileName } from './usage-words.ts';

const LOADING_ROWS = 3;
/** More rows without uses are only counted. */
const MAX_UNUSED = 20;

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
  const { data, failure, reload } = useQuery(`${key} ${revision}`, async () => {
    const read = (part: Range) => api.sources(id, part);
    const all = read(covered);
    if (parts === null) return { key, uses: await all, parts: null };
    const isWhole = parts.now.to === covered.to; // the shown days do not include today
    const [uses, now, before] = await Promise.all([all, isWhole ? all : read(parts.now), read(parts.before)]);
    return { key, uses, parts: { now, before } };
  });
  const download = useDownload(
    fileName(`${name} by source`, covered, null, daysIn(range) > MAX_DAYS_BY_SOURCE ? null : months),
    () => api.sourcesCsv(id, covered),
  );
  const loaded = data?.key === key ? data : null;
  const rows = loaded && rowsOf(loaded.uses, loaded.parts, sites ?? []);
  const isComparable = loaded?.parts ? areAlike(loaded.parts) : true;
  const isEmpty = rows?.every(({ source }) => source === null) === true;
  const unused = rows?.filter(({ count, change }) => count + (change?.before ?? 0) === 0) ?? [];
  const hidden = unused.slice(MAX_UNUSED);
  return (
    <Section id="sources" title="Sources">
      {rows === null && failure !== null && <FailureNotice failure={failure} reload={reload} />}
      {rows === null && failure === null && <Loading rows={LOADING_ROWS} />}
      {isEmpty && (
        <p class="none">
          No use had a source. Uses of pages have one as soon as a domain is registered, and uses of servers if they
          send a label.
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
          <table {...AS.table}>
            <thead {...AS.rows}>
              <tr {...AS.row}>
                {['Source', ...Object.keys(COLUMNS)]
                  .filter((column) => column !== 'Change' || parts !== null)
                  .map((column) => (
                    <th key={column} {...AS.column}>
                      {column}
                    </th>
                  ))}
              </tr>
            </thead>
            <tbody {...AS.rows}>
              {rows
                .filter((row) => !hidden.includes(row))
                .map((row) => (
                  <Row
                    key={row.source}
                    row={row}
                    isComparable={isComparable}
                    isChosen={chosen !== null && row.source === chosen}
                  />
                ))}
            </tbody>
          </table>
          {hidden.length > 0 && <p class="note">{plural(hidden.length, 'more domain')} without uses.</p>}
          <DownloadButton {...download} words="Download CSV by source" />
          <DownloadNotice {...download} />
        </>
      )}
    </Section>
  );
}

/** Null omits the cell. */
const COLUMNS: Record<string, (row: SourceRow, isComparable: boolean) => string | null> = {
  Uses: ({ count }) => number(count),
  Share: ({ count, share }) => (count === 0 ? '' : shareWords(share)),
  Change: ({ change }, isComparable) => change && (isComparable ? changeWords(change.now, change.before) : NONE),
  'Last use': ({ last_day }) => (last_day === null ? 'None' : dayWords(last_day)),
};

type RowProps = { row: SourceRow; isComparable: boolean; isChosen: boolean };

function Row({ row, isComparable, isChosen }: RowProps) {
  const { source, count } = row;
  return (
    <tr class={isChosen ? 'chosen' : ''} {...AS.row}>
      <th {...AS.name}>
        {source === null ? (
          <>
            No source
            <small>servers without a label, pages while no domain was registered, and imported days</small>
          </>
        ) : (
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
        )}
      </th>
      {Object.entries(COLUMNS).map(([column, wordsOf]) => {
        const words = wordsOf(row, isComparable);
        return (
          words !== null && (
            <td key={column} {...AS.cell}>
              <span class="column" aria-hidden="true">
                {words && column}
              </span>
              {words}
            </td>
          )
        );
      })}
    </tr>
  );
}
