// A product's own back end: each answer of it is one use, which the service authorises and counts.

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
    const ask = () =>
      env.USAGE.fetch(`https://usage.internal/api/v1/business/usage/${business}`, { method: 'POST', headers });
    let use = await ask();
    if (use.status >= 500) use = await ask(); // the key makes it safe: the use counts once
    if (use.status !== 200) return use; // refused: the visitor reads why
    return Response.json({ answer: 42 }, { headers: cors });
  },
} satisfies ExportedHandler<Env>;
