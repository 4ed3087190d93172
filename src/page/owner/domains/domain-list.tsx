// The registered domains, and those that were removed while the view is open, each in its place.
import { useEffect, useRef } from 'preact/hooks';
import { useKeptFocus } from '../focus.ts';
import { number, plural } from '../formats.ts';
import { Button, VERBATIM } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { type DomainChanges, EVERYWHERE } from './domain-changes.ts';
import { PlaceFailure } from './place-failure.tsx';
import { SiteName } from './site-name.tsx';
import { writtenName } from './written-name.ts';

/** From so many on, the list has a filter. */
const FILTERED_FROM = 10;

type Props = {
  /** The registered sites, and those that were removed here. */
  rows: string[];
  /** The registered ones. */
  sites: string[];
  /** What the list is filtered by. */
  wanted: string;
  /** The site to which somebody is pointed. */
  revealed: string | null;
  readOnly: boolean;
  changes: DomainChanges;
};

const matches = (site: string, wanted: string): boolean =>
  site.includes(wanted) || writtenName(site)?.includes(wanted) === true;

export function DomainList({ rows, sites, wanted, revealed, readOnly, changes }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box, () => document.getElementById('domains-title'));
  const hasFilter = rows.length >= FILTERED_FROM || wanted !== '';
  const sought = wanted.trim().toLowerCase();
  const shown = sought === '' ? rows : rows.filter((site) => matches(site, sought));
  // What is added comes last: it would be out of sight.
  const length = useRef(rows.length);
  useEffect(() => {
    const last = box.current?.lastElementChild;
    if (rows.length > length.current && last && box.current) box.current.scrollTop = box.current.scrollHeight;
    length.current = rows.length;
  }, [rows.length]);

  return (
    <>
      {hasFilter && (
        <div class="filter">
          <label for="domain-filter">Filter</label>
          <input
            id="domain-filter"
            {...VERBATIM}
            placeholder="part of a domain"
            value={wanted}
            onInput={({ currentTarget }) => setQuery({ q: currentTarget.value || null }, 'replace')}
          />
          <span class="count" role="status">
            {sought === ''
              ? plural(sites.length, 'domain')
              : `${number(shown.length)} of ${number(rows.length)} match${shown.length === 1 ? 'es' : ''}`}
          </span>
        </div>
      )}
      {rows.length > 0 && (
        <div ref={box} class="box" tabIndex={readOnly ? 0 : undefined}>
          {shown.length === 0 && <p class="none">No domain matches “{sought}”.</p>}
          <ul class="rows">
            {shown.map((site) => (
              <DomainRow
                key={site}
                site={site}
                isRegistered={sites.includes(site)}
                isLast={sites.length === 1}
                isRevealed={site === revealed}
                readOnly={readOnly}
                changes={changes}
              />
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

type RowProps = {
  site: string;
  isRegistered: boolean;
  /** No other is registered. */
  isLast: boolean;
  isRevealed: boolean;
  readOnly: boolean;
  changes: DomainChanges;
};

/** Its button stays the same element when it becomes Undo, so it keeps the focus. */
function DomainRow({ site, isRegistered, isLast, isRevealed, readOnly, changes }: RowProps) {
  const place = `row ${site}`;
  const { busy, locked, lifted } = changes;
  const words = isRegistered ? (isLast ? 'Remove…' : 'Remove') : 'Undo';
  const isLifted = lifted?.place === place && !isRegistered && !changes.isRestricted;
  return (
    <li class={`item${isRegistered ? '' : ' removed'}${isRevealed ? ' revealed' : ''}`}>
      <SiteName site={site} />
      {isRevealed && isRegistered && <span class="state">Registered already</span>}
      {!isRegistered && <span class={isLifted ? 'state done' : 'state'}>{isLifted ? EVERYWHERE : 'Removed'}</span>}
      {!readOnly && (
        <Button
          class="quiet"
          label={isRegistered ? `Remove ${site}` : `Undo: add ${site} again`}
          busy={locked}
          onClick={() => void (isRegistered ? changes.remove(place, [site]) : changes.add(place, [site]))}
        >
          {busy === place ? (isRegistered ? 'Removing…' : 'Adding…') : words}
        </Button>
      )}
      <PlaceFailure changes={changes} place={place} />
    </li>
  );
}
