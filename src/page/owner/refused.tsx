// The origins that were refused lately: a hint at pages that may still have to be registered, and nothing more.
import { useState } from 'hono/jsx/dom';
import type { Api } from './api.ts';
import { Confirm } from './confirm.tsx';
import { Button, FailureNotice } from './parts.tsx';
import { useQuery } from './query.ts';
import { instantWords, plural } from './words.ts';

type Props = {
  api: Api;
  id: number;
  sites: string[];
  readOnly: boolean;
  isBusy: boolean;
  add: (site: string) => Promise<boolean>;
};

/** Dismissed until the page is closed. The service can only forget all of them. */
const dismissed = new Set<string>();

export function Refused({ api, id, sites, readOnly, isBusy, add }: Props) {
  const { data, failure, reload } = useQuery(() => api.refused(id), [id, sites.join(' ')]);
  const [, setTurn] = useState(0);
  const [isForgetting, setForgetting] = useState(false);
  const nameOf = (origin: string) => `${id} ${origin}`;
  const shown = data?.filter(({ origin }) => !dismissed.has(nameOf(origin))) ?? [];
  const hidden = (data?.length ?? 0) - shown.length;

  function dismiss(origin: string): void {
    dismissed.add(nameOf(origin));
    setTurn((turn) => turn + 1);
  }
  function showAll(): void {
    for (const { origin } of data ?? []) dismissed.delete(nameOf(origin));
    setTurn((turn) => turn + 1);
  }

  if (failure !== null && data === null) return <FailureNotice failure={failure} reload={reload} />;
  if (data === null || data.length === 0) return null;
  return (
    <div class="refused">
      <h3>Refused lately</h3>
      <p class="note">
        Pages of these sites tried to use the token and were refused.{' '}
        <b>Whoever has the token can make an entry appear here:</b> add only sites that are yours.
      </p>
      <ul class="rows">
        {shown.map(({ origin, count, last_seen }) => (
          <li key={origin}>
            <span class="named">
              <code>{origin}</code>
              <small>
                at least {plural(count, 'time')}, last on {instantWords(last_seen)}
              </small>
            </span>
            {!readOnly && (
              <span class="acts">
                <Button class="quiet" label={`Add ${origin}`} busy={isBusy} onClick={() => void add(origin)}>
                  Add
                </Button>
                <Button class="quiet" label={`Dismiss ${origin}`} onClick={() => dismiss(origin)}>
                  Dismiss
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      {hidden > 0 && (
        <p class="note" role="status">
          {`${hidden}`} dismissed, until this page is closed.{' '}
          <Button class="link" onClick={showAll}>
            Show again
          </Button>
        </p>
      )}
      {!readOnly && (
        <Button class="quiet danger-text" onClick={() => setForgetting(true)}>
          Forget all…
        </Button>
      )}
      {isForgetting && (
        <Confirm
          title="Forget all refused origins?"
          action={`Forget ${plural(data.length, 'origin')}`}
          doing="Forgetting…"
          work={async () => void (await api.forgetRefused(id))}
          onClose={() => {
            setForgetting(false);
            reload();
          }}
        >
          <p>
            The service forgets the whole list, with its counts. An origin that tries again comes back as a new one.
          </p>
          <p>To hide single ones, use “Dismiss”.</p>
        </Confirm>
      )}
    </div>
  );
}
