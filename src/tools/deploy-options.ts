// The options of npm run deploy. Only those that are right for every step are taken: the databases are created and migrated before
// the upload, so an option that only the upload gets could upload beside other databases.
import { parseArgs } from 'node:util';

export type DeployOptions = {
  /** The configuration, for every step. */
  config: string | undefined;
  /** What `wrangler deploy` gets, and no other step needs. */
  upload: string[];
};

const USAGE = 'npm run deploy takes --config FILE, --domain HOST (once or more), --tag TEXT and --message TEXT';
const VALUE = { type: 'string', multiple: true } as const;
const OPTIONS = { config: { ...VALUE, short: 'c' }, domain: VALUE, tag: VALUE, message: VALUE };
/** What to do instead of an option that is often tried. */
const INSTEAD: Record<string, string> = {
  'dry-run': 'To build only: npm run build.',
  env: 'Use a configuration of its own: --config FILE.',
  e: 'Use a configuration of its own: --config FILE.',
};

/** Reads the arguments of npm run deploy. Throws an error of one line for all that it does not know. */
export function deployOptions(args: string[]): DeployOptions {
  const { tokens } = parseArgs({ args, options: OPTIONS, strict: false, tokens: true });
  const given: Record<string, string[]> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') throw new Error(`${USAGE}, but not ${args[token.index]}.`);
    const { name, rawName, value } = token;
    if (!Object.hasOwn(OPTIONS, name)) {
      const instead = Object.hasOwn(INSTEAD, name) ? ` ${INSTEAD[name]}` : '';
      throw new Error(`${USAGE}, but not ${rawName}.${instead}`);
    }
    // `--config --domain a` is a file that was forgotten. Where one begins with a dash: --config=-file
    if (!value || (!token.inlineValue && value.startsWith('-'))) throw new Error(`${rawName} needs a value.`);
    given[name] = [...(given[name] ?? []), value];
  }
  const { config = [], ...others } = given;
  for (const [name, { length }] of Object.entries(given)) {
    if (length > 1 && name !== 'domain') throw new Error(`--${name} is given ${length} times.`);
  }
  const upload = Object.entries(others).flatMap(([name, values]) => values.map((value) => `--${name}=${value}`));
  return { config: config[0], upload };
}
