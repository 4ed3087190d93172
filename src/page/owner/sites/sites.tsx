// The Domains tab: adds and removes domains, checks an origin, and lists refused origins. A row stays in place until the owner leaves the
// tab, and what can grow is below what is pressed, so no row moves under the pointer.
import { useState } from 'preact/hooks';
import { dayOf } from '../../../core/time.ts';
import { fullDays } from '../../scale.ts';
import { now } from '../clock.ts';
import { Confirm } from '../confirm.tsx';
import { plural } from '../formats.ts';
import { Button, Loading, Section } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { DEFAULT_CHOICE, rangeOfChoice } from '../ranges.ts';
import type { TabProps } from '../session.ts';
import { SiteName } from '../site-name.tsx';
import { readSources } from '../source-uses.ts';
import { LetIn } from './let-in.tsx';
import { OriginCheck } from './origin-check.tsx';
import { Refused } from './refused.tsx';
import { useSeenRows } from './seen-rows.ts';
import { ChangeFailure, EVERYWHERE, useSiteChanges } from './site-changes.tsx';
import { SiteForm } from './site-form.tsx';
import { SiteList } from './site-list.tsx';

const UNRESTRICTED = 'No domains are registered, so the token works on every site and on servers.';
const RESTRICTED = 'The token works only on pages of these sites.';
const INACTIVE = 'The token does not work while the business is not active.';
const ALL = 'all';
const LOADING_ROWS = 4;

export function Sites(props: TabProps) {
  const { data, failure } = props.refused;
  return data === null && failure === null ? <Loading rows={LOADING_ROWS} /> : <LoadedSites {...props} />;
}

/** Refused origins come first if there are any when the view opens. Those that appear later are added below, so that nothing moves. */
function LoadedSites(props: TabProps) {
  const { api, business, readOnly, query, reload, revision } = props;
  const changes = useSiteChanges(props);
  const { locked, cleared, confirming } = changes;
  const sites = business.access_list.map(({ site }) => site);
  const rows = useSeenRows(sites, (site) => site);
  const isActive = business.status === 'active';
  const isOpen = sites.length === 0;
  const origins = (isOpen && props.refused.data?.let_in) || [];
  const today = dayOf(new Date(now()));
  const range = rangeOfChoice(DEFAULT_CHOICE, today);
  const uses = useQuery(rows.size === 0 ? null : today, revision, () =>
    readSources((days) => api.sources(business.id, days), fullDays(range, today) ?? range, today),
  );
  const [isRefusedFirst] = useState((props.refused.data?.refused.length ?? 0) > 0);
  const isCleared = cleared?.source === ALL && sites.length === 0;

  const refused = <Refused {...props} isActive={isActive} sites={sites} changes={changes} />;
  return (
    <div class="domains-view">
      {isRefusedFirst && refused}
      <Section
        id="domains"
        title="Domains"
        note={isActive ? (sites.length === 0 ? UNRESTRICTED : RESTRICTED) : INACTIVE}
      >
        {!readOnly && <SiteForm sites={sites} origins={origins} changes={changes} />}
        <LetIn origins={props.refused.data?.let_in ?? []} sites={sites} readOnly={readOnly} changes={changes} />
        <SiteList
          rows={[...rows.values()]}
          sites={sites}
          wanted={query.get('q') ?? ''}
          readOnly={readOnly}
          changes={changes}
          uses={uses.data}
          newSites={
            new Map(
              business.access_list.flatMap((one) => (one.created_at < range.from ? [] : [[one.site, one.created_at]])),
            )
          }
        />
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
      <OriginCheck isActive={isActive} limits={business.limits} sites={sites} readOnly={readOnly} changes={changes} />
      {!isRefusedFirst && refused}
      {confirming !== null && (
        <Confirm
          title={sites.length > 1 ? 'Remove all domains?' : 'Remove the last domain?'}
          action="Let the token work everywhere"
          doing="Removing…"
          work={changes.removeAll}
          onFailure={reload}
          onClose={changes.closeDialog}
          next={() => document.getElementById('site')}
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
