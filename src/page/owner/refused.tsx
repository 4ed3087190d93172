// The origins that were refused lately: a hint at pages that may still have to be registered, and nothing more.
import { useState } from 'hono/jsx/dom';
import type { Api } from './api.ts';
import { Confirm } from './confirm.tsx';
import { Button, FailureNotice } from './parts.tsx';
import { type RoomProps, shownRefused } from './session.ts';
import { instantWords, plural } from './words.ts';

type Props = Pick<RoomProps, 'readOnly' | 'refused' | 'dismissed' | 'setDismissed'> & {
  api: Api;
  id: number;
  isBusy: boolean;
  add: (site: string) => Promise<boolean>;
};

export function Refused({ api, id, refused, dismissed, setDismissed, readOnly, isBusy, add }: Props) {
  const { data, failure, reload } = refused;
  const [isForgetting, setForgetting] = useState(false);
  const shown = shownRefused({ refused, dismissed });
  const hidden = (data?.length ?? 0) - shown.length;

  const dismiss = (origin: string) => setDismissed(new Set(dismissed).add(origin));
  const showAll = () => setDismissed(new Set());

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
