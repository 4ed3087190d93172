// Reads the body of a request, whole and bounded, before we know the sender.
import { createMiddleware } from 'hono/factory';
import type { Env } from '../env.ts';
import { BrokenBody, TooLarge } from './errors.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * Sets `body`, as text. It goes before the guard, which reads the clock: otherwise a caller could hold back the body to use a
 * credential that has expired.
 */
export const wholeBody = createMiddleware<Env>(async function wholeBody(c, next) {
  c.set('body', new TextDecoder().decode(await bytesOf(c.req.raw)));
  await next();
});

/** The body; a request without one may still have an empty stream. */
async function bytesOf(request: Request): Promise<ArrayBuffer> {
  const length = request.headers.get('Content-Length');
  if (request.body === null || length === '0') return new ArrayBuffer(0);
  if (Number(length) > MAX_BYTES) throw new TooLarge();
  const bytes = await (length === null ? counted(request.body) : request.arrayBuffer()).catch((cause: unknown) => {
    throw new BrokenBody('the body broke off', { cause });
  });
  if (bytes === null || bytes.byteLength > MAX_BYTES) throw new TooLarge();
  return bytes;
}

/** A body whose length is unknown, or null as soon as it is too long. */
async function counted(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<ArrayBuffer | null> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}
