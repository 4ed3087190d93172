// A business's view: its name, its warnings, and its tabs.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LISTED_DAYS } from '../../business/rules.ts';
import { addDays, dayOf } from '../../core/time.ts';
import type { Business } from '../../shown-business/description.ts';
import { Changes } from './changes/changes.tsx';
import { now } from './clock.ts';
import { dropOf } from './drop.ts';
import { Marks } from './marks.tsx';
import { monthPace } from './pace.ts';
import { Back, FailureNotice, Loading, Notice, Title } from './parts.tsx';
import { useQuery } from './query.ts';
import { Refresh, useRefresh } from './refresh.tsx';
import { businessHref } from './route.ts';
import { type Memory, NOT_READ, type ReadState, type Session, type TabProps } from './session.ts';
import { Sites } from './sites/sites.tsx';
import { TABS, type Tab } from './tabs.ts';
import { Token } from './token/token.tsx';
import { Usage } from './usage/usage.tsx';

const LOADING_ROWS = 4;
const NAMES: Record<Tab, string> = { usage: 'Usage', domains: 'Domains', token: 'Token', changes: 'Changes' };

type Props = { session: Session; id: number; tab: Tab; part: string; query: URLSearchParams; memory: Memory };

export function BusinessView({ session, id, tab, part, query, memory }: Props) {
  const { api, stored } = session;
  const { revision, refresh } = useRefresh();
  const details = useQuery('business', revision, () => api.business(id));
  const refused = useQuery('refused', revision, () => api.refused(id));
  const today = dayOf(new Date(now()));
  // The days of the list, so that both say the same about them.
  const recent = useQuery(today, revision, () => api.report(id, { from: addDays(today, 1 - LISTED_DAYS), to: today }));
  const [tabRead, setTabRead] = useState<ReadState | null>(NOT_READ);
  const read = (tab === 'usage' || tab === 'changes' ? tabRead : null) ?? details;
  const readAt = oldest(details.readAt, read.readAt);
  const { data, failure } = details;
  const sites = data?.access_list.map(({ site }) => site) ?? null;
  const known = data ?? (memory.opened?.id === id ? memory.opened : null);
  const drop = known && recent.data && dropOf(known.status, recent.data);
  const name = known?.name ?? `Business ${id}`;
  const content = useRef<HTMLDivElement>(null);
  const shown = useRef(`${tab} ${part}`);

  // When the owner switches tabs, focuses the title of the tab, or of the part that the URL names. When the view opens, the business's
  // title keeps the focus.
  useLayoutEffect(() => {
    if (shown.current === `${tab} ${part}`) return;
    shown.current = `${tab} ${part}`;
    const titles = [...(content.current?.querySelectorAll<HTMLElement>('h2, #limits-title') ?? [])];
    (titles.find(({ id }) => id === `${part}-title`) ?? content.current?.querySelector('h2'))?.focus();
  }, [tab, part]);

  function onChanged(business: Business): void {
    if (data !== null) details.setData({ ...data, ...business });
    if (data?.limits.page_overage) details.reload(); // the domains determine whether it takes effect
    refused.reload(); // and which origins are refused
  }
  const frame = { api, readOnly: stored.readOnly, query, revision, refused };
  const tabs: Record<Tab, () => ComponentChildren> = {
    usage: () => (
      <Usage
        {...frame}
        id={id}
        name={name}
        created_at={known?.created_at ?? null}
        limits={known?.limits ?? null}
        refusedByLimit={known?.refused_by_limit ?? 0}
        recent={recent}
        drop={drop}
        pace={known && recent.data && monthPace(known, recent.data, now())}
        isActive={known?.status === 'active'}
        sites={sites}
        onRead={setTabRead}
      />
    ),
    domains: () => whenRead(Sites),
    token: () => whenRead(Token),
    changes: () => <Changes {...frame} id={id} onRead={setTabRead} />,
  };
  function whenRead(View: (props: TabProps) => ComponentChildren): ComponentChildren {
    if (data !== null) return <View {...frame} business={data} onChanged={onChanged} reload={details.reload} />;
    return failure === null ? <Loading rows={LOADING_ROWS} /> : null; // the failure is shown above
  }

  if (failure?.status === 401) {
    return (
      <>
        <Back href={memory.list.href} />
        <Title name={`Business ${id}`} />
        <p class="card empty">Business {id} does not exist, or you do not have access to it.</p>
      </>
    );
  }
  return (
    <>
      <div class="trail">
        <Back href={memory.list.href} />
        <Refresh
          readAt={readAt}
          isBusy={details.busy || refused.busy || recent.busy || read.busy}
          failure={failure ?? refused.failure ?? recent.failure ?? read.failure}
          refresh={refresh}
        />
      </div>
      <div class="heading business-name">
        <Title name={name} part={NAMES[tab]} />
        {known && <Marks {...known} drop={drop} refusedOrigins={refused.data?.refused.length ?? 0} />}
      </div>
      {known && (
        <p class="sub">
          {known.main_domain} · ID {id}
        </p>
      )}
      <Notice kind="warning">
        {known &&
          known.status !== 'active' &&
          `This business is ${known.status}: its token is refused everywhere, and no uses are recorded. To make it active again, contact the service operator.`}
      </Notice>
      <nav class="rooms" aria-label="Business views">
        {TABS.map((one) => (
          <a key={one} href={businessHref(id, one)} aria-current={one === tab ? 'page' : undefined}>
            {NAMES[one]}
          </a>
        ))}
      </nav>
      {failure && data === null && <FailureNotice failure={failure} reload={refresh} />}
      <div key={tab} ref={content} class="room">
        {tabs[tab]()}
      </div>
    </>
  );
}

const oldest = (a: number | null, b: number | null) => (a === null || b === null ? null : Math.min(a, b));
