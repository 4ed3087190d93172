// Lists recently refused origins, which may be sites that the owner has not registered yet. Those that look like the owner's come first.
import { useRef, useState } from 'preact/hooks';
import type { RefusedOrigin } from '../../../sites/description.ts';
import { Confirm } from '../confirm.tsx';
import { useFocusFallback } from '../focus.ts';
import { plural } from '../formats.ts';
import { Button, FailureNotice, Section } from '../parts.tsx';
import type { TabProps } from '../session.ts';
import { canHaveOneOwner, siteCovering } from './address.ts';
import { AddAll, OriginRows } from './origin-rows.tsx';
import { explainRefusal } from './refusal.ts';
import { useSeenRows } from './seen-rows.ts';
import type { SiteChanges } from './site-changes.tsx';

const ADD_ALL = 'all that look like yours';

type Props = TabProps & { isActive: boolean; sites: string[]; changes: SiteChanges };

export function Refused({ api, business, refused, readOnly, isActive, sites, changes }: Props) {
  const { data, failure, reload } = refused;
  const [isForgetting, setForgetting] = useState(false);
  const [sitesBefore] = useState(sites);
  const [ownSites] = useState([...sites, `https://${business.main_domain}`].filter(canHaveOneOwner));
  const root = useRef<HTMLDivElement>(null);
  const listed = data?.refused ?? [];
  const seen = useSeenRows(listed, ({ origin }) => origin);
  const rows = [...seen.values()];
  const own = rows.filter(({ origin }) => explainRefusal(origin, ownSites).isOwn);
  const others = rows.filter((row) => !own.includes(row));
  const countWords = (rows: RefusedOrigin[]): string => {
    const left = rows.filter(({ origin }) => siteCovering(origin, sites) === undefined);
    return left.length > 0 && sites.length > 0 ? `(${left.length})` : '';
  };
  const list = { sites, sitesBefore, readOnly, changes };

  const title = () => root.current?.querySelector('h2');
  useFocusFallback(root, title);

  async function forget(): Promise<void> {
    const forgotten = await api.forgetRefused(business.id);
    seen.clear();
    refused.setData(forgotten);
  }

  return (
    <div ref={root}>
      <Section id="refused" title="Recently refused">
        {failure !== null && data === null && <FailureNotice failure={failure} reload={reload} />}
        {data !== null && rows.length === 0 && (
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
                  <AddAll {...list} rows={own} source={ADD_ALL} />
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
        </Confirm>
      )}
    </div>
  );
}
