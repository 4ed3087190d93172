// The view of keys: the user's API keys, for a session that can manage them.
import { useRef, useState } from 'preact/hooks';
import type { OwnRole } from '../../../core/policy.ts';
import { dayOf } from '../../../core/time.ts';
import type { Key, NewKey } from '../../../keys/description.ts';
import { now } from '../clock.ts';
import { useFocusFallback } from '../focus.ts';
import { number } from '../formats.ts';
import { Back, Button, FailureNotice, Loading, Notice, Section, Title } from '../parts.tsx';
import { useQuery } from '../query.ts';
import { Refresh, useRefresh } from '../refresh.tsx';
import { OWN_KINDS } from '../roles.ts';
import type { Memory, Session } from '../session.ts';
import { credentialOf } from '../storage.ts';
import { useListing } from '../use-listing.ts';
import { Creation } from './creation.tsx';
import { KeyTable } from './key-table.tsx';
import { askWords, isWorking, makerWords } from './key-words.ts';
import { NewKeyCard } from './new-key.tsx';
import { Revocation } from './revocation.tsx';

const LOADING_ROWS = 4;
const TITLE = 'Access';

type Props = { session: Session; memory: Memory };

export function KeysView(props: Props) {
  const { stored } = props.session;
  if (stored.canCreateKeys) return <Keys {...props} />;
  return (
    <>
      <Back href={props.memory.list.href} />
      <Title name={TITLE} />
      <p class="card">{askWords(stored)}</p>
    </>
  );
}

type Dialog = { role: OwnRole } | { revoking: Key };

function Keys({ session: { api, stored }, memory }: Props) {
  const { revision, refresh } = useRefresh();
  const { listing } = useListing(api, memory.list, null);
  const keys = useQuery('keys', revision, () => api.keys(stored.userId));
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [created, setCreated] = useState<NewKey | null>(null);
  const [revoked, setRevoked] = useState<Key | null>(null);
  /** Shown only once its dialog is closed, so that it can receive the focus. */
  const pending = useRef<NewKey | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const firstButton = () => root.current?.querySelector<HTMLElement>('.ways button');
  useFocusFallback(root, firstButton);
  const today = dayOf(new Date(now()));
  const { data, failure } = keys;
  const all = (data ?? []).toReversed();
  const working = all.filter((key) => isWorking(key, today));
  const ended = all.filter((key) => !isWorking(key, today));
  const shared = {
    today,
    businessWords: ({ business_id: id }: Key) =>
      id === null ? null : (listing.businesses.find((one) => one.id === id)?.name ?? `Business ${id}`),
    makerWords: (key: Key) => makerWords(key, all, credentialOf(stored).tail),
  };

  function start(next: Dialog): void {
    setRevoked(null);
    setDialog(next);
  }
  const closing = {
    onFailure: keys.reload,
    onClose: () => {
      setDialog(null);
      if (pending.current !== null) setCreated(pending.current);
      pending.current = null;
    },
    next: firstButton,
  };

  return (
    <div class="keys-view" ref={root}>
      <div class="trail">
        <Back href={memory.list.href} />
        <Refresh readAt={keys.readAt} isBusy={keys.busy} failure={failure} refresh={refresh} />
      </div>
      <Title name={TITLE} />
      <p class="sub">
        Give an agency, an accountant or a program its own API key, and revoke it when the work is done.
      </p>
      <p class="ways">
        {(Object.keys(OWN_KINDS) as OwnRole[]).map((role) => (
          <Button key={role} class="quiet" onClick={() => start({ role })}>
            Create {OWN_KINDS[role].kind} key…
          </Button>
        ))}
      </p>
      <Notice kind="done">{revoked && `The key “${revoked.name}” no longer works.`}</Notice>
      {created && (
        <NewKeyCard
          key={created.id}
          created={created}
          business={shared.businessWords(created)}
          hide={() => setCreated(null)}
        />
      )}
      {failure && data === null && <FailureNotice failure={failure} reload={keys.reload} />}
      <Section
        id="keys"
        title="API keys"
        note="“Last use” and “Expires” are days in UTC. A key works until the end of its last day."
      >
        {data === null && failure === null && <Loading rows={LOADING_ROWS} />}
        {data !== null && working.length === 0 && <p>No key works.</p>}
        {working.length > 0 && (
          <KeyTable {...shared} keys={working} label="API keys" revoke={(revoking) => start({ revoking })} />
        )}
        {ended.length > 0 && (
          <details>
            <summary>No longer working ({number(ended.length)})</summary>
            <KeyTable {...shared} keys={ended} label="API keys that no longer work" revoke={null} />
          </details>
        )}
      </Section>
      {dialog !== null && 'role' in dialog && (
        <Creation
          role={dialog.role}
          today={today}
          listing={listing}
          create={async (key) => {
            pending.current = await api.createKey(stored.userId, key);
            keys.reload();
          }}
          {...closing}
        />
      )}
      {dialog !== null && 'revoking' in dialog && (
        <Revocation
          revoking={dialog.revoking}
          working={working}
          revoke={async () => {
            const key = await api.revokeKey(stored.userId, dialog.revoking.id);
            setRevoked(key);
            if (created?.id === key.id) setCreated(null);
            keys.reload();
          }}
          {...closing}
        />
      )}
    </div>
  );
}
