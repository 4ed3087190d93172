// The rows of a list of businesses, each with its uses of 30 days.
import { sum } from '../scale.ts';
import type { ListedBusiness } from './api.ts';
import { Status } from './parts.tsx';
import { businessHref } from './route.ts';
import type { Memory } from './session.ts';
import { Sparkline } from './sparkline.tsx';
import { compact, plural } from './words.ts';

type Props = { businesses: ListedBusiness[]; empty: string; busy: boolean; memory: Memory };

export function BusinessList({ businesses, empty, busy, memory }: Props) {
  function leave(business: ListedBusiness): void {
    memory.tops.set(location.hash, scrollY);
    memory.opened = business;
  }
  if (businesses.length === 0) return <p class="card empty">{empty}</p>;
  return (
    <div class="card list" aria-busy={busy ? 'true' : undefined}>
      <p class="columns" aria-hidden="true">
        <span>Business</span>
        <span>Uses in 30 days</span>
      </p>
      <ul>
        {businesses.map((business) => (
          <Row key={business.id} business={business} leave={() => leave(business)} />
        ))}
      </ul>
    </div>
  );
}

function Row({ business, leave }: { business: ListedBusiness; leave: () => void }) {
  const { id, name, main_domain, status, used } = business;
  const total = sum(used);
  return (
    <li>
      <a class="row" href={businessHref(id)} onClick={leave}>
        <span class="named">
          <b class="label">{name}</b>
          <small>
            {main_domain} · {`${id}`}
          </small>
        </span>
        <Status status={status} />
        <Sparkline used={used} />
        <span class="count" title={plural(total, 'use')}>
          {compact(total)}
          <span class="sr-only">{total === 1 ? ' use' : ' uses'} in 30 days</span>
        </span>
      </a>
    </li>
  );
}
