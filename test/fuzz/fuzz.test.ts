// Sends random requests to every route. `call` throws if a response, or a request that succeeds, does not match openapi.json. Prints its
// seed. FUZZ_SEED repeats a run, and FUZZ_SECONDS extends it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isShared } from '../../src/public-suffix.ts';
import { ROUTES } from '../routes.ts';
import { BASE, call, newBusiness, newKey, newSession, OPERATOR } from '../support.ts';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 30);
/** The minimum number of requests, even on a slow machine. */
const MIN_REQUESTS = 1000;
const AT_ONCE = 16;

const inPath = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.webSegment(),
  fc.constantFrom('', '0', 'usage', '%00', '%2e%2e', '%ff', '9007199254740993'),
);
const inHeader = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 60 }),
  fc.webUrl(),
  fc.constantFrom('null', '*', BASE, 'https://shop.example', 'text/csv', 'a'.repeat(16_000)),
  fc.constant(`https://${'a.'.repeat(130)}example.com`),
);
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** A member of the valid body with another value, or another body. */
const body = fc.oneof(
  { weight: 4, arbitrary: fc.record({ member: fc.nat(8), value: fc.jsonValue() }) },
  fc.json(),
  fc.string(),
  fc.constantFrom('', 'x'.repeat(2 ** 20 + 1)),
);

async function world() {
  const businesses = await Promise.all([
    newBusiness(),
    newBusiness({ sites: ['https://shop.example', 'https://*.example.com', 'http://localhost:*'] }),
    newBusiness({ status: 'suspended' }),
  ]);
  const keys = await Promise.all(
    businesses.flatMap((business) => [
      newKey(business, { role: 'read' }),
      newKey(business, { role: 'record', business_id: business.id }),
      newSession(business),
    ]),
  );
  const own = [...businesses, ...keys].map(({ key }) => key);
  return { businesses, secrets: [...businesses.map(({ token }) => token), ...own, ...Object.values(OPERATOR)] };
}

test('random requests receive only documented responses, which show no secrets and no SQL', {
  timeout: (SECONDS + 240) * 1000,
}, async () => {
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
  console.log(`FUZZ_SEED=${seed}`);
  const { businesses, secrets } = await world();
  // Loads the list of public suffixes in advance: in the test runner, loading takes longer than a request's timeout.
  await isShared('example.com');
  const requests = fc.record({
    route: fc.constantFrom(...ROUTES),
    business: fc.constantFrom(...businesses),
    as: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('owner', OPERATOR.full) },
      { weight: 4, arbitrary: fc.constantFrom(...secrets) },
      inHeader,
    ),
    method: rarely(fc.constantFrom('HEAD', 'OPTIONS', 'GET', 'POST', 'PUT', 'PROPFIND')),
    segment: rarely(fc.record({ place: fc.integer({ min: 1, max: 6 }), text: inPath })),
    query: rarely(fc.oneof(fc.webQueryParameters(), fc.tuple(fc.constantFrom('from', 'limit', 'before'), inPath))),
    body: rarely(body),
    headers: rarely(
      fc.dictionary(
        fc.constantFrom('Origin', 'Idempotency-Key', 'Content-Type', 'Accept', 'X-API-Key', 'Sec-Fetch-Site'),
        inHeader,
        { maxKeys: 2 },
      ),
    ),
  });
  type Sent = typeof requests extends fc.Arbitrary<infer T> ? T : never;
  const statuses: Record<number, number> = {};

  async function send({ route, business, as, segment, query, body: given, headers, ...sent }: Sent) {
    const method = sent.method ?? route.method;
    const parts = route.path(business).split('/');
    if (segment !== undefined) parts[segment.place] = segment.text;
    const path = parts.join('/') + (query === undefined ? '' : `?${Array.isArray(query) ? query.join('=') : query}`);
    const valid = (route.body ?? {}) as object;
    const names = Object.keys(valid);
    const changed = typeof given === 'object' && { ...valid, [names[given.member] ?? 'other']: given.value };
    const content = given === undefined ? route.body : changed || given;
    const hasBody = !['GET', 'HEAD'].includes(method) && content !== undefined;
    const answer = await call(method, path, {
      as: as === 'owner' ? business.key : as,
      headers: { ...route.headers, ...headers },
      ...(hasBody && { body: content }),
    });
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const said = JSON.stringify([method, path, as, headers, content, answer]).slice(0, 2000);
    expect(answer.status, said).toBeLessThan(500);
    const shown = JSON.stringify([answer.lines, answer.errors]) + (answer.status === 200 ? '' : answer.text);
    expect(shown, said).not.toMatch(/SQLITE|D1_ERROR|drizzle|insert into|\n\s+at /i);
    for (const secret of secrets) expect(shown.includes(secret), said).toBe(false);
  }

  function* inTime() {
    const end = Date.now() + SECONDS * 1000;
    for (let part = 0; part === 0 || Date.now() < end; part++)
      yield* fc.sample(requests, { numRuns: part === 0 ? MIN_REQUESTS : 100, seed: seed + part });
  }
  const queue = inTime();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const sent of queue) await send(sent);
    }),
  );
  console.log(JSON.stringify(statuses));
  for (const status of [200, 204, 401, 403, 404, 405, 413, 422])
    expect(statuses, `${status}`).toHaveProperty(`${status}`);
});
