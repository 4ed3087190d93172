// The domains on which the token of a business works: add, remove, try an origin, and see which were refused. What is removed stays in
// its place until the view is left, so that nothing else gets under the pointer.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Confirm } from '../confirm.tsx';
import { plural } from '../formats.ts';
import { Button, Section } from '../parts.tsx';
import { setQuery } from '../route.ts';
import type { RoomProps } from '../session.ts';
import { EVERYWHERE, useDomainChanges } from './domain-changes.ts';
import { DomainForm } from './domain-form.tsx';
import { DomainList } from './domain-list.tsx';
import { OriginCheck } from './origin-check.tsx';
import { PlaceFailure } from './place-failure.tsx';
import { Refused } from './refused.tsx';
import { useSeen } from './seen.ts';
import { SiteName } from './site-name.tsx';
import { useSteady } from './steady.ts';

const UNRESTRICTED = 'No domain is registered: the token works on every site, and on servers.';
const RESTRICTED = 'The token works only on pages of these sites.';
const INACTIVE = 'While the business is not active, its token works nowhere.';
const ALL = 'all';

export function Domains(props: RoomProps) {
  const { api, business, readOnly, query, refused, dismissed, setDismissed, reload } = props;
  const changes = useDomainChanges(props);
  const { locked, lifted, asking } = changes;
  const [revealed, setRevealed] = useState<string | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const release = useSteady(root);
  const sites = business.access_list.map(({ site }) => site);
  const seen = useSeen(sites, (site) => site);
  const isShown = (site: string) => sites.includes(site) || changes.touched.has(site);
  const isActive = business.status === 'active';
  const isLifted = lifted?.place === ALL && sites.length === 0;

  useEffect(() => {
    if (revealed === null) return;
    release();
    root.current?.querySelector('.revealed')?.scrollIntoView({ block: 'nearest' });
  }, [revealed]);

  function reveal(site: string | null): void {
    if (site !== null) setQuery({ q: null }, 'replace'); // the filter may hide it
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
          rows={[...seen.values()].filter(isShown)}
          sites={sites}
          wanted={query.get('q') ?? ''}
          revealed={revealed}
          readOnly={readOnly}
          changes={changes}
        />
        {!readOnly && <DomainForm sites={sites} changes={changes} reveal={reveal} />}
        <p class="sr-only" role="status">
          {changes.done}
        </p>
        {!readOnly && (sites.length > 1 || isLifted) && (
          <div class="foot">
            <p class="done">{isLifted && EVERYWHERE}</p>
            <Button
              class={isLifted ? 'quiet' : 'quiet danger-text'}
              busy={locked}
              onClick={() => (isLifted ? void changes.add(ALL, lifted.sites) : changes.askToLift(ALL))}
            >
              {changes.busy === ALL
                ? 'Adding…'
                : isLifted
                  ? `Undo: add ${plural(lifted.sites.length, 'domain')} again`
                  : 'Remove all domains…'}
            </Button>
          </div>
        )}
        <PlaceFailure changes={changes} place={ALL} />
      </Section>
      <OriginCheck isActive={isActive} sites={sites} readOnly={readOnly} changes={changes} />
      <Refused
        api={api}
        id={business.id}
        isActive={isActive}
        sites={sites}
        refused={refused}
        dismissed={dismissed}
        setDismissed={setDismissed}
        readOnly={readOnly}
        changes={changes}
      />
      {asking !== null && (
        <Confirm
          title={sites.length > 1 ? 'Remove all domains?' : 'Remove the last domain?'}
          action="Let the token work everywhere"
          doing="Removing…"
          work={changes.lift}
          onFailure={reload}
          onClose={changes.closeDialog}
          next={() => document.getElementById(asking === 'check' ? 'origin' : 'site')}
        >
          <p>
            Without any domain, the token of this business works on <b>every</b> site: whoever copies it from one of
            your pages can use it on pages of their own.
          </p>
          <p>
            {sites.length === 0
              ? 'No domain is registered any more.'
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
