// Answers whether a use counted, by its id.
import { useState } from 'preact/hooks';
import type { RememberedUses } from '../../../usage/description.ts';
import { KEEP_ID_DAYS } from '../../../usage/rules.ts';
import type { Api } from '../api.ts';
import { dayWords, number } from '../formats.ts';
import { Button, Field, Loading, Notice, Section, VERBATIM } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { Table } from '../table.tsx';
import { failureWords } from '../words.ts';

const COLUMNS = ['Sent with', 'Counted on', 'Uses now', 'Source', 'Remembered until'] as const;
const NOT_FOUND = `No use with this ID is remembered. It never counted, or its ID was forgotten: those of API keys are after ${KEEP_ID_DAYS.key} days, those of tokens after ${KEEP_ID_DAYS.token}.`;

export function UseLookup({ api, id, revision }: { api: Api; id: number; revision: number }) {
  const [asked, setAsked] = useState('');
  const { data, failure, busy, reload } = useQuery(asked === '' ? null : asked, revision, () => api.use(id, asked));

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const typed = `${new FormData(event.currentTarget as HTMLFormElement).get('use')}`.trim();
    if (typed === asked) reload();
    else setAsked(typed);
  }
  const rows = data === null ? [] : rowsOf(data);
  return (
    <Section id="use-lookup" title="Did it count?">
      <form onSubmit={submit}>
        <Field id="use-id" label="ID of a use">
          <input {...VERBATIM} id="use-id" name="use" type="search" placeholder="Such as order-1" />
        </Field>
        <p class="ways">
          <Button class="quiet" busy={busy} submits>
            Look it up
          </Button>
        </p>
      </form>
      <Notice
        kind="problem"
        action={failure?.status === 422 ? undefined : { label: 'Try again', press: () => reload(failure), busy }}
      >
        {failure && failureWords(failure)}
      </Notice>
      <div role="status">
        {busy && data === null && <Loading rows={1} />}
        {data !== null && rows.length === 0 && <p>{NOT_FOUND}</p>}
        {rows.length > 0 && <Table label={`Uses with the ID ${asked}`} columns={[...COLUMNS]} rows={rows} />}
      </div>
    </Section>
  );
}

const IMPORTED = new Map<boolean | null, string>([
  [true, ', whose count was imported since'],
  [null, ', too long ago to know whether its count was imported'],
]);

const rowsOf = ({ by_key, by_token }: RememberedUses) =>
  [
    { key: 'API key', use: by_key, source: by_key?.source ?? 'None' },
    { key: 'Token', use: by_token, source: '' },
  ].flatMap(({ key, use, source }) =>
    use === null
      ? []
      : [
          {
            key,
            name: key,
            cells: [
              `${dayWords(use.date)}${IMPORTED.get(use.imported) ?? ''}`,
              number(use.quantity),
              source,
              dayWords(use.remembered_until),
            ],
          },
        ],
  );
