// Lists the registered domains. Domains removed since the view opened stay in place, with an Undo button.
import type { RenderableProps } from 'preact';
import { useRef } from 'preact/hooks';
import { useFocusFallback } from '../focus.ts';
import { number, plural } from '../formats.ts';
import { Button, Field, VERBATIM } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { SiteName } from '../site-name.tsx';
import type { Uses } from '../source-uses.ts';
import { unicodeName } from '../unicode-name.ts';
import { ChangeFailure, EVERYWHERE, type SiteChanges } from './site-changes.tsx';
import { countWords, unnamedIn, usesWords } from './uses-words.ts';

const FILTER_MIN_ROWS = 10;

type Props = {
  /** The registered sites, and those removed since the view opened. */
  rows: string[];
  /** The registered sites. */
  sites: string[];
  /** The filter's text. */
  wanted: string;
  readOnly: boolean;
  changes: SiteChanges;
  /** The uses of each source in the last SHOWN_DAYS full days, and today. Null until they have been read. */
  uses: Uses[] | null;
  /** When each site that was added in these days was added. */
  newSites: ReadonlyMap<string, string>;
};

const matches = (site: string, wanted: string): boolean =>
  site.includes(wanted) || unicodeName(site)?.includes(wanted) === true;

export function SiteList({ rows, sites, wanted, readOnly, changes, uses, newSites }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useFocusFallback(box, () => document.getElementById('domains-title'));
  const hasFilter = rows.length >= FILTER_MIN_ROWS || wanted !== '';
  const filter = wanted.trim().normalize().toLowerCase();
  const unnamed = uses && unnamedIn(uses);
  const shown = rows.filter((site) => matches(site, filter));

  return (
    <>
      {hasFilter && (
        <div class="filter">
          <Field id="domain-filter" label="Filter" class="inline">
            <input
              id="domain-filter"
              {...VERBATIM}
              placeholder="Part of a domain"
              value={wanted}
              onInput={({ currentTarget }) => setQuery({ q: currentTarget.value || null }, 'replace')}
            />
          </Field>
          <span class="count" role="status">
            {filter === ''
              ? plural(sites.length, 'domain')
              : `${number(shown.length)} of ${number(rows.length)} match${shown.length === 1 ? 'es' : ''}`}
          </span>
        </div>
      )}
      {unnamed && sites.length > 0 && (
        <p class="note unnamed">
          Without a source: {countWords(unnamed)}. So a domain that seems unused may be in use.
        </p>
      )}
      {rows.length > 0 && (
        <div ref={box} class="box" tabIndex={readOnly ? 0 : undefined}>
          {shown.length === 0 && <p class="none">No domains match “{filter}”.</p>}
          <ul class="rows">
            {shown.map((site) => (
              <SiteRow
                key={site}
                site={site}
                sites={sites}
                readOnly={readOnly}
                changes={changes}
                uses={uses}
                newSites={newSites}
              />
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

type RowProps = Pick<Props, 'sites' | 'readOnly' | 'changes' | 'uses' | 'newSites'> & { site: string };

/** Reuses the button element for Undo, so it keeps the focus. */
function SiteRow({ site, sites, readOnly, changes, uses, newSites }: RowProps) {
  const isRegistered = sites.includes(site);
  const source = `row ${site}`;
  const { busy, locked, cleared } = changes;
  const words = isRegistered ? (sites.length === 1 ? 'Remove…' : 'Remove') : 'Undo';
  const removed = cleared?.source === source && !changes.isRestricted ? EVERYWHERE : 'Removed';
  return (
    <li class={isRegistered ? 'item' : 'item removed'}>
      <span class="named">
        <SiteName site={site} />
        <small>
          <Replaceable by={isRegistered ? null : removed}>
            {uses === null ? '\u00a0' : usesWords(site, uses, newSites.get(site))}
          </Replaceable>
        </small>
      </span>
      {!readOnly && (
        <Button
          class="quiet"
          label={isRegistered ? `Remove ${site}` : `Undo: add ${site} again`}
          busy={locked}
          onClick={() => void (isRegistered ? changes.remove(source, [site]) : changes.add(source, [site]))}
        >
          {busy === source ? (isRegistered ? 'Removing…' : 'Adding…') : words}
        </Button>
      )}
      <ChangeFailure changes={changes} source={source} />
    </li>
  );
}

/** Shows `by` in place of the children, unless it is null. The place is as large as the larger of the two. */
export const Replaceable = ({ by, children }: RenderableProps<{ by: string | null }>) => (
  <span class="replaceable">
    <span class={by === null ? '' : 'gone'}>{children}</span>
    {by !== null && <span class="state">{by}</span>}
  </span>
);
