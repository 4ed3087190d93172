// The dialog that revokes a key, and says what ends with it.
import type { Key } from '../../../keys/description.ts';
import { Confirm } from '../confirm.tsx';
import { plural, tailOf } from '../formats.ts';
import { whole } from '../parts.tsx';
import { wordsOf } from '../roles.ts';
import { hasCreated } from './key-words.ts';

type Props = {
  revoking: Key;
  working: readonly Key[];
  revoke: () => Promise<void>;
  onFailure: () => void;
  onClose: () => void;
  next: () => HTMLElement | null | undefined;
};

export function Revocation({ revoking, working, revoke, ...closing }: Props) {
  const created = working.filter((key) => hasCreated(revoking, key));
  return (
    <Confirm
      title={`Revoke “${revoking.name}”?`}
      action="Revoke the key"
      doing="Revoking…"
      advice="Check the list of keys."
      work={revoke}
      {...closing}
    >
      <p>Programs that use the key {whole(tailOf(revoking.last_four))} stop working with the next request.</p>
      {created.length > 0 && (
        <p class="going">
          This also revokes {plural(created.length, 'key')} that it created:{' '}
          {created.map(({ name }) => name).join(', ')}.
        </p>
      )}
      {!wordsOf(revoking.role)?.only && (
        <p>Console sessions that {created.length > 0 ? 'these keys' : 'it'} started end too.</p>
      )}
      <p class="note">A revoked key never works again.</p>
    </Confirm>
  );
}
