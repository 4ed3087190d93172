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

const NONE = new Uint8Array();

async function bytesOf({ body, headers }: Request): Promise<Uint8Array> {
  if (body === null) return NONE;
  if (Number(headers.get('Content-Length')) > MAX_BYTES) throw new TooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch (cause) {
    throw new BrokenBody('the body broke off', { cause });
  }
  if (size > MAX_BYTES) throw new TooLarge();
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
