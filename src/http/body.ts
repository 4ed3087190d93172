// Reads a request body of bounded size, before authentication.
import { brokenBody, compressedBody, tooLarge } from './errors.ts';

const MAX_BYTES = 1024 * 1024;

/** Returns the body as text. A request without a body may still have an empty stream. */
export async function readBody({ headers, body }: Request): Promise<string> {
  const length = headers.get('Content-Length');
  if (length === '0' || body === null) return '';
  if (isEncoded(headers)) throw compressedBody();
  if (Number(length) > MAX_BYTES) throw tooLarge();
  const text = await textOf(body).catch((cause: unknown) => {
    throw brokenBody(cause);
  });
  if (text === null) throw tooLarge();
  return text;
}

/** Tests for a content coding other than `identity`. The service decodes nothing, because a few bytes can decode to many. */
const isEncoded = (headers: Headers): boolean =>
  (headers.get('Content-Encoding') ?? '')
    .split(',')
    .some((coding) => !['', 'identity'].includes(coding.trim().toLowerCase()));

/**
 * Returns null as soon as the body is too large. Throws if it is cut off or is not UTF-8, because input is never repaired. Keeps a byte
 * order mark, because a body that consists of one is not empty.
 */
async function textOf(body: ReadableStream<Uint8Array>): Promise<string | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
