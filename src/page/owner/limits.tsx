// The limits of a business and what is left of them. Nothing is shown for a business without any.
import type { Api } from './api.ts';
import { FailureNotice, Section } from './parts.tsx';
import { useQuery } from './query.ts';
import { number, plural } from './words.ts';

export function Limits({ api, id }: { api: Api; id: number }) {
  const { data, failure, reload } = useQuery(async () => (await api.listed(id))?.limits ?? null, [id]);
  if (failure !== null && data === null) {
    return (
      <Section id="limits" title="Limits">
        <FailureNotice failure={failure} reload={reload} />
      </Section>
    );
  }
  if (data === null) return null;
  const verb = data.remaining === 1 ? 'is' : 'are';
  const left =
    data.remaining === 0 ? 'None are left: the next use is refused.' : `${plural(data.remaining, 'use')} ${verb} left.`;
  return (
    <Section id="limits" title="Limits" note={`${left} Days and months are UTC.`}>
      <div class="meters">
        {data.daily !== null && <Meter name="Today" used={data.today ?? 0} limit={data.daily} />}
        {data.monthly !== null && <Meter name="This month" used={data.month ?? 0} limit={data.monthly} />}
      </div>
    </Section>
  );
}

function Meter({ name, used, limit }: { name: string; used: number; limit: number }) {
  const isFull = used >= limit;
  return (
    <div class={isFull ? 'meter full' : 'meter'}>
      <span>{name}</span>
      <span>
        <b>{number(used)}</b> of {number(limit)}
      </span>
      <progress aria-label={`Uses, ${name.toLowerCase()}`} max={Math.max(1, limit)} value={limit === 0 ? 1 : used} />
    </div>
  );
}
