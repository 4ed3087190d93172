// Reads wrangler configurations.
import { resolve } from 'node:path';
import { experimental_readRawConfig, unstable_readConfig } from 'wrangler';
import { numberOf } from '../core/database.ts';

const CONFIG = resolve(import.meta.dirname, '../../wrangler.toml');

export type ConfiguredDatabase = {
  number: number;
  binding: string;
  /** Empty if the configuration omits it. */
  name: string;
  id: string | null;
};

/** The fields that the tools read. Declared here because wrangler's type is not visible in the Worker's tests. */
type Config = {
  name?: string | undefined;
  targetEnvironment?: string | undefined;
  definedEnvironments?: string[] | undefined;
  d1_databases: {
    binding: string;
    database_name?: string | undefined;
    database_id?: string | undefined;
  }[];
};

export type Configuration = ReturnType<typeof readConfiguration>;

/**
 * Reads a configuration (default: wrangler.toml) for an environment (default: CLOUDFLARE_ENV). `databases` is sorted by number. Throws a
 * one-line error if the configuration is invalid.
 */
export function readConfiguration(given?: string, environment?: string) {
  const file = given === undefined ? CONFIG : resolve(given);
  const config = configIn(file, environment);
  const { targetEnvironment: env, definedEnvironments = [] } = config;
  // For an undefined environment, wrangler would use the top-level databases and another Worker name.
  if (env && !definedEnvironments.includes(env)) throw new Error(`${file} does not define the environment ${env}.`);
  const databases = config.d1_databases.flatMap(({ binding, database_name: name = '', database_id: id = null }) => {
    const number = numberOf(binding);
    return number === null ? [] : [{ number, binding, name, id } satisfies ConfiguredDatabase];
  });
  databases.sort((a, b) => a.number - b.number);
  return { ...config, file, env, databases };
}

/** Reads a configuration. Throws a one-line error that locates the mistake. */
function configIn(file: string, env: string | undefined): Config {
  try {
    return unstable_readConfig({ config: file, ...(env === undefined ? {} : { env }) }, { hideWarnings: true });
  } catch (error) {
    const { message, location } = error as Error & { location?: { line: number } };
    if (location !== undefined) throw new Error(`${file}, line ${location.line}: ${message.replace(/\n.*/s, '')}`);
    // The file parses but is invalid: the first line of wrangler's message names the file, and the others list the errors.
    const [first, ...mistakes] = message.split('\n').map((line) => line.replace(/^[\s-]+/, ''));
    throw new Error(mistakes.length === 0 ? first : `${file}: ${mistakes.join(' ')}`);
  }
}

type Blocks = { d1_databases?: { database_id?: string }[] };

/** Returns a database id that appears more than once in a file, even if in different environments. */
export function repeatedId(file: string): string | undefined {
  const { env = {}, ...top } = experimental_readRawConfig({ config: file }).rawConfig as Blocks & {
    env?: Record<string, Blocks>;
  };
  const ids = [top, ...Object.values(env)].flatMap(
    (blocks) => blocks.d1_databases?.flatMap(({ database_id }) => database_id ?? []) ?? [],
  );
  return ids.find((id, index) => ids.indexOf(id) < index);
}
