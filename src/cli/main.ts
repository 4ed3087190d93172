// npm run -s admin -- <command>: prints one JSON object (for an export, JSON lines) to stdout, and messages to stderr. Exits with status 2
// if the command line is invalid, and with status 1 if the command fails or its output cannot be written. A reader that stops early, such as
// `head`, is no failure.
import { pipeline } from 'node:stream/promises';
import { commandLineOf, UsageError } from './command-line.ts';
import { run } from './run.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);
const print = (text: string) => pipeline([text], process.stdout, { end: false });
// The callers of `pipeline` get the errors of stdout, and nobody can be told those of stderr.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  const commandLine = commandLineOf(process.argv.slice(2));
  if ('help' in commandLine) await print(commandLine.help);
  else {
    const result = await run(commandLine, process.env, say);
    if (Symbol.asyncIterator in Object(result)) await pipeline(result, process.stdout, { end: false });
    else await print(`${JSON.stringify(result)}\n`);
  }
} catch (error) {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  const isOutput = syscall === 'write';
  if (!isOutput || code !== 'EPIPE') {
    say(isOutput ? `The command ran, but its output cannot be written: ${message}` : message);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
