// A back end for pages that send a business token (docs/embedding.md, "A product's back end"). Only the service can check the token, so
// during an outage, this does no work (docs/product.md, "During an outage").
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

const { API, BUSINESS, PORT = '3000' } = process.env;
const missing = ['API', 'BUSINESS'].filter((name) => !process.env[name]);
if (missing.length > 0) {
  console.error(`Missing in the environment: ${missing.join(', ')}`);
  process.exit(1);
}

/** Your product's work for a visitor. */
const work = async () => ({ answer: 42 });

const passedOn = ['Error-Code', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'];
const always = {
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': passedOn.join(', '),
  'Cache-Control': 'no-store',
  'Content-Type': 'application/json',
};

/** Returns the service's response. If the service fails, logs the reason and returns 503. */
async function send(use, signal) {
  const headers = { 'X-Request-Id': use.headers.get('X-Request-Id') };
  try {
    const { status, body, headers: received } = await fetch(use, { signal });
    for (const name of passedOn) if (received.has(name)) headers[name] = received.get(name);
    let text = '';
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.length > 10_000) throw new Error('The response is too long');
    }
    if (status !== 200 && (status < 400 || status > 499)) throw new Error(`Status ${status}`);
    JSON.parse(text); // throws if the text is truncated or a proxy's error page
    return { status, headers, text };
  } catch (error) {
    const reason = JSON.stringify(error.cause?.code ?? error.message); // always one line
    console.error(`The usage service failed: ${reason}, X-Request-Id ${headers['X-Request-Id']}`);
    return { status: 503, headers, text: '{"message":"Service Unavailable"}' };
  }
}

/** Records a use with at most two attempts, within 23 seconds. */
async function recordUse({ authorization, origin }) {
  // Ignores the visitor's own idempotency key: otherwise, one use could pay for many visits.
  const id = crypto.randomUUID();
  const headers = new Headers({ 'Idempotency-Key': id, 'X-Request-Id': id });
  if (authorization !== undefined) headers.set('Authorization', authorization);
  if (origin !== undefined) headers.set('Origin', origin);
  const use = new Request(`${API}/business/usage/${BUSINESS}`, { method: 'POST', headers, redirect: 'manual' });

  const end = AbortSignal.timeout(23_000);
  const first = await send(use, AbortSignal.timeout(11_000));
  const seconds = Number(first.headers['Retry-After'] ?? 1);
  if (first.status !== 503 || !(seconds <= 10)) return first;
  await setTimeout(seconds * 1000);
  return send(use, end); // safe: uses with the same idempotency key count once
}

const server = createServer(async (request, response) => {
  if (request.method === 'OPTIONS') return response.writeHead(204, always).end(); // a preflight is not a use
  try {
    const { status, headers, text } = await recordUse(request.headers);
    const body = status === 200 ? JSON.stringify(await work()) : text; // forward the refusal
    response.writeHead(status, { ...always, ...headers }).end(body);
  } catch (error) {
    console.error(error); // the visitor does not see the cause
    response.writeHead(500, always).end('{"message":"Server Error"}');
  }
});
server.on('error', ({ message }) => {
  console.error(message);
  if (!server.listening) process.exit(1); // for example, the port is in use
});
server.listen(Number(PORT));
