// A table of API keys.
import type { Key } from '../../../keys/description.ts';
import { roleWords } from '../changes/change-words.ts';
import { dayWords } from '../formats.ts';
import { AS, Button, whole } from '../parts.tsx';
import { tailOf } from '../token/former-tokens.ts';
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
  const columns = ['Role', 'Business', 'Last use', revoke === null ? 'Ended' : 'Expires', 'Created by'];
  return (
    <table aria-label={label} {...AS.table}>
      <thead {...AS.rows}>
        <tr {...AS.row}>
          {['Name', ...columns].map((column) => (
            <th key={column} {...AS.column}>
              {column}
            </th>
          ))}
          {revoke && (
            <th {...AS.column}>
              <span class="sr-only">Revoke</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody {...AS.rows}>
        {keys.map((key) => {
          const { name, credential } = makerWords(key);
          const cells = [
            roleWords(key.role),
            businessWords(key) ?? 'All businesses',
            key.last_used_on === null ? 'Never' : dayWords(key.last_used_on),
            endWords(key, today),
            <>
              {name !== null && <bdi>{name}</bdi>} {whole(credential)}
            </>,
          ];
          return (
            <tr key={key.id} {...AS.row}>
              <th {...AS.name}>
                <bdi>{key.name}</bdi> <small>{whole(tailOf(key.last_four))}</small>
              </th>
              {cells.map((cell, index) => (
                <td key={columns[index]} {...AS.cell}>
                  <span class="column" aria-hidden="true">
                    {columns[index]}
                  </span>
                  <span>{cell}</span>
                </td>
              ))}
              {revoke && (
                <td {...AS.cell}>
                  <Button
                    class="quiet danger-text"
                    label={`Revoke ${key.name} (${tailOf(key.last_four)})…`}
                    onClick={() => revoke(key)}
                  >
                    Revoke…
                  </Button>
                </td>
              )}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
