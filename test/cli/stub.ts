// A stub of the service that records the requests it receives.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import type { Data } from '../../src/cli/client.ts';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { run } from '../../src/cli/run.ts';
import { ROOT, runScript } from './support.ts';

export const KEY = `bua_op_${'k'.repeat(43)}`;
type Sent = { request: string; body: unknown; headers: IncomingMessage['headers'] };
export type Answer = (response: ServerResponse, count: number) => void;

export const json =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
export const success = (data: unknown) => json({ status: true, data });
/** Sends half of a body, then closes the connection. */
export const cutOff: Answer = (response) => {
  response.writeHead(200, { 'Content-Length': '100' }).write('{"status":tr', () => response.destroy());
};

/**
 * Starts a stub. Returns its host, the requests sent to it, and the environment that points commands at it. After the last answer has been
 * sent, it is repeated for all further requests.
 */
export async function stub(...answers: Answer[]) {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { method, url = '', headers } = request;
    sent.push({ request: `${method} ${url.replace('/api/v1', '')}`, body: body && JSON.parse(body), headers });
    answers[Math.min(sent.length, answers.length) - 1]?.(response, sent.length);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, sent, env: { API: `http://${host}/api/v1`, OPERATOR_KEY: KEY } };
}

/** Runs a command in this process and returns its result. Joins the lines of an export. The command line must be valid. */
export async function printed(env: Record<string, string>, ...argv: string[]): Promise<Data> {
  const commandLine = commandLineOf(argv);
  if ('help' in commandLine) throw new Error('a call for help');
  const result = await run(commandLine, env, () => {});
  return Symbol.asyncIterator in Object(result) ? text(result) : result;
}

/** Runs `npm run admin -- …argv` with these variables. */
export const runAdmin = (env: Record<string, string>, ...argv: string[]) =>
  runScript({ API: '', OPERATOR_KEY: '', ...env }, `${ROOT}/src/cli/main.ts`, ...argv);
