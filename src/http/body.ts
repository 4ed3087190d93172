// The body of a request: whole and bounded, before anything is known of its sender.
import type { MiddlewareHandler } from 'hono';
import type { Env } from '../env.ts';
import { BrokenBody, tooLarge } from './errors.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * In front of the guard where a route takes a body. What depends on the time goes by the clock behind it: else a credential that
 * expires would pass for as long as its body is held back.
 */
export const wholeBody: MiddlewareHandler<Env> = async function wholeBody(c, next) {
  const { known } = c.env;
  const bytes = await bytesOf(c.req.raw).catch((cause: unknown) => {
    throw new BrokenBody('the body broke off', { cause });
  });
  if (bytes === null) return tooLarge(known);
  known.body = new TextDecoder().decode(bytes);
  known.now = known.clock();
  return next();
};

/** The body, or null where it is over MAX_BYTES: told by its length where it has one, else by counting. */
async function bytesOf(request: Request): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array();
  if (Number(request.headers.get('Content-Length')) > MAX_BYTES) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
