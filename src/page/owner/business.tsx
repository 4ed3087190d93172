// One business: its usage, domains, token, limits and changes.
import { useState } from 'hono/jsx/dom';
import type { Business, ListedBusiness } from './api.ts';
import { Changes } from './changes.tsx';
import { Domains } from './domains.tsx';
import { Limits } from './limits.tsx';
import { FailureNotice, Loading, Status, Title } from './parts.tsx';
import { useQuery } from './query.ts';
import { businessesHref } from './route.ts';
import type { Session } from './session.ts';
import { Token } from './token.tsx';
import { Usage } from './usage.tsx';

const LOADING_ROWS = 4;

/** `opened` is the business that was opened last, as it was listed. */
type Props = { session: Session; id: number; opened: ListedBusiness | null };

export function BusinessView({ session, id, opened }: Props) {
  const { api, kept } = session;
  const [revision, setRevision] = useState(0);
  const { data, failure, reload, setData } = useQuery(() => api.business(id), [id]);
  const seen = data ?? (opened?.id === id ? opened : null);
  const countRevision = () => setRevision((count) => count + 1);
  const editor = {
    api,
    readOnly: kept.readOnly,
    onChanged: (business: Business) => {
      setData(business);
      countRevision();
    },
    reload: () => {
      reload();
      countRevision();
    },
  };
  const unknown = failure?.status === 401;

  return (
    <>
      <p class="back">
        <a href={businessesHref(0)}>← Businesses</a>
      </p>
      <div class="heading named-title">
        <Title name={seen?.name ?? `Business ${id}`}>{seen?.name ?? `Business ${id}`}</Title>
        {seen && <Status status={seen.status} />}
      </div>
      {seen && (
        <p class="sub">
          {seen.main_domain} · id {`${id}`}
        </p>
      )}
      {seen && seen.status !== 'active' && (
        <p class="notice">This business is {seen.status}: its token is refused everywhere, and no use is recorded.</p>
      )}
      {unknown ? (
        <p class="card empty">There is no business {`${id}`} that you can see here.</p>
      ) : data === null ? (
        failure === null ? (
          <Loading rows={LOADING_ROWS} />
        ) : (
          <FailureNotice failure={failure} reload={reload} />
        )
      ) : (
        <>
          <Usage key="usage" api={api} business={data} />
          <Limits key="limits" api={api} id={id} />
          <Domains key="domains" {...editor} business={data} />
          <Token key="token" {...editor} business={data} />
          <Changes key="changes" api={api} id={id} revision={revision} />
        </>
      )}
    </>
  );
}
