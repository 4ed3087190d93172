// Lists recently refused origins, which may be sites that the owner has not registered yet. Origins that have since been allowed stay in
// the list until the owner leaves the tab.
import { useRef, useState } from 'preact/hooks';
import type { RefusedOrigin } from '../../../access/description.ts';
import { Confirm } from '../confirm.tsx';
import { useFocusFallback } from '../focus.ts';
import { instantWords, plural } from '../formats.ts';
import { Button, FailureNotice, Loading, Section, useArmed } from '../parts.tsx';
import type { TabProps } from '../session.ts';
import { siteCovering } from './address.ts';
import { ChangeFailure, type DomainChanges } from './domain-changes.tsx';
import { SiteName } from './domain-list.tsx';
import { explainRefusal } from './refusal.ts';
import { useStableRows } from './stable-layout.ts';

const LOADING_ROWS = 2;
const SHOW_AGAIN = 'Show again';

type Props = TabProps & { isActive: boolean; sites: string[]; changes: DomainChanges };

export function Refused({ api, business, isActive, sites, changes, ...props }: Props) {
  const { refused, dismissed, setDismissed, readOnly } = props;
  const { data, failure, busy, reload } = refused;
  const [isForgetting, setForgetting] = useState(false);
  /** The sites that were added in this view, keyed by origin. */
  const [added, setAdded] = useState<ReadonlyMap<string, string>>(new Map());
  const root = useRef<HTMLDivElement>(null);
  /** The label of the button to focus when the pressed one disappears. */
  const nextFocus = useRef('');
  const armed = useArmed(`${dismissed.size}`);
  const listed = data?.refused ?? [];
  const stableRows = useStableRows(listed, ({ origin }) => origin);
  const isListed = (origin: string) => listed.some((one) => one.origin === origin);
  // A stale list can be missing an origin that was allowed when the list was read but is refused now.
  const isStale = busy || failure !== null;
  const passes = (origin: string) => sites.length === 0 || siteCovering(origin, sites) !== undefined;
  const rows = [...stableRows.values()].filter(({ origin }) => {
    const isPassing = passes(origin) && sites.length > 0;
    const stays = isListed(origin) || isPassing || changes.busy === sourceOf(origin) || isStale;
    return stays && !dismissed.has(origin);
  });
  const hidden = listed.filter(({ origin }) => dismissed.has(origin));

  const title = () => root.current?.querySelector('h2');
  useFocusFallback(root, () => {
    const buttons = [...(root.current?.querySelectorAll('button') ?? [])];
    return buttons.find(({ ariaLabel, textContent }) => (ariaLabel ?? textContent) === nextFocus.current) ?? title();
  });

  function dismiss(origin: string): void {
    const next = rows[rows.findIndex((row) => row.origin === origin) + 1];
    nextFocus.current = next === undefined ? SHOW_AGAIN : `Dismiss ${next.origin}`;
    setDismissed(new Set(dismissed).add(origin));
  }
  function showAgain(): void {
    nextFocus.current = `Dismiss ${hidden[0]?.origin}`;
    setDismissed(new Set());
  }
  /** Fixes the row heights. Otherwise, a row would shrink once its origin is allowed, and move the next row under the pointer. */
  function keepHeights(): void {
    for (const row of root.current?.querySelectorAll('li') ?? [])
      row.style.minHeight = `${row.getBoundingClientRect().height}px`;
  }
  function add(origin: string, site: string): void {
    keepHeights();
    setAdded((before) => new Map(before).set(origin, site)); // before the response arrives, so Undo appears with the response
    void changes.add(sourceOf(origin), [site]);
  }
  function closeDialog(succeeded: boolean): void {
    setForgetting(false);
    if (succeeded) stableRows.clear();
    reload();
  }

  return (
    <div ref={root}>
      <Section id="refused" title="Recently refused">
        {failure !== null && <FailureNotice failure={failure} reload={reload} />}
        {data === null && failure === null && <Loading rows={LOADING_ROWS} />}
        {data !== null && rows.length + hidden.length === 0 && (
          <p class="none">
            {isActive && sites.length === 0
              ? 'Nothing is refused while no domains are registered.'
              : 'No origins were refused recently.'}
          </p>
        )}
        {rows.length > 0 && (
          <>
            <p class="note">
              Pages of these sites tried to use the token and were refused.{' '}
              <b>Anyone who has the token can make an entry appear here:</b> add only your own sites.
            </p>
            <ul class="rows">
              {rows.map((one) => (
                <RefusedRow
                  key={one.origin}
                  refused={one}
                  sites={sites}
                  added={added.get(one.origin)}
                  passes={passes(one.origin)}
                  isArmed={armed}
                  readOnly={readOnly}
                  changes={changes}
                  add={add}
                  dismiss={dismiss}
                />
              ))}
            </ul>
          </>
        )}
        <p class="note hidden-ones" role="status">
          {hidden.length > 0 && (
            <>
              {hidden.length} dismissed until you close this page.{' '}
              <Button class="link" busy={!armed} onClick={showAgain}>
                {SHOW_AGAIN}
              </Button>
            </>
          )}
        </p>
        {!readOnly && listed.length > 0 && (
          <div class="foot">
            <Button class="quiet danger-text" onClick={() => setForgetting(true)}>
              Forget all…
            </Button>
          </div>
        )}
      </Section>
      {isForgetting && (
        <Confirm
          title="Forget all refused origins?"
          action={`Forget ${plural(listed.length, 'origin')}`}
          doing="Forgetting…"
          work={async () => void (await api.forgetRefused(business.id))}
          onClose={closeDialog}
          next={title}
        >
          <p>The service forgets the whole list and its counts. An origin that tries again is listed as new.</p>
          <p>To hide a single origin, use “Dismiss”.</p>
        </Confirm>
      )}
    </div>
  );
}

const sourceOf = (origin: string): string => `refused ${origin}`;
const undoLabel = (origin: string, site: string): string =>
  `Undo: remove ${site}${site === origin ? '' : `, which was added for ${origin}`}`;

type RowProps = Pick<Props, 'sites' | 'readOnly' | 'changes'> & {
  refused: RefusedOrigin;
  added: string | undefined;
  passes: boolean;
  isArmed: boolean;
  add: (origin: string, site: string) => void;
  dismiss: (origin: string) => void;
};

function RefusedRow({ refused, sites, added, passes, isArmed, readOnly, changes, add, dismiss }: RowProps) {
  const { origin, count, last_seen } = refused;
  const source = sourceOf(origin);
  const { reason, offers } = explainRefusal(origin, sites);
  const undoable = added !== undefined && sites.includes(added) ? added : null;
  return (
    <li class={`item${passes ? ' passing' : ''}`}>
      <span class="named">
        <SiteName site={origin} />
        <span class="reason">{passes ? 'Now passes.' : reason}</span>
        <small>
          at least {plural(count, 'time')}, last on {instantWords(last_seen)}
        </small>
      </span>
      {!readOnly && (
        <span class="acts">
          {undoable === null
            ? !passes &&
              offers.map((site) => (
                <Button
                  key={site}
                  class="quiet"
                  label={`Add ${site}`}
                  busy={changes.locked || !isArmed}
                  onClick={() => add(origin, site)}
                >
                  {changes.busy === source && added === site ? 'Adding…' : site === origin ? 'Add' : `Add ${site}`}
                </Button>
              ))
            : // With the same `key`, the pressed button becomes Undo and keeps the focus.
              [
                <Button
                  key={undoable}
                  class="quiet"
                  label={undoLabel(origin, undoable)}
                  busy={changes.locked}
                  onClick={() => void changes.remove(source, [undoable])}
                >
                  {changes.busy === source ? 'Removing…' : 'Undo'}
                </Button>,
              ]}
          {!passes && (
            <Button class="quiet" label={`Dismiss ${origin}`} busy={!isArmed} onClick={() => dismiss(origin)}>
              Dismiss
            </Button>
          )}
        </span>
      )}
      <ChangeFailure changes={changes} source={source} />
    </li>
  );
}
