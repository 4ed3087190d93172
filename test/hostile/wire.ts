// An HTTP client that sends request headers byte for byte. fetch and node:http would normalize or reject some of these headers.
import { connect, type Socket } from 'node:net';

const ANSWER_WITHIN_MS = 10_000;

export type Answer = { status: number; headers: Headers; text: string };

/** The UTF-8 bytes of a string, as one character per byte. */
export const utf8 = (text: string) => Buffer.from(text).toString('latin1');

/** A keep-alive connection to a local port that handles one request at a time. Reconnects after the server closes it. */
export class Wire {
  readonly #port: number;
  #sent = 0;
  #socket: Socket | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request. `lines` are header lines without CRLF, one byte per character. */
  send(method: string, path: string, lines: string[] = [], body?: string): Promise<Answer> {
    const socket = this.#socket ?? connect(this.#port, '127.0.0.1');
    this.#socket = socket;
    const content = Buffer.from(body ?? '');
    const framing = body === undefined ? [] : [`Content-Length: ${content.length}`];
    this.#sent += 1;
    const address = `CF-Connecting-IP: 192.0.2.${this.#sent % 8}`; // a single address would exceed its rate limit
    const head = [`${method} ${path} HTTP/1.1`, `Host: localhost:${this.#port}`, address, ...lines, ...framing, '', ''];
    const received: Buffer[] = [];
    return new Promise<Answer>((resolve, reject) => {
      const settle = (settled: () => void, reusable: boolean) => {
        socket.removeAllListeners();
        socket.on('error', () => {}); // ignores a reset after the response
        if (!reusable) this.close();
        settled();
      };
      const fail = (why: string) => settle(() => reject(new Error(`${why}: ${method} ${path}`)), false);
      socket.setTimeout(ANSWER_WITHIN_MS);
      socket.on('timeout', () => fail('no answer in time'));
      socket.on('error', ({ message }) => fail(message));
      socket.on('close', () => fail('closed before a whole answer'));
      socket.on('data', (chunk) => {
        received.push(chunk);
        const answer = parse(Buffer.concat(received), method);
        if (answer !== null) {
          settle(() => resolve(answer), answer.status !== 400 && answer.headers.get('Connection') !== 'close');
        }
      });
      socket.write(Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), content]));
    });
  }

  close() {
    this.#socket?.destroy();
    this.#socket = null;
  }
}

/** Parses a response. Returns null if it is incomplete. */
function parse(received: Buffer, method: string): Answer | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [start = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const headers = new Headers();
  for (const line of lines) headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
  const status = Number(start.split(' ')[1]);
  const body = received.subarray(end + 4);
  if (method === 'HEAD' || status === 204) return { status, headers, text: '' };
  const content = headers.get('Transfer-Encoding') === 'chunked' ? dechunked(body) : counted(body, headers);
  return content === null ? null : { status, headers, text: content.toString() };
}

function counted(body: Buffer, headers: Headers): Buffer | null {
  const length = Number(headers.get('Content-Length'));
  return body.length < length ? null : body.subarray(0, length);
}

function dechunked(body: Buffer): Buffer | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = body.indexOf('\r\n', at);
    const size = line < 0 ? Number.NaN : Number.parseInt(body.toString('latin1', at, line), 16);
    const next = line + 2 + size + 2;
    if (Number.isNaN(size) || body.length < next) return null;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(body.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
