// The uses that limits refused on the shown days, beneath the chart.
import type { Refusals as RefusalsData } from '../../../usage/description.ts';
import { dayWords, number, plural } from '../formats.ts';
import { Table } from '../table.tsx';

export function Refusals({ refused }: { refused: RefusalsData['refused'] }) {
  const days = refused.filter(({ by_limit }) => by_limit > 0);
  if (days.length === 0) return null;
  const total = days.reduce((sum, { by_limit }) => sum + by_limit, 0);
  const which = days.length === 1 ? 'one of these days' : `${number(days.length)} of these days`;
  return (
    <details>
      <summary>
        Limits refused {plural(total, 'use')} on {which}, counting each retry
      </summary>
      <Table
        label="Refused uses by day"
        columns={['Day', 'Refused uses']}
        rows={days.toReversed().map(({ date, by_limit }) => ({
          key: date,
          name: dayWords(date),
          cells: [number(by_limit)],
        }))}
      />
    </details>
  );
}
