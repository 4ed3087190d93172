// The back end of ../back-end.mjs in a Worker. During an outage, it does no work either.

type Env = { USAGE: Fetcher };

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
async function send(service: Fetcher, use: Request, signal: AbortSignal) {
  const headers = new Headers({ ...always, 'X-Request-Id': use.headers.get('X-Request-Id') ?? '' });
  try {
    const { status, body, headers: received } = await service.fetch(use, { signal });
    for (const name of passedOn) if (received.has(name)) headers.set(name, received.get(name) ?? '');
    let text = '';
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.length > 10_000) throw new Error('The response is too long');
    }
    if (status !== 200 && (status < 400 || status > 499)) throw new Error(`Status ${status}`);
    JSON.parse(text); // throws if the text is truncated or a proxy's error page
    return new Response(text, { status, headers });
  } catch (error) {
    const reason = JSON.stringify(`${error}`); // always one line
    console.error(`The usage service failed: ${reason}, X-Request-Id ${headers.get('X-Request-Id')}`);
    return Response.json({ message: 'Service Unavailable' }, { status: 503, headers });
  }
}

/** Records a use with at most two attempts, within 23 seconds. */
async function recordUse(visit: Request, service: Fetcher) {
  // Ignores the visitor's own idempotency key: otherwise, one use could pay for many visits.
  const id = crypto.randomUUID();
  const headers = new Headers({ 'Idempotency-Key': id, 'X-Request-Id': id });
  for (const name of ['Authorization', 'Origin']) {
    const value = visit.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const business = Number(new URL(visit.url).searchParams.get('business')); // a number cannot change the path
  const url = `https://usage.internal/api/v1/business/usage/${business}`;
  const use = new Request(url, { method: 'POST', headers, redirect: 'manual' });

  const end = AbortSignal.timeout(23_000);
  const first = await send(service, use, AbortSignal.timeout(11_000));
  const seconds = Number(first.headers.get('Retry-After') ?? 1);
  if (first.status !== 503 || !(seconds <= 10)) return first;
  await scheduler.wait(seconds * 1000);
  return send(service, use, end); // safe: uses with the same idempotency key count once
}

export default {
  async fetch(request, env) {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: always }); // a preflight is not a use
    const use = await recordUse(request, env.USAGE);
    if (use.status !== 200) return use; // forward the refusal
    try {
      return Response.json(await work(), { headers: use.headers });
    } catch (error) {
      console.error(error); // the visitor does not see the cause
      return Response.json({ message: 'Server Error' }, { status: 500, headers: use.headers });
    }
  },
} satisfies ExportedHandler<Env>;
