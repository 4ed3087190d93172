// The Domains tab: adds and removes domains, checks an origin, and lists refused origins. Removed rows stay in place until the owner leaves
// the tab, so no other row moves under the pointer.
import { useEffect, useRef, useState } from 'preact/hooks';
import { addDays, dayOf } from '../../../core/time.ts';
import { now } from '../clock.ts';
import { Confirm } from '../confirm.tsx';
import { plural } from '../formats.ts';
import { Button, Section } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { setQuery } from '../route.ts';
import type { TabProps } from '../session.ts';
import { ChangeFailure, EVERYWHERE, useDomainChanges } from './domain-changes.tsx';
import { DomainForm } from './domain-form.tsx';
import { DAYS, DomainList, SiteName } from './domain-list.tsx';
import { LetIn } from './let-in.tsx';
import { OriginCheck } from './origin-check.tsx';
import { Refused } from './refused.tsx';
import { useScrollAnchor, useStableRows } from './stable-layout.ts';

const UNRESTRICTED = 'No domains are registered, so the token works on every site and on servers.';
const RESTRICTED = 'The token works only on pages of these sites.';
const INACTIVE = 'The token does not work while the business is not active.';
const ALL = 'all';

export function Domains(props: TabProps) {
  const { api, business, readOnly, query, reload, revision } = props;
  const changes = useDomainChanges(props);
  const { locked, cleared, confirming } = changes;
  const [revealed, setRevealed] = useState<string | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const releaseAnchor = useScrollAnchor(root);
  const sites = business.access_list.map(({ site }) => site);
  const rows = useStableRows(sites, (site) => site);
  const isShown = (site: string) => sites.includes(site) || changes.touched.has(site);
  const isActive = business.status === 'active';
  const isOpen = sites.length === 0;
  const origins = (isOpen && props.refused.data?.let_in) || [];
  const today = dayOf(new Date(now()));
  const days = { from: addDays(today, 1 - DAYS), to: today };
  const uses = useQuery(`${revision} ${today} ${isOpen}`, () => (isOpen ? null : api.sources(business.id, days)));
  const isCleared = cleared?.source === ALL && sites.length === 0;

  useEffect(() => {
    if (revealed === null) return;
    releaseAnchor();
    root.current?.querySelector('.revealed')?.scrollIntoView({ block: 'nearest' });
  }, [revealed]);

  function reveal(site: string | null): void {
    if (site !== null) setQuery({ q: null }, 'replace'); // the filter may hide the site
    setRevealed(site);
  }

  return (
    <div ref={root} class="domains-view">
      <Section
        id="domains"
        title="Domains"
        note={isActive ? (sites.length === 0 ? UNRESTRICTED : RESTRICTED) : INACTIVE}
      >
        <DomainList
          rows={[...rows.values()].filter(isShown)}
          sites={sites}
          wanted={query.get('q') ?? ''}
          revealed={revealed}
          readOnly={readOnly}
          changes={changes}
          uses={uses.data}
        />
        <LetIn origins={origins} readOnly={readOnly} changes={changes} />
        {!readOnly && <DomainForm sites={sites} origins={origins} changes={changes} reveal={reveal} />}
        <p class="sr-only" role="status">
          {changes.done}
        </p>
        {!readOnly && (sites.length > 1 || isCleared) && (
          <div class="foot">
            <p class="done">{isCleared && EVERYWHERE}</p>
            <Button
              class={isCleared ? 'quiet' : 'quiet danger-text'}
              busy={locked}
              onClick={() => (isCleared ? void changes.add(ALL, cleared.sites) : changes.confirmRemoveAll(ALL))}
            >
              {changes.busy === ALL
                ? 'Adding…'
                : isCleared
                  ? `Undo: add ${plural(cleared.sites.length, 'domain')} again`
                  : 'Remove all domains…'}
            </Button>
          </div>
        )}
        <ChangeFailure changes={changes} source={ALL} />
      </Section>
      <OriginCheck isActive={isActive} sites={sites} readOnly={readOnly} changes={changes} />
      <Refused {...props} isActive={isActive} sites={sites} changes={changes} />
      {confirming !== null && (
        <Confirm
          title={sites.length > 1 ? 'Remove all domains?' : 'Remove the last domain?'}
          action="Let the token work everywhere"
          doing="Removing…"
          work={changes.removeAll}
          onFailure={reload}
          onClose={changes.closeDialog}
          next={() => document.getElementById(confirming === 'check' ? 'origin' : 'site')}
        >
          <p>
            Without any domains, the token of this business works on <b>every</b> site: anyone who copies it from one of
            your pages can use it on their own pages.
          </p>
          <p>
            {sites.length === 0
              ? 'No registered domains are left.'
              : `This takes effect with the next request. It removes ${plural(sites.length, 'domain')}:`}
          </p>
          <ul class="going">
            {sites.map((site) => (
              <li key={site}>
                <SiteName site={site} />
              </li>
            ))}
          </ul>
        </Confirm>
      )}
    </div>
  );
}
