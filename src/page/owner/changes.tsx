// Who changed what, newest first.
import { useState } from 'hono/jsx/dom';
import type { Change } from './api.ts';
import { Button, FailureNotice, Loading, Section } from './parts.tsx';
import { useMutation, useQuery } from './query.ts';
import type { RoomProps } from './session.ts';
import { failureWords, instantWords } from './words.ts';

const LOADING_ROWS = 3;

const ACTIONS: Record<string, string> = {
  add_sites: 'Domains added',
  remove_sites: 'Domains removed',
  rotate_token: 'Token replaced',
  stop_former_tokens: 'Old tokens stopped',
  create_business: 'Business created',
  update_business: 'Business changed',
  delete_business: 'Business deleted',
  create_key: 'API key created',
  revoke_key: 'API key revoked',
  import_usage: 'Usage imported',
};

type Values = Change['before'];

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textOf).join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** One line for each thing that changed. Null is what did not exist. */
function lines(before: Values, after: Values): { name: string; before: string | null; after: string | null }[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const textIn = (values: Values, name: string) =>
    values === null || values[name] === undefined || values[name] === null ? null : textOf(values[name]);
  return [...names]
    .map((name) => ({ name, before: textIn(before, name), after: textIn(after, name) }))
    .filter((line) => line.before !== null || line.after !== null);
}

type Props = Pick<RoomProps, 'api' | 'query' | 'revision'> & { id: number };

export function Changes({ api, id, revision }: Props) {
  const newest = useQuery(() => api.changes(id, null), [id, revision]);
  const [older, setOlder] = useState<{ changes: Change[]; next: number | null } | null>(null);
  const { busy, failure, run } = useMutation();
  const next = older === null ? (newest.data?.next ?? null) : older.next;
  const recent = newest.data?.changes ?? [];
  const known = new Set(recent.map((change) => change.id));
  const shown = [...recent, ...(older?.changes.filter((change) => !known.has(change.id)) ?? [])];
  const more = () =>
    run('Loading…', async () => {
      const page = await api.changes(id, next);
      setOlder({ changes: [...(older?.changes ?? recent), ...page.changes], next: page.next });
    });

  return (
    <Section id="changes" title="Changes" note="Newest first, of the last 400 days. Times are UTC.">
      {newest.failure !== null && <FailureNotice failure={newest.failure} reload={newest.reload} />}
      {newest.data === null ? (
        newest.failure === null && <Loading rows={LOADING_ROWS} />
      ) : shown.length === 0 ? (
        <p>Nothing has been changed yet.</p>
      ) : (
        <ol class="changes">
          {shown.map((change) => (
            <Entry key={change.id} change={change} />
          ))}
        </ol>
      )}
      <p class="problem" role="alert">
        {failure && failureWords(failure)}
      </p>
      {next !== null && (
        <Button class="quiet" busy={busy !== null} onClick={() => void more()}>
          {busy ?? 'Older'}
        </Button>
      )}
    </Section>
  );
}

function Entry({ change: { at, actor, action, before, after } }: { change: Change }) {
  return (
    <li class="entry">
      <p class="what">
        <b class="action">{ACTIONS[action] ?? action}</b>
        <small>
          <time dateTime={at}>{instantWords(at)}</time> · {actor}
        </small>
      </p>
      <ul>
        {lines(before, after).map((line) => (
          <li key={line.name}>
            <span class="name">{line.name.replaceAll('_', ' ')}</span>{' '}
            {line.before !== null && <del>{line.before}</del>} {line.after !== null && <ins>{line.after}</ins>}
          </li>
        ))}
      </ul>
    </li>
  );
}
