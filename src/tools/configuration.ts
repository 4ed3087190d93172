// What a configuration of wrangler binds.
import { dirname, resolve } from 'node:path';
import { unstable_readConfig } from 'wrangler';
import { numberOf } from '../core/database.ts';

const CONFIG = resolve(import.meta.dirname, '../../wrangler.toml');

/** What we read of a configuration. Its type here, because the Worker's tests do not see wrangler's. */
type Config = {
  name?: string | undefined;
  account_id?: string | undefined;
  compatibility_date?: string | undefined;
  d1_databases: {
    binding: string;
    database_name?: string | undefined;
    database_id?: string | undefined;
    migrations_dir?: string | undefined;
  }[];
};

/** The databases that a configuration binds, by number. `name` is empty if it names none; `migrations` is the folder of theirs. */
export function boundIn(config: string | undefined) {
  const file = config === undefined ? CONFIG : resolve(config);
  const { name, account_id, compatibility_date, d1_databases } = configIn(file);
  const bound = d1_databases.flatMap(({ binding, database_name = '', database_id, migrations_dir = 'migrations' }) => {
    const number = numberOf(binding);
    if (number === null && /^db[-_]?\d+$/i.test(binding))
      throw new Error(`${file} binds a database as ${binding}. The names are DB, DB_1, DB_2, and so on up to DB_61.`);
    const migrations = resolve(dirname(file), migrations_dir);
    return number === null
      ? []
      : [{ number, binding, name: database_name, hasId: database_id !== undefined, migrations }];
  });
  bound.sort((a, b) => a.number - b.number);
  return { file, worker: { name, account_id, compatibility_date }, bound };
}

/** Reads a configuration. Fails with a line that says where it is wrong. */
function configIn(file: string): Config {
  try {
    return unstable_readConfig({ config: file });
  } catch (error) {
    const { message, location } = error as Error & { location?: { line: number } };
    if (location !== undefined) throw new Error(`${file}, line ${location.line}: ${message.replace(/\n.*/s, '')}`);
    // What can be read and is wrong: wrangler's first line names the file, and the others what is wrong in it.
    const [first, ...mistakes] = message.split('\n').map((line) => line.replace(/^[\s-]+/, ''));
    throw new Error(mistakes.length === 0 ? first : `${file}: ${mistakes.join(' ')}`);
  }
}
