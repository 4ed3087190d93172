// The files of the chart and the recorder under /v1. The attributes, events, parts and custom properties keep their meaning under this
// path. The bytes can change, because a deployment may fix them.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { TABLES } from '../page/languages.ts';

const typesOf = (name: string) => readFileSync(resolve(import.meta.dirname, `../page/types/${name}.d.ts`));
const PATH = '/v1/usage-chart.js';

/** Returns the chart's files by path. `code` is the content of usage-chart.js. */
export function chartFiles(code: Uint8Array): Record<string, string | Uint8Array> {
  const types = typesOf('usage-chart');
  const words = Object.entries(TABLES).map(([language, table]) => [`v1/words/${language}.json`, JSON.stringify(table)]);
  return {
    'v1/usage-chart.js': code,
    'v1/usage-chart.json': JSON.stringify(pin(code)),
    'v1/usage-chart.d.ts': types,
    'usage-chart.d.ts': types,
    ...Object.fromEntries(words),
  };
}

/** Returns the recorder's files by path. `code` is the content of usage-recorder.js. */
export const recorderFiles = (code: Uint8Array): Record<string, Uint8Array> => ({
  'v1/usage-recorder.js': code,
  'v1/usage-recorder.d.ts': typesOf('usage-recorder'),
});

/**
 * Returns the path and hash for pages that pin these bytes. A new hash also changes the query in the path, so browsers never check old
 * bytes against the new hash.
 */
export function pin(code: Uint8Array): { path: string; integrity: string } {
  const hash = createHash('sha384').update(code).digest('base64');
  const query = Buffer.from(hash, 'base64').toString('hex').slice(0, 12);
  return { path: `${PATH}?${query}`, integrity: `sha384-${hash}` };
}
