// The uses that limits refused on the shown days, beneath the chart. Read only when the owner asks for them.
import { useState } from 'preact/hooks';
import type { Range } from '../../../core/time.ts';
import type { Api } from '../api.ts';
import { dayWords, number } from '../formats.ts';
import { Loading, Notice } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { Table } from '../table.tsx';
import { failureWords } from '../words.ts';
import { figuresOf } from './figures.ts';
import { refusedWords } from './usage-words.ts';

type Props = { api: Api; id: number; range: Range; today: string; revision: number };

export function Refusals({ api, id, range, today, revision }: Props) {
  const [isOpen, setOpen] = useState(false);
  const key = isOpen ? `${range.from} ${range.to}` : null;
  const { data, failure, busy, reload } = useQuery(key, revision, () => api.refusals(id, range));
  const days = data?.map(({ date, by_limit }) => ({ date, count: by_limit })) ?? [];
  const refused = days.filter(({ count }) => count > 0);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Uses that limits refused</summary>
      <Notice kind="problem" action={{ label: 'Try again', press: () => reload(failure), busy }}>
        {failure && failureWords(failure)}
      </Notice>
      <div role="status">
        {busy && data === null && <Loading rows={1} />}
        {data !== null && <p>{refusedWords(figuresOf(days, today))}</p>}
        {refused.length > 0 && (
          <Table
            label="Refused uses by day"
            columns={['Day', 'Refused uses']}
            rows={refused.toReversed().map(({ date, count }) => ({
              key: date,
              name: dayWords(date),
              cells: [number(count)],
            }))}
          />
        )}
      </div>
    </details>
  );
}
