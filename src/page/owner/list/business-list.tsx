// The table of businesses, with warnings, growth, and 30 days of uses.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ListedBusiness } from '../../../business/description.ts';
import { changeWords, compact, dayWords, number, plural, rangeWords } from '../formats.ts';
import { limitStatusOf } from '../limit-status.ts';
import { AS, LimitMark, Status } from '../parts.tsx';
import { businessHref } from '../route.ts';
import { type Growth, growthOf } from './growth.ts';
import type { Order } from './order.ts';
import { Sparkline } from './sparkline.tsx';

const SETTLED_AFTER_MS = 500;

type Props = {
  businesses: readonly ListedBusiness[];
  order: Order;
  /** The messages above the list. When they change, every row moves. */
  above: string;
  onOpen: (business: ListedBusiness) => void;
};

export function BusinessList({ businesses, order, above, onOpen }: Props) {
  const sorted = (by: Order, direction: 'ascending' | 'descending') => (by === order ? direction : undefined);
  /** Each row's position, and the time when it moved there. */
  const positions = useRef<Map<number, { position: string; since: number }> | null>(null);
  useLayoutEffect(() => {
    const before = positions.current;
    const now = performance.now();
    positions.current = new Map(
      businesses.map(({ id }, index) => {
        const last = before?.get(id);
        const position = `${index} ${above}`;
        if (last?.position === position) return [id, last];
        return [id, { position, since: before === null ? Number.NEGATIVE_INFINITY : now }];
      }),
    );
  }, [businesses, above]);

  function press(event: MouseEvent, business: ListedBusiness): void {
    // Ignores a click on a row that has just moved, because the click was meant for another row. A key press (detail 0) always opens the
    // focused link.
    const since = positions.current?.get(business.id)?.since ?? Number.NEGATIVE_INFINITY;
    if (event.detail > 0 && performance.now() - since < SETTLED_AFTER_MS) event.preventDefault();
    else if (!event.ctrlKey && !event.metaKey && !event.shiftKey) onOpen(business);
  }

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
            Uses in 27 days
          </th>
        </tr>
      </thead>
      <tbody {...AS.rows}>
        {businesses.map((business) => (
          <Row
            key={business.id}
            business={business}
            showsChange={order === 'changed'}
            press={(event) => press(event, business)}
          />
        ))}
      </tbody>
    </table>
  );
}

type RowProps = { business: ListedBusiness; showsChange: boolean; press: (event: MouseEvent) => void };

function Row({ business, showsChange, press }: RowProps) {
  const { id, name, main_domain, status, limits, refused_origins: refused, updated_at, used } = business;
  const limit = limitStatusOf(limits);
  const growth = growthOf(used);
  const { total } = growth.now;
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
        <Status status={status} />
        <LimitMark limits={limits} />
        {refused > 0 && <span class="mark">{plural(refused, 'refused origin')}</span>}
      </td>
      <td class="trend" {...AS.cell}>
        <Sparkline used={growth.now.days} />
        <Change {...growth} />
      </td>
      <td class="count" title={plural(total, 'use')} {...AS.cell}>
        {compact(total)}
        {limit && (
          <div class={limit.level ?? ''}>
            <progress max={100} value={limit.share} aria-label={limit.words} title={limit.words} />
            {limit.level === null && <small aria-hidden="true">{limit.words}</small>}
          </div>
        )}
      </td>
    </tr>
  );
}

function Change({ now, before }: Growth) {
  const compared = `${plural(now.total, 'use')} ${rangeWords(now)}; ${number(before.total)} ${rangeWords(before)}`;
  return (
    <span class="growth" title={compared}>
      {changeWords(now.total, before.total)}
      <span class="sr-only">: {compared}</span>
    </span>
  );
}
