// A product's back end. The usage service authorizes and counts each response.

type Env = { USAGE: Fetcher };

export default {
  async fetch(request, env) {
    const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Authorization' };
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: cors });
    const business = new URL(request.url).searchParams.get('business');
    const headers = new Headers({ 'Idempotency-Key': crypto.randomUUID() });
    for (const name of ['Authorization', 'Origin']) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const unreachable = () => Response.json({ message: 'Service Unavailable' }, { status: 503, headers: cors });
    const send = (signal: AbortSignal) =>
      env.USAGE.fetch(`https://usage.internal/api/v1/business/usage/${business}`, { method: 'POST', headers, signal });
    const record = () => send(AbortSignal.timeout(15_000)).catch(unreachable);
    let use = await record();
    if (use.status >= 500) use = await record(); // safe: with the same idempotency key, the use counts once
    if (use.status !== 200) return use; // pass the refusal on
    return Response.json({ answer: 42 }, { headers: cors });
  },
} satisfies ExportedHandler<Env>;
