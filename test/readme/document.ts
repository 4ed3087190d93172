// Reads README.md: its examples (a command and the answer printed below it) and its tables.

export type Example = { line: number; command: string; answer: unknown };

/** The commands of all ```sh blocks that call the service or its tools, each with the ```json block right below it. */
export function examplesOf(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```\n(?:```json\n(.*?)^```\n)?/gms)];
  return blocks
    .filter(([, command = '']) => /\bcurl\b|\bnpm run -s admin\b/.test(command))
    .map(({ index, 1: command = '', 2: answer }) => {
      const line = markdown.slice(0, index).split('\n').length + 1;
      if (answer === undefined)
        throw new Error(`README.md:${line}: a command without its answer in a json block below it`);
      return { line, command: command.trim(), answer: JSON.parse(answer) };
    });
}

/** The rows of the table whose head begins with these cells. */
export function tableOf(markdown: string, ...head: string[]): string[][] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head.join(' | ')} |`));
  if (start < 0) throw new Error(`README.md has no table that begins with: ${head.join(', ')}`);
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}

/** What stands between backquotes in a cell. */
export const codesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
