// A table of named rows. In a narrow window, each row is a block, and each cell names its column.
import type { ComponentChildren } from 'preact';
import { AS } from './parts.tsx';

/** `act`: a button that acts on the row. */
export type TableRow = {
  key: string | number;
  isChosen?: boolean;
  name: ComponentChildren;
  cells: ComponentChildren[];
  act?: ComponentChildren;
};
type Props = {
  label?: string;
  /** The columns of the names and of the cells. */
  columns: [string, ...string[]];
  /** What the buttons do, if the rows have them. */
  act?: string | null;
  rows: TableRow[];
};

export function Table({ label, columns, act = null, rows }: Props) {
  return (
    <table class="stacking" aria-label={label} {...AS.table}>
      <thead {...AS.rows}>
        <tr {...AS.row}>
          {columns.map((column) => (
            <th key={column} {...AS.column}>
              {column}
            </th>
          ))}
          {act !== null && (
            <th {...AS.column}>
              <span class="sr-only">{act}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody {...AS.rows}>
        {rows.map(({ key, isChosen, name, cells, act: button }) => (
          <tr key={key} class={isChosen ? 'chosen' : ''} {...AS.row}>
            <th {...AS.name}>{name}</th>
            {cells.map((cell, index) => (
              <td key={columns[index + 1]} {...AS.cell}>
                <span class="column" aria-hidden="true">
                  {cell !== '' && columns[index + 1]}
                </span>
                {cell}
              </td>
            ))}
            {act !== null && <td {...AS.cell}>{button}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
