// The table of businesses, with warnings, growth, and uses.
import type { ListedBusiness } from '../../../business/description.ts';
import { SHOWN_DAYS } from '../../scale.ts';
import { dropOf } from '../drop.ts';
import { changeWords, compact, dayWords, number, plural, rangeWords } from '../formats.ts';
import { Marks } from '../marks.tsx';
import { AS } from '../parts.tsx';
import { businessHref } from '../route.ts';
import { type Growth, growthOf } from './growth.ts';
import { Month } from './month.tsx';
import type { Order } from './order.ts';
import { Sparkline } from './sparkline.tsx';

type Props = {
  businesses: readonly ListedBusiness[];
  order: Order;
  onOpen: (business: ListedBusiness) => void;
};

export function BusinessList({ businesses, order, onOpen }: Props) {
  const sorted = (by: Order, direction: 'ascending' | 'descending') => (by === order ? direction : undefined);
  return (
    <table class="card list" aria-label="Businesses" {...AS.table}>
      <thead {...AS.rows}>
        <tr {...AS.row}>
          <th {...AS.column} aria-sort={sorted('name', 'ascending')}>
            Business
          </th>
          <th {...AS.column}>
            <span class="sr-only">Needs attention</span>
          </th>
          <th {...AS.column} class="trend" aria-sort={sorted('growth', 'descending')}>
            Growth
          </th>
          <th {...AS.column} class="count" aria-sort={sorted('uses', 'descending')}>
            Uses in {SHOWN_DAYS} days
          </th>
          <th {...AS.column} class="month">
            This billing month
          </th>
        </tr>
      </thead>
      <tbody {...AS.rows}>
        {businesses.map((business) => (
          <Row
            key={business.id}
            business={business}
            showsChange={order === 'changed'}
            onOpen={() => onOpen(business)}
          />
        ))}
      </tbody>
    </table>
  );
}

type RowProps = { business: ListedBusiness; showsChange: boolean; onOpen: () => void };

function Row({ business, showsChange, onOpen }: RowProps) {
  const { id, name, main_domain, status, updated_at, used } = business;
  const growth = growthOf(business);
  const { total } = growth.now;
  function press(event: MouseEvent): void {
    if (event.detail > 1)
      event.preventDefault(); // a double click on “Show more” puts a row under the pointer
    else onOpen();
  }
  return (
    <tr class="row" {...AS.row}>
      <th class="named" {...AS.name}>
        <a class="label" href={businessHref(id)} title={name} onClick={press}>
          <span class="two-lines">{name}</span>
        </a>
        <small>
          {main_domain} · {id}
          {showsChange && ` · changed ${dayWords(updated_at)}`}
        </small>
      </th>
      <td class="marks" {...AS.cell}>
        <Marks {...business} drop={dropOf(status, used)} refusedOrigins={business.refused_origins} onPress={press} />
      </td>
      <td class="trend" {...AS.cell}>
        <Sparkline used={growth.now.days} />
        <Change {...growth} />
      </td>
      <td class="count" title={plural(total, 'use')} {...AS.cell}>
        {compact(total)}
      </td>
      <td class="month" {...AS.cell}>
        <Month business={business} />
      </td>
    </tr>
  );
}

function Change({ now, before, since }: Growth) {
  const earlier = before ? `${number(before.total)} ${rangeWords(before)}` : `no data before ${dayWords(since)}`;
  const compared = `${plural(now.total, 'use')} ${rangeWords(now)}; ${earlier}`;
  return (
    <span class="growth" title={compared}>
      {changeWords(now.total, before?.total ?? 0)}
      <span class="sr-only">: {compared}</span>
    </span>
  );
}
