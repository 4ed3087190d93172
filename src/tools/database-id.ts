// Writes the id of a new database to wrangler.toml. wrangler itself edits only JSON.
import { deepStrictEqual } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { experimental_readRawConfig } from 'wrangler';

type Block = { binding?: string; database_id?: string; preview_database_id?: string };
type RawConfig = { d1_databases?: Block[]; env?: Record<string, { d1_databases?: Block[] }> };

const rawConfigIn = (file: string) => experimental_readRawConfig({ config: file }).rawConfig as RawConfig;
/** Returns an environment's database blocks, or the top-level ones. */
const blocksOf = (config: RawConfig, env: string | undefined): Block[] =>
  (env ? config.env?.[env] : config)?.d1_databases ?? [];

/** Returns the ids for a database's block. The preview id keeps local data in a folder named after the binding. */
const idsOf = (binding: string, id: string) => ({ database_id: id, preview_database_id: binding });

/** Returns the ids as TOML lines to copy. */
export const idLines = (binding: string, id: string): string =>
  Object.entries(idsOf(binding, id))
    .map(([key, value]) => `${key} = "${value}"`)
    .join('\n');

/** Returns a database id that appears more than once in a file, even if in different environments. */
export function repeatedId(file: string): string | undefined {
  const config = rawConfigIn(file);
  const ids = [undefined, ...Object.keys(config.env ?? {})].flatMap((env) =>
    blocksOf(config, env).flatMap(({ database_id }) => database_id ?? []),
  );
  return ids.find((id, index) => ids.indexOf(id) < index);
}

/**
 * Adds the id to a binding's block and leaves all other bytes unchanged. If it cannot parse the block or write the file, changes nothing
 * and returns false.
 */
export function writeDatabaseId(file: string, env: string | undefined, binding: string, id: string): boolean {
  const before = readFileSync(file, 'utf8');
  const after = withDatabaseId(before, env, binding, id);
  if (after === null) return false;
  const expected = rawConfigIn(file);
  const block = blocksOf(expected, env).find((block) => block.binding === binding);
  Object.assign(block ?? {}, { ...idsOf(binding, id), ...block });
  try {
    writeFileSync(file, after);
    deepStrictEqual(rawConfigIn(file), expected);
    return true;
  } catch {
    if (readFileSync(file, 'utf8') !== before) writeFileSync(file, before);
    return false;
  }
}

/** Returns the TOML with the id added, or null if no block matches. Can misread unusual TOML, such as a header in a multi-line string. */
function withDatabaseId(toml: string, env: string | undefined, binding: string, id: string): string | null {
  const path = [...(env ? ['env', env] : []), 'd1_databases'].map(keyPattern).join(String.raw`\s*\.\s*`);
  const isHeader = new RegExp(String.raw`^\s*\[\[\s*${path}\s*\]\]`);
  const isBinding = new RegExp(String.raw`^\s*${keyPattern('binding')}\s*=\s*["']${binding}["']\s*(#|$)`);
  const startOf = (key: string) => new RegExp(String.raw`^\s*${keyPattern(key)}\s*=`);
  const lines = toml.split(/(?<=\n)/);
  const tables = lines.flatMap((line, index) => (/^\s*\[/.test(line) ? [index] : []));
  for (const [index, start] of tables.entries()) {
    const block = lines.slice(start, tables[index + 1]);
    const indexOf = (pattern: RegExp) => block.findIndex((line) => pattern.test(line));
    if (indexOf(isHeader) !== 0 || indexOf(isBinding) === -1) continue;
    const at = start + Math.max(indexOf(isBinding), indexOf(startOf('database_name')));
    const [, indent = '', text = '', end = ''] = /^(\s*)(.*?)(\r?\n)?$/.exec(lines[at] ?? '') ?? [];
    const added = Object.entries(idsOf(binding, id)).filter(([key]) => indexOf(startOf(key)) === -1);
    const texts = [text, ...added.map(([key, value]) => `${key} = "${value}"`)];
    lines[at] = texts.map((line) => indent + line).join(end || (toml.includes('\r\n') ? '\r\n' : '\n')) + end;
    return lines.join('');
  }
  return null;
}

/** Returns a pattern for a TOML key, bare or quoted. */
function keyPattern(key: string): string {
  const escaped = key.replace(/[^\w-]/g, String.raw`\$&`);
  return `(?:${escaped}|"${escaped}"|'${escaped}')`;
}
