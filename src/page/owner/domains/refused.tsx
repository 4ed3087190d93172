// The origins that were refused lately: a hint at pages that may still have to be registered, and nothing more. Whatever passes by now
// stays in its place until the view is left.
import { useRef, useState } from 'preact/hooks';
import type { RefusedOrigin } from '../../../wire/responses.ts';
import type { Api } from '../api.ts';
import { Confirm } from '../confirm.tsx';
import { useKeptFocus } from '../focus.ts';
import { instantWords, plural } from '../formats.ts';
import { Button, FailureNotice, Loading, Section, useArmed } from '../parts.tsx';
import type { RoomProps } from '../session.ts';
import { siteCovering } from './address.ts';
import type { DomainChanges } from './domain-changes.ts';
import { PlaceFailure } from './place-failure.tsx';
import { refusalOf } from './refusal.ts';
import { useSeen } from './seen.ts';
import { SiteName } from './site-name.tsx';

const LOADING_ROWS = 2;
const SHOW_AGAIN = 'Show again';

type Props = Pick<RoomProps, 'readOnly' | 'refused' | 'dismissed' | 'setDismissed'> & {
  api: Api;
  id: number;
  isActive: boolean;
  sites: string[];
  changes: DomainChanges;
};

export function Refused({ api, id, isActive, sites, refused, dismissed, setDismissed, readOnly, changes }: Props) {
  const { data, failure, busy, reload } = refused;
  const [isForgetting, setForgetting] = useState(false);
  /** What was registered for an origin here, by origin. */
  const [added, setAdded] = useState<ReadonlyMap<string, string>>(new Map());
  const root = useRef<HTMLDivElement>(null);
  /** The name of the button that gets the focus when the one that was pressed is gone. */
  const nextFocus = useRef('');
  const armed = useArmed(`${dismissed.size}`);
  const listed = data ?? [];
  const seen = useSeen(listed, ({ origin }) => origin);
  const isListed = (origin: string) => listed.some((one) => one.origin === origin);
  // Until the list is read again, it may still leave out an origin that passed when it was read and is refused now.
  const isOld = busy || failure !== null;
  const passes = (origin: string) => sites.length === 0 || siteCovering(origin, sites) !== undefined;
  const rows = [...seen.values()].filter(({ origin }) => {
    const stays = isListed(origin) || (passes(origin) && sites.length > 0) || changes.busy === placeOf(origin) || isOld;
    return stays && !dismissed.has(origin);
  });
  const hidden = listed.filter(({ origin }) => dismissed.has(origin));

  const title = () => root.current?.querySelector('h2');
  useKeptFocus(root, () => {
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
  /** A row that passes has less to say and to press: without this, the next one would get under the pointer. */
  function keepHeights(): void {
    for (const row of root.current?.querySelectorAll('li') ?? [])
      row.style.minHeight = `${row.getBoundingClientRect().height}px`;
  }
  function add(origin: string, site: string): void {
    keepHeights();
    setAdded((before) => new Map(before).set(origin, site)); // from now on: Undo appears with the answer
    void changes.add(placeOf(origin), [site]);
  }
  function forgotten(succeeded: boolean): void {
    setForgetting(false);
    if (succeeded) seen.clear();
    reload();
  }

  return (
    <div ref={root}>
      <Section id="refused" title="Refused lately">
        {failure !== null && <FailureNotice failure={failure} reload={reload} />}
        {data === null && failure === null && <Loading rows={LOADING_ROWS} />}
        {data !== null && rows.length + hidden.length === 0 && (
          <p class="none">
            {isActive && sites.length === 0
              ? 'Nothing is refused while no domain is registered.'
              : 'No origin was refused lately.'}
          </p>
        )}
        {rows.length > 0 && (
          <>
            <p class="note">
              Pages of these sites tried to use the token and were refused.{' '}
              <b>Whoever has the token can make an entry appear here:</b> add only sites that are yours.
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
              {hidden.length} dismissed, until this page is closed.{' '}
              <Button class="link" busy={!armed} onClick={showAgain}>
                {SHOW_AGAIN}
              </Button>
            </>
          )}
        </p>
        {!readOnly && data !== null && data.length > 0 && (
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
          work={async () => void (await api.forgetRefused(id))}
          onClose={forgotten}
          next={title}
        >
          <p>
            The service forgets the whole list, with its counts. An origin that tries again comes back as a new one.
          </p>
          <p>To hide single ones, use “Dismiss”.</p>
        </Confirm>
      )}
    </div>
  );
}

const placeOf = (origin: string): string => `refused ${origin}`;
const undoLabel = (origin: string, site: string): string =>
  `Undo: remove ${site}${site === origin ? '' : `, which was added for ${origin}`}`;

type RowProps = {
  refused: RefusedOrigin;
  sites: string[];
  /** The site that was added here for this origin. */
  added: string | undefined;
  passes: boolean;
  isArmed: boolean;
  readOnly: boolean;
  changes: DomainChanges;
  add: (origin: string, site: string) => void;
  dismiss: (origin: string) => void;
};

function RefusedRow({ refused, sites, added, passes, isArmed, readOnly, changes, add, dismiss }: RowProps) {
  const { origin, count, last_seen } = refused;
  const place = placeOf(origin);
  const { reason, offers } = refusalOf(origin, sites);
  const undone = added !== undefined && sites.includes(added) ? added : null;
  return (
    <li class={`item${passes ? ' passing' : ''}`}>
      <span class="named">
        <SiteName site={origin} />
        <span class="reason">{passes ? 'Passes now.' : reason}</span>
        <small>
          at least {plural(count, 'time')}, last on {instantWords(last_seen)}
        </small>
      </span>
      {!readOnly && (
        <span class="acts">
          {undone === null
            ? !passes &&
              offers.map((site) => (
                <Button
                  key={site}
                  class="quiet"
                  label={`Add ${site}`}
                  busy={changes.locked || !isArmed}
                  onClick={() => add(origin, site)}
                >
                  {changes.busy === place && added === site ? 'Adding…' : site === origin ? 'Add' : `Add ${site}`}
                </Button>
              ))
            : // By its key, the button that was pressed becomes Undo, and keeps the focus.
              [
                <Button
                  key={undone}
                  class="quiet"
                  label={undoLabel(origin, undone)}
                  busy={changes.locked}
                  onClick={() => void changes.remove(place, [undone])}
                >
                  {changes.busy === place ? 'Removing…' : 'Undo'}
                </Button>,
              ]}
          {!passes && (
            <Button class="quiet" label={`Dismiss ${origin}`} busy={!isArmed} onClick={() => dismiss(origin)}>
              Dismiss
            </Button>
          )}
        </span>
      )}
      <PlaceFailure changes={changes} place={place} />
    </li>
  );
}
