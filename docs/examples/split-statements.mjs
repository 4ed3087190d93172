// Splits statements that D1 would find too long in an export, from standard input to standard output (docs/restoring.md). A long text is first
// put together in a table of its own, in parts.
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) {
  let cut = 0;
  const withoutLongTexts = (text) => {
    if (text.length < 5000) return text;
    if (cut === 0) console.log('CREATE TABLE cut (n, text);');
    cut += 1;
    console.log(`INSERT INTO cut VALUES (${cut}, '');`);
    for (const [part] of text.slice(1, -1).matchAll(/(?:[^']|''){1,20000}/gu))
      console.log(`UPDATE cut SET text = text || '${part}' WHERE n = ${cut};`);
    return `(SELECT text FROM cut WHERE n = ${cut})`;
  };
  console.log(line.length < 20000 ? line : line.replace(/'(?:[^']|'')*'/g, withoutLongTexts));
  if (cut > 0) console.log('DROP TABLE cut;');
}
