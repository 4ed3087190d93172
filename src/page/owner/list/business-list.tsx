// The rows of the list: each business with what needs attention, its growth, and its uses of 30 days.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ListedBusiness } from '../../../wire/responses.ts';
import { sum } from '../../scale.ts';
import { compact, dayWords, number, percentChange, plural } from '../formats.ts';
import { Mark, Status } from '../parts.tsx';
import { businessHref } from '../route.ts';
import { standingOf } from '../standing.ts';
import { growthOf, wholeDays } from './growth.ts';
import type { Order } from './order.ts';
import { Sparkline } from './sparkline.tsx';

/** Some browsers forget what a table is when its layout is a grid, unless it is said. */
const AS = {
  table: { role: 'table' },
  rows: { role: 'rowgroup' },
  row: { role: 'row' },
  column: { role: 'columnheader', scope: 'col' },
  name: { role: 'rowheader', scope: 'row' },
  cell: { role: 'cell' },
} as const;
const SETTLED_AFTER_MS = 500;
const MANIFOLD = 10;

type Props = {
  businesses: readonly ListedBusiness[];
  order: Order;
  /** What is shown above the list. When it changes, every row moves. */
  above: string;
  /** Called before a business is opened. */
  leave: (business: ListedBusiness) => void;
};

export function BusinessList({ businesses, order, above, leave }: Props) {
  const sorted = (by: Order, direction: 'ascending' | 'descending') => (by === order ? direction : undefined);
  /** At which place each row is, and since when. At first, they have been there for ever. */
  const places = useRef<Map<number, { place: string; since: number }> | null>(null);
  useLayoutEffect(() => {
    const before = places.current;
    const now = performance.now();
    places.current = new Map(
      businesses.map(({ id }, index) => {
        const last = before?.get(id);
        const place = `${index} ${above}`;
        if (last?.place === place) return [id, last];
        return [id, { place, since: before === null ? Number.NEGATIVE_INFINITY : now }];
      }),
    );
  }, [businesses, above]);

  function press(event: MouseEvent, business: ListedBusiness): void {
    // A press on a row that has just moved there was meant for what was there before. A key is pressed on the link that has the focus.
    const { since } = places.current?.get(business.id) ?? { since: Number.NEGATIVE_INFINITY };
    if (event.detail > 0 && performance.now() - since < SETTLED_AFTER_MS) event.preventDefault();
    else if (!event.ctrlKey && !event.metaKey && !event.shiftKey) leave(business);
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
            Uses in 30 days
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
  const standing = standingOf(limits);
  const total = sum(used);
  return (
    <tr class="row" {...AS.row}>
      <th class="named" {...AS.name}>
        <a class="label" href={businessHref(id)} onClick={press}>
          {name}
        </a>
        <small>
          {main_domain} · {id}
          {showsChange && ` · changed ${dayWords(updated_at)}`}
        </small>
      </th>
      <td class="marks" {...AS.cell}>
        <Status status={status} />
        {standing && <Mark level={standing.level}>{standing.words}</Mark>}
        {refused > 0 && <span class="mark">{plural(refused, 'refused origin')}</span>}
      </td>
      <td class="trend" {...AS.cell}>
        <Sparkline used={wholeDays(used)} />
        <Change used={used} />
      </td>
      <td class="count" title={plural(total, 'use')} {...AS.cell}>
        {compact(total)}
      </td>
    </tr>
  );
}

/** A percentage of four digits says less than how many times it is, and is too wide for a column. */
const changeWords = (now: number, before: number): string =>
  now < MANIFOLD * before ? percentChange(now, before) : `×${compact(Math.floor(now / before))}`;

/** The growth in percent. What it compares is said in words, too. */
function Change({ used }: Pick<ListedBusiness, 'used'>) {
  const { now, before, to } = growthOf(used);
  if (now === 0 && before === 0) {
    return (
      <span class="growth">
        <span aria-hidden="true">–</span>
        <span class="sr-only">No uses in 28 days</span>
      </span>
    );
  }
  const compared = `${plural(now, 'use')} in the 14 days up to ${dayWords(to)}, ${number(before)} in the 14 days before`;
  return (
    <span class="growth" title={compared}>
      {before === 0 ? 'New' : changeWords(now, before)}
      <span class="sr-only">: {compared}</span>
    </span>
  );
}
