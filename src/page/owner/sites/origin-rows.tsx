// Rows of origins that were refused or let in. Until the view is left, each row keeps its place and its height, whatever happens to the
// origin.
import type { RefusedOrigin } from '../../../sites/description.ts';
import { instantWords, plural } from '../formats.ts';
import { Button } from '../parts.tsx';
import { SiteName } from '../site-name.tsx';
import { siteCovering } from './address.ts';
import { addableAtOnce, explainRefusal } from './refusal.ts';
import { ChangeFailure, type SiteChanges } from './site-changes.tsx';
import { Replaceable } from './site-list.tsx';

type Props = {
  rows: RefusedOrigin[];
  sites: string[];
  /** The sites that were registered when the view opened. The rows undo the addition of others. */
  sitesBefore: string[];
  readOnly: boolean;
  changes: SiteChanges;
  /** Formats an origin's count. */
  countWords?: (origin: RefusedOrigin) => string;
};

export const OriginRows = ({ rows, ...props }: Props) => (
  <ul class="rows">
    {rows.map((row) => (
      <OriginRow key={row.origin} row={row} {...props} />
    ))}
  </ul>
);

export const timesWords = ({ count }: RefusedOrigin): string => `at least ${plural(count, 'time')}`;

type AllProps = Pick<Props, 'rows' | 'sites' | 'readOnly' | 'changes'> & { source: string };

/** Adds the origins that can be registered and that no site covers, except those that only a deliberate press should admit. */
export function AddAll({ rows, sites, readOnly, changes, source }: AllProps) {
  const { addable, total } = addableAtOnce(rows, sites);
  const words = addable.length < total ? `Add ${addable.length} of ${total}` : `Add all ${total}`;
  return (
    <>
      {!readOnly && addable.length > 1 && (
        <Button class="quiet" busy={changes.locked} onClick={() => void changes.add(source, addable)}>
          {changes.busy === source ? 'Adding…' : words}
        </Button>
      )}
      <ChangeFailure changes={changes} source={source} />
    </>
  );
}

type RowProps = Omit<Props, 'rows'> & { row: RefusedOrigin };

function OriginRow({ row, sites, sitesBefore, readOnly, changes, countWords = timesWords }: RowProps) {
  const { origin, last_seen } = row;
  const covers = (site: string) => siteCovering(origin, [site]) !== undefined;
  const covering = sites.filter(covers);
  const added = covering.find((site) => !sitesBefore.includes(site));
  // The reason and the offers do not change, so that the row keeps its height.
  const uncovering = sitesBefore.filter((site) => !covers(site));
  const { reason, offers } = explainRefusal(origin, uncovering);
  const state = covering.length > 0 ? 'Now passes.' : null;
  const shown = added === undefined || offers.includes(added) ? offers : [added];
  const sourceOf = (site: string) => `${site} for ${origin}`;

  function button(site: string) {
    const isAdded = site === added;
    const isBusy = changes.busy === sourceOf(site);
    const name = state === null || isAdded ? 'quiet' : 'gone quiet';
    const words = isAdded
      ? isBusy
        ? 'Removing…'
        : 'Undo'
      : isBusy
        ? 'Adding…'
        : site === origin
          ? 'Add'
          : `Add ${site}`;
    return (
      // The pressed button becomes Undo and keeps the focus.
      <Button
        key={site}
        class={name}
        label={isAdded ? `Undo: remove ${site}` : `Add ${site}`}
        busy={changes.locked}
        onClick={() => void (isAdded ? changes.remove : changes.add)(sourceOf(site), [site])}
      >
        {words}
      </Button>
    );
  }
  return (
    <li class="item">
      <span class="named">
        <SiteName site={origin} />
        <span class="reason">
          <Replaceable by={state}>{reason}</Replaceable>
        </span>
        <small>
          {countWords(row)}, last on {instantWords(last_seen)}
        </small>
      </span>
      {!readOnly && <span class="acts">{shown.map(button)}</span>}
      {shown.map((site) => (
        <ChangeFailure key={site} changes={changes} source={sourceOf(site)} />
      ))}
    </li>
  );
}
