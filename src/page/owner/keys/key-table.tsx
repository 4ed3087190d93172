// A table of API keys.
import type { Key } from '../../../keys/description.ts';
import { dayWords, tailOf } from '../formats.ts';
import { Button, whole } from '../parts.tsx';
import { roleWords } from '../roles.ts';
import { Table, type TableRow } from '../table.tsx';
import { endWords, type makerWords } from './key-words.ts';

type Props = {
  keys: readonly Key[];
  label: string;
  today: string;
  businessWords: (key: Key) => string | null;
  makerWords: (key: Key) => ReturnType<typeof makerWords>;
  /** Null if the keys no longer work. */
  revoke: ((key: Key) => void) | null;
};

export function KeyTable({ keys, label, today, businessWords, makerWords, revoke }: Props) {
  const rows = keys.map((key): TableRow => {
    const { name, credential } = makerWords(key);
    return {
      key: key.id,
      name: (
        <>
          <bdi>{key.name}</bdi> <small>{whole(tailOf(key.last_four))}</small>
        </>
      ),
      cells: [
        roleWords(key.role),
        <>
          {businessWords(key) ?? 'All businesses'} {key.label !== null && <small>Label: {key.label}</small>}
        </>,
        key.last_used_on === null ? 'Never' : dayWords(key.last_used_on),
        endWords(key, today),
        <>
          {name !== null && <bdi>{name}</bdi>} {whole(credential)}
        </>,
      ],
      act: revoke && (
        <Button
          class="quiet danger-text"
          label={`Revoke ${key.name} (${tailOf(key.last_four)})…`}
          onClick={() => revoke(key)}
        >
          Revoke…
        </Button>
      ),
    };
  });
  return (
    <Table
      label={label}
      columns={['Name', 'Role', 'Business', 'Last use', revoke === null ? 'Ended' : 'Expires', 'Created by']}
      act={revoke && 'Revoke'}
      rows={rows}
    />
  );
}
