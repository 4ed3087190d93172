// Parses the command line. A command's arguments and options come from its schema.
import { parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { positiveInteger } from '../input.ts';
import { COMMANDS, type Command, type Given } from './commands.ts';

/** Thrown if the command line is invalid (exit code 2). Any other error means a failed command (exit code 1). */
export class UsageError extends Error {}

/** `label` is the field's name on the command line, such as `--user` for `user_id`. */
export type Field = { name: string; label: string; schema: z.core.$ZodType };
/** `call` is the command's usage line. */
export type CommandLine = { command: Command; call: string; fields: Field[]; given: Given };

/** The cursor parameters. They are not options, because commands read all pages. */
export const CURSORS = ['after', 'before', 'cursor'];
const TEXT = z.string().check(z.minLength(1, 'must not be empty'));

const defOf = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;

/** Unwraps optional and nullable schemas, and returns the output side of a pipe. */
function innerOf(schema: z.core.$ZodType): ReturnType<typeof defOf> {
  const def = defOf(schema);
  if (def.type === 'optional' || def.type === 'nullable') return innerOf(def.innerType);
  return def.type === 'pipe' ? innerOf(def.out) : def;
}

export function shapeOf(schema: z.core.$ZodType): Record<string, z.core.$ZodType> {
  const def = innerOf(schema);
  return def.type === 'object' ? def.shape : {};
}

/** Returns the schema of the entries of a list, or undefined for any other schema. */
export function entryOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const def = innerOf(schema);
  return def.type === 'array' ? def.element : undefined;
}

/** Converts an argument to the type of its schema: digits to a number, `none` to null. */
function valueIn(schema: z.core.$ZodType, text: unknown): unknown {
  const def = innerOf(schema);
  if (def.type === 'array') return [text].flat().map((entry) => valueIn(def.element, entry));
  if (text === 'none' && accepts(schema, null)) return null;
  return def.type === 'number' && /^(0|-?[1-9]\d*)$/.test(`${text}`) ? Number(text) : text;
}
const accepts = (schema: z.core.$ZodType, value: unknown) => z.safeParse(schema, value).success;
const isRequired = ({ schema }: Field) => !accepts(schema, undefined);
const isFlag = ({ schema }: Field) => innerOf(schema).type === 'boolean';
const isList = ({ schema }: Field) => innerOf(schema).type === 'array';

/** Returns a field's rule, which is the error message of its schema. For a list, returns the rule for its entries. */
function ruleOf(field: Field): string {
  const { error } = z.safeParse(field.schema, isList(field) ? [{}] : {});
  const rule = inWords(error?.issues[0]?.message ?? '');
  return accepts(field.schema, null) && !rule.includes(' none ') ? `${rule}, or none` : rule;
}
const inWords = (rule: string) => rule.replace('null for', 'none for').replace(', and must appear only once', '');
const exampleOf = (field: Field) => /(?:such as|in the format) ([^\s,]+)/.exec(ruleOf(field))?.[1] ?? '…';

/** Returns the option for a field: `--user` for `user_id`, `--main-domain` for `main_domain`. */
const optionOf = (name: string): string =>
  `--${name.replace(/^business_(?!id$)|_(?:id|on)$/g, '').replaceAll('_', '-')}`;

function fieldsOf(usage: string, { request, input, as = {} }: Command) {
  const inPath = [...(request ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, positiveInteger]);
  const schemas: Record<string, z.core.$ZodType> = { ...Object.fromEntries(inPath), ...(input && shapeOf(input)) };
  const field = (name: string, label: string): Field => ({ name, label, schema: schemas[name] ?? TEXT });
  const taken = usage
    .split(' ')
    .filter(isArgument)
    .map((label) => field(as[label] ?? label, label));
  const others = Object.keys(schemas).filter(
    (name) => name !== 'limit' && !CURSORS.includes(name) && !taken.some((argument) => argument.name === name),
  );
  const labels = new Map(Object.entries(as).map(([label, name]) => [name, label]));
  return { taken, options: others.map((name) => field(name, labels.get(name) ?? optionOf(name))) };
}
const isArgument = (word: string) => word !== word.toLowerCase();
const wordsOf = (usage: string) =>
  usage
    .split(' ')
    .filter((word) => !isArgument(word))
    .join(' ');

type Form = { usage: string; command: Command; taken: Field[]; options: Field[] };

function callOf({ usage, options }: Form): string {
  const shown = options.map((field) => {
    const option = isFlag(field) ? field.label : `${field.label} ${exampleOf(field)}`;
    return isRequired(field) ? option : `[${option}]`;
  });
  return [usage, ...shown].join(' ');
}
const summaryOf = (form: Form) => `  ${callOf(form)}\n      ${form.command.summary}\n`;
const rulesOf = ({ command: { note }, taken, options }: Form) =>
  [
    ...(note === undefined ? [] : [note]),
    ...[...taken, ...options].filter((field) => !isFlag(field)).map((field) => `${field.label} ${ruleOf(field)}`),
  ]
    .map((line) => `      ${line}\n`)
    .join('');

const FORMS = Object.entries(COMMANDS).map(
  ([usage, command]): Form => ({ usage, command, ...fieldsOf(usage, command) }),
);
const HEAD = 'npm run -s admin -- <command>\n\n';
const HELP = `${HEAD}${FORMS.map(summaryOf).join('')}
Commands send requests to the service at the URL in the environment variable API, such as https://usage.example/api/v1, with the
operator key in OPERATOR_KEY. To see what each option must be, add --help to a command.
`;

/** Parses a command line. Throws UsageError if it is invalid. */
export function commandLineOf(argv: string[]): CommandLine | { help: string } {
  const words = argv.slice(0, 2).join(' ');
  const end = argv.indexOf('--');
  const isHelp = argv.slice(0, end === -1 ? undefined : end).some((arg) => arg === '--help' || arg === '-h');
  const forms = FORMS.filter(({ usage }) => wordsOf(usage) === words);
  if (forms.length === 0) {
    if (argv.length === 0 || isHelp) return { help: HELP };
    throw new UsageError(`Unknown command: ${words}. See npm run -s admin -- --help`);
  }
  if (isHelp) return { help: HEAD + forms.map((form) => summaryOf(form) + rulesOf(form)).join('') };
  const { values, positionals } = parse(
    argv.slice(2),
    forms.flatMap(({ options }) => options),
  );
  const form = forms.find(
    ({ taken, options }) =>
      isFilled(taken, positionals.length) &&
      Object.keys(values).every((option) => options.some(({ label }) => label === `--${option}`)),
  );
  if (form === undefined) throw new UsageError(`Usage: ${forms.map(callOf).join(', or ')}`);
  const given: Given = {};
  for (const { name, label, schema } of form.taken)
    given[name] = valueIn(schema, label.endsWith('…') ? positionals : positionals.shift());
  for (const field of form.options) {
    const text = values[field.label.slice(2)];
    if (text !== undefined) given[field.name] = valueIn(field.schema, text);
    else if (isRequired(field)) throw new UsageError(`${words} requires ${field.label} ${exampleOf(field)}`);
  }
  return { command: form.command, call: callOf(form), fields: [...form.taken, ...form.options], given };
}
const isFilled = (taken: Field[], count: number) =>
  taken.at(-1)?.label.endsWith('…') ? count >= taken.length : count === taken.length;

function parse(args: string[], fields: Field[]) {
  const options = fields.map((field) => {
    const type = isFlag(field) ? 'boolean' : 'string';
    return [field.label.slice(2), { type, multiple: isList(field) } as const] as const;
  });
  try {
    return parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true, allowNegative: true });
  } catch (error) {
    throw new UsageError((error as Error).message.replaceAll('\n', ' '));
  }
}

/** Returns the path and rule of each validation error. */
export function mistakesIn(schema: z.core.$ZodType, value: unknown): { path: PropertyKey[]; rule: string }[] {
  const issues = z.safeParse(schema, value).error?.issues ?? [];
  return issues.map(({ path, message }) => ({ path, rule: inWords(message) }));
}
