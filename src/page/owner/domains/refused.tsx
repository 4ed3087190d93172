// Lists recently refused origins, which may be sites that the owner has not registered yet. Those that look like the owner's come first.
import { useRef, useState } from 'preact/hooks';
import type { RefusedOrigin } from '../../../sites/description.ts';
import { Confirm } from '../confirm.tsx';
import { useFocusFallback } from '../focus.ts';
import { plural } from '../formats.ts';
import { Button, FailureNotice, Section } from '../parts.tsx';
import type { TabProps } from '../session.ts';
import { canHaveOneOwner, siteCovering } from './address.ts';
import type { DomainChanges } from './domain-changes.tsx';
import { AddAll, OriginRows } from './origin-rows.tsx';
import { explainRefusal } from './refusal.ts';
import { useSeenRows } from './seen-rows.ts';

const ADD_ALL = 'all that look like yours';

type Props = TabProps & { isActive: boolean; sites: string[]; changes: DomainChanges };

export function Refused({ api, business, isActive, sites, changes, ...props }: Props) {
  const { refused, dismissed, setDismissed, readOnly } = props;
  const { data, failure, reload } = refused;
  const [isForgetting, setForgetting] = useState(false);
  const [sitesBefore] = useState(sites);
  const [ownSites] = useState([...sites, `https://${business.main_domain}`].filter(canHaveOneOwner));
  /** The origins that are not shown because they were dismissed earlier. */
  const [hidden, setHidden] = useState(dismissed);
  const root = useRef<HTMLDivElement>(null);
  const listed = data?.refused ?? [];
  const seen = useSeenRows(listed, ({ origin }) => origin);
  const rows = [...seen.values()].filter(({ origin }) => !hidden.has(origin));
  const own = rows.filter(({ origin }) => explainRefusal(origin, ownSites).isOwn);
  const others = rows.filter((row) => !own.includes(row));
  const countWords = (rows: RefusedOrigin[]): string => {
    const left = rows.filter(({ origin }) => !dismissed.has(origin) && siteCovering(origin, sites) === undefined);
    return left.length > 0 && sites.length > 0 ? `(${left.length})` : '';
  };
  const list = { sites, sitesBefore, readOnly, changes, dismissed, setDismissed: dismiss };
  const hiddenCount = listed.filter(({ origin }) => hidden.has(origin)).length;

  const title = () => root.current?.querySelector('h2');
  useFocusFallback(root, title);

  function dismiss(origin: string, isDismissed: boolean): void {
    const others = [...dismissed].filter((one) => one !== origin);
    setDismissed(new Set(isDismissed ? [...others, origin] : others));
  }
  function showAgain(): void {
    setDismissed(new Set([...dismissed].filter((origin) => !hidden.has(origin))));
    setHidden(new Set());
  }
  async function forget(): Promise<void> {
    const forgotten = await api.forgetRefused(business.id);
    seen.clear();
    refused.setData(forgotten);
  }

  return (
    <div ref={root}>
      <Section id="refused" title="Recently refused">
        {failure !== null && data === null && <FailureNotice failure={failure} reload={reload} />}
        {data !== null && rows.length + hiddenCount === 0 && (
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
            {own.length > 0 && (
              <>
                <div class="group">
                  <h3>Looks like yours {countWords(own)}</h3>
                  <AddAll {...list} rows={own.filter(({ origin }) => !dismissed.has(origin))} source={ADD_ALL} />
                </div>
                <OriginRows {...list} rows={own} />
              </>
            )}
            {others.length > 0 && (
              <details open={own.length === 0}>
                <summary>Other sites {countWords(others)}</summary>
                <OriginRows {...list} rows={others} />
              </details>
            )}
          </>
        )}
        <p class="note hidden-ones" role="status">
          {hiddenCount > 0 && (
            <>
              {hiddenCount} dismissed in this browser.{' '}
              <Button class="link" onClick={showAgain}>
                Show again
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
          work={forget}
          onFailure={reload}
          onClose={() => setForgetting(false)}
          next={title}
        >
          <p>The service forgets the whole list and its counts. An origin that tries again is listed as new.</p>
          <p>To hide a single origin, use “Dismiss”.</p>
        </Confirm>
      )}
    </div>
  );
}
