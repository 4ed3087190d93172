// Checks that every line that the service logs in the tests contains the fields that docs/operating.md lists. test/migrated.ts runs the
// check after each test.
import operating from '../docs/operating.md?raw';

/** Returns the cells of the table with this header, by row. */
function rowsOf(head: string): string[][] {
  const table = operating.slice(operating.indexOf(head)).split('\n');
  const end = table.findIndex((line) => !line.trim().startsWith('|'));
  return table.slice(2, end).map((line) => line.trim().slice(2, -2).split(' | '));
}
const namesIn = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

const OF_REQUEST = rowsOf('| Field | Meaning |').flatMap(([cell, meaning = '']) =>
  namesIn(cell).map((name) => ({ name, isOptional: meaning.startsWith('only ') })),
);
const OF_RUN = rowsOf('| Field of a run | Meaning |').flatMap(([cell, meaning = '']) =>
  namesIn(cell).map((name) => ({ name, isOf: /^(\w+) only:/.exec(meaning)?.[1] ?? null })),
);
const [, shared] = /only if it fails, with some of the fields (.*?)\.\n/s.exec(operating) ?? [];
const OF_FAILURE = rowsOf('| `operation` | What failed |').map(([operations, fields]) => ({
  operations: namesIn(operations),
  fields: [...namesIn(shared), ...namesIn(fields)],
}));

/** Returns true if a line contains all required fields and no unknown ones. */
function isOfKind(line: object): boolean {
  const names = Object.keys(line).filter((name) => name !== 'hint');
  const have = (required: string[], allowed: string[]) =>
    required.every((name) => names.includes(name)) && names.every((name) => allowed.includes(name));
  const { operation } = line as { operation: string };
  if ('method' in line)
    return have(
      OF_REQUEST.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
      OF_REQUEST.map(({ name }) => name),
    );
  if ('scheduled' in line) {
    const fields = OF_RUN.filter(({ isOf }) => isOf === null || isOf === operation).map(({ name }) => name);
    return have(fields, fields);
  }
  return OF_FAILURE.some(
    ({ operations, fields }) => operations.includes(operation) && have(['operation'], ['operation', ...fields]),
  );
}

const undocumented: object[] = [];
/** Returns the line, and records it if docs/operating.md does not describe it. */
export function logged<Line extends object>(line: Line): Line {
  if (!isOfKind(line)) undocumented.push(line);
  return line;
}
/** Returns the undocumented lines that were logged since the last call. */
export const undocumentedLines = () => undocumented.splice(0);
