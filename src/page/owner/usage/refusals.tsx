// The uses that limits refused on the shown days, beneath the chart. Read only when the owner asks for them.
import { useState } from 'preact/hooks';
import type { Range } from '../../../core/time.ts';
import type { Api } from '../api.ts';
import { dayWords, number, plural } from '../formats.ts';
import { Loading, Notice } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { Table } from '../table.tsx';
import { failureWords } from '../words.ts';

export function Refusals({ api, id, range, revision }: { api: Api; id: number; range: Range; revision: number }) {
  const [isOpen, setOpen] = useState(false);
  const days = isOpen ? `${range.from} ${range.to}` : null;
  const { data, failure, busy, reload } = useQuery(days, revision, () => api.refusals(id, range));
  const refused = data?.filter(({ by_limit }) => by_limit > 0) ?? [];
  const total = refused.reduce((sum, { by_limit }) => sum + by_limit, 0);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Uses that limits refused</summary>
      <Notice kind="problem" action={{ label: 'Try again', press: () => reload(failure), busy }}>
        {failure && failureWords(failure)}
      </Notice>
      <div role="status">
        {busy && data === null && <Loading rows={1} />}
        {data !== null && (
          <p>{total === 0 ? 'None on these days.' : `${plural(total, 'use')} on these days, counting each retry.`}</p>
        )}
        {total > 0 && (
          <Table
            label="Refused uses by day"
            columns={['Day', 'Refused uses']}
            rows={refused.toReversed().map(({ date, by_limit }) => ({
              key: date,
              name: dayWords(date),
              cells: [number(by_limit)],
            }))}
          />
        )}
      </div>
    </details>
  );
}
