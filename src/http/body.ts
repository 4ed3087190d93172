// Reads the body of a request, whole and bounded, before we know the sender.
import { brokenBody, tooLarge } from './errors.ts';

const MAX_BYTES = 1024 * 1024;

/** The body of a request, as text. */
export const bodyOf = async (request: Request): Promise<string> => new TextDecoder().decode(await bytesOf(request));

/** The body; a request without one may still have an empty stream. */
async function bytesOf(request: Request): Promise<ArrayBuffer> {
  const length = request.headers.get('Content-Length');
  if (length === '0' || request.body === null) return new ArrayBuffer(0);
  if (Number(length) > MAX_BYTES) throw tooLarge();
  const bytes = await (length === null ? counted(request.body) : request.arrayBuffer()).catch((cause: unknown) => {
    throw brokenBody(cause);
  });
  if (bytes === null || bytes.byteLength > MAX_BYTES) throw tooLarge();
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
