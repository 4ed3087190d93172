// Runs a command: validates the input with the service's schema, sends the request, and returns a value or lines.
import { readAllPages, serviceIn, UnknownOutcome } from './client.ts';
import { type CommandLine, CURSORS, mistakesIn, shapeOf, UsageError } from './command-line.ts';

/** `say` prints a message for the user. */
export async function run(
  { command, call, fields, given }: CommandLine,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
) {
  const { request, input, prepare, lines, shown = (data) => data } = command;
  const shape = input ? shapeOf(input) : {};
  const wrong = fields.flatMap(({ name, label, schema }) =>
    name in shape ? [] : mistakesIn(schema, given[name]).map(({ rule }) => `${label} ${rule}`),
  );
  if (prepare && wrong.length > 0) throw new UsageError(wrong.join('\n'));
  const values = Object.fromEntries(Object.entries(given).filter(([name]) => name in shape));
  const { sent, inWords } = prepare ? await prepare(values) : { sent: values };
  for (const { path, rule } of input ? mistakesIn(input, sent) : []) {
    const [name = '', index] = path.map(String);
    const label = fields.find((field) => field.name === name)?.label;
    const entry = index === undefined ? '' : ` ${(given[name] as unknown[])[Number(index)]}`;
    if (inWords) wrong.push(inWords(`${path.join('.')} ${rule}`));
    else wrong.push(label ? `${label}${entry} ${rule}` : `Usage: ${call}`);
  }
  if (wrong.length > 0) throw new (inWords ? Error : UsageError)(wrong.join('\n'));
  if (lines) return lines(connected(), given);
  if (request === undefined) return shown({}, given);

  const service = connected();
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name) => `${given[name]}`);
  const asked = filled(request);
  const isRead = asked.startsWith('GET ');
  const content = {
    ...(isRead || asked.startsWith('DELETE ') ? { query: sent } : { body: sent }),
    ...(command.takesKey && { headers: { 'Idempotency-Key': crypto.randomUUID() } }),
  };
  const cursor = CURSORS.find((name) => name in shape);
  try {
    const data =
      cursor === undefined ? await service.ok(asked, content) : await readAllPages(service, asked, sent, cursor);
    return shown(data, given);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof UnknownOutcome && !isRead) throw new Error(`${message}\n${unknownOutcome()}`);
    throw new Error(inWords?.(message) ?? message);
  }

  function connected() {
    const service = serviceIn(env);
    say(service.host);
    return service;
  }
  function unknownOutcome(): string {
    const { shownBy = request?.includes('{ID}') ? 'business show {ID}' : undefined } = command;
    return `The outcome is unknown.${shownBy ? ` To see it: npm run -s admin -- ${filled(shownBy)}` : ''}`;
  }
}
