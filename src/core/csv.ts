// Cells of CSV files (RFC 4180).

export type Cell = string | number | boolean | null;

/** Escapes a cell. Inserts an apostrophe to disable formulas, both at the start of the cell and after separators that some locales use. */
function cellOf(value: Cell): string {
  const text = typeof value === 'string' ? value.replace(/(^|[;,])(?=\s*[=+\-@＝＋－＠])/g, "$1'") : `${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvOf = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
