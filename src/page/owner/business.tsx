// One business: its usage, domains, token, limits and changes.
import { useState } from 'hono/jsx/dom';
import type { Business as Answered } from './api.ts';
import { useAsked } from './asked.ts';
import { Changes } from './changes.tsx';
import { Domains } from './domains.tsx';
import { Limits } from './limits.tsx';
import { Failed, Loading, Status, Title } from './parts.tsx';
import { businessesHref } from './route.ts';
import type { Session } from './session.ts';
import { Token } from './token.tsx';
import { Usage } from './usage.tsx';

const LOADING_ROWS = 4;

export function Business({ session, id }: { session: Session; id: number }) {
  const { api, readOnly } = session;
  const [changed, setChanged] = useState(0);
  const known = session.first.businesses.find((business) => business.id === id);
  const { data, failure, again, put } = useAsked(() => api.business(id), [id]);
  const seen = data ?? known;
  /** After a change, what the service says. After a failure nobody knows, so it is asked. */
  function onChanged(business: Answered | null): void {
    if (business === null) again();
    else put(business);
    setChanged((count) => count + 1);
  }
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
        <p class="card empty">There is no business {`${id}`} for this key.</p>
      ) : data === null ? (
        failure === null ? (
          <Loading rows={LOADING_ROWS} />
        ) : (
          <Failed failure={failure} again={again} />
        )
      ) : (
        <>
          <Usage key="usage" api={api} business={data} />
          <Limits key="limits" api={api} id={id} />
          <Domains key="domains" api={api} business={data} readOnly={readOnly} onChanged={onChanged} />
          <Token key="token" api={api} business={data} readOnly={readOnly} onChanged={onChanged} />
          <Changes key="changes" api={api} id={id} changed={changed} />
        </>
      )}
    </>
  );
}
