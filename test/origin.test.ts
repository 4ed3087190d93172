// Compares the origins that a list of sites admits with an independent oracle (docs/api.md, "Sites"), and measures the cost of the check.
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { canonicalSite, sitesCovering } from '../src/core/site.ts';
import { granted } from './answers.ts';
import { GENUINE_ORIGINS, HOSTILE_ORIGINS, isAscii, LISTS, type List, refusalOf } from './hostile/origins.ts';
import { Random } from './sim/random.ts';
import { call, newBusiness, setCount } from './support.ts';

/** Whether the service admits an origin, computed without a database. */
const admits = (sites: readonly string[], origin: string) => sitesCovering(origin).some((site) => sites.includes(site));

// The oracle scans the registered sites and parses sites and origins by hand. It does not use `URL`, and it does not derive candidate sites
// from an origin.
type Parts = { scheme: string; host: string; port: string | null };

function partsOf(text: string): Parts | null {
  const scheme = ['http', 'https'].find((name) => text.startsWith(`${name}://`));
  if (scheme === undefined) return null;
  const authority = text.slice(scheme.length + 3);
  const colon = authority.indexOf(':', authority.startsWith('[') ? authority.indexOf(']') : 0);
  if (colon < 0) return { scheme, host: authority, port: null };
  return { scheme, host: authority.slice(0, colon), port: authority.slice(colon + 1) };
}

function isPortOf(scheme: string, port: string) {
  const number = /^[1-9][0-9]*$/.test(port) ? Number(port) : 0;
  return number >= 1 && number <= 65_535 && number !== { http: 80, https: 443 }[scheme];
}

const isHost = (host: string) =>
  host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));

function covers(site: string, origin: string): boolean {
  if (origin.includes('*')) return false;
  if (!site.includes('*')) return site === origin;
  const [registered, visiting] = [partsOf(site), partsOf(origin)];
  if (registered === null || visiting === null || registered.scheme !== visiting.scheme) return false;
  if (registered.port === '*') {
    if (visiting.port !== null && !isPortOf(visiting.scheme, visiting.port)) return false;
  } else if (registered.port !== visiting.port) return false;
  const [star, ...domain] = registered.host.split('.');
  if (star !== '*') return registered.host === visiting.host;
  const labels = visiting.host.split('.');
  return (
    isHost(visiting.host) &&
    labels.length > domain.length &&
    domain.every((label, index) => label === labels.at(index - domain.length))
  );
}

const oracle = (sites: readonly string[], origin: string) => sites.some((site) => covers(site, origin));

/** The oracle cannot decode punycode, so under a wildcard the service may refuse a punycode label that the oracle admits. */
const isJudgedAlike = (sites: readonly string[], origin: string) =>
  admits(sites, origin) === oracle(sites, origin) || (!admits(sites, origin) && /[/.]xn--/.test(origin));

const lists = Object.entries(LISTS) as [List, readonly string[]][];

test('the hostile tables list only canonical sites', () => {
  for (const site of Object.values(LISTS).flat()) expect(canonicalSite(site).site).toBe(site);
});

describe('an origin', () => {
  const REPORT = granted({ used: [{ date: '2026-01-01', count: 0 }] });
  /** `every` combines the sites of all lists, so if it refuses an origin, every single list refuses it too. */
  let businesses: Record<List | 'every', Awaited<ReturnType<typeof newBusiness>>>;
  beforeAll(async () => {
    const made = lists.map(async ([list, sites]) => [list, await newBusiness({ sites: [...sites] })]);
    const every = await newBusiness({ sites: Object.values(LISTS).flat() });
    businesses = { ...Object.fromEntries(await Promise.all(made)), every };
  });

  const GROUPS = Object.entries({ ...HOSTILE_ORIGINS, genuine: GENUINE_ORIGINS });
  test.each(GROUPS)(
    'is admitted by the same lists in the table, the oracle and the service: %s',
    { tags: 'slow' },
    async (_, rows) => {
      for (const [origin, ...admittedBy] of rows) {
        const admitting = lists.filter(([, sites]) => oracle(sites, origin)).map(([list]) => list);
        expect([origin, ...admitting]).toEqual([origin, ...admittedBy]);
        if (!isAscii(origin)) continue;
        for (const list of admitting.length === 0 ? (['every'] as const) : lists.map(([list]) => list)) {
          const { usage, token } = businesses[list];
          const { status, body } = await call('GET', `${usage}?from=2026-01-01&to=2026-01-01`, { as: token, origin });
          const admitted = admittedBy.some((name) => name === list);
          const expected = admitted ? REPORT : { status: 403, body: refusalOf(origin) };
          expect({ origin, list, status, body }).toEqual({ origin, list, ...expected });
        }
      }
    },
  );
});

const REGISTERED = [
  ...Object.values(LISTS).flat(),
  ...['https://example.com', 'http://example.com', 'https://*.example.com', 'http://*.example.com:8080'],
  ...['https://*.b.example.com', 'https://a.b.example.com:8443', 'https://127.0.0.1:3000', 'https://intranet'],
];

const CHARACTERS = [
  ...'abexz019-_.:/@#?%\\*[] \t\n,;"\'!$&()+=^`{|}~A',
  ...['\u0000', '\u007f', '\u00a0', '\u00ad', '\u00e9', '\u0430', '\u0455', '\u200b', '\u3002', '\uff0e', '\uff41'],
];
const LABELS = ['a', 'evil', 'www', 'xn--bcher-kva', 'x_y', '1', '127', 'localhost', '-a', 'a-', '', 'a'.repeat(63)];
const BEHIND = [
  ...['.evil.com', 'evil.com', '.', '/', ':443', ':80', ':8443', ':0', '@evil.com', ', https://evil.com', '%00', '\t'],
];
const BEFORE = ['https://evil.com@', 'https://evil.com/', 'null, ', ' ', 'x', 'https://', 'view-source:'];
const HOST_AT = /:\/\/(\[?)/;

const upsideDown = (text: string) => (text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase());
const splice = (text: string, at: number, removed: number, put: string) =>
  text.slice(0, at) + put + text.slice(at + removed);
const MUTATIONS: ((origin: string, random: Random, at: number) => string)[] = [
  (origin, random, at) => splice(origin, at, random.int(2), random.pick(CHARACTERS)),
  (origin, random, at) => splice(origin, at, random.int(6), ''),
  (origin, random, at) => splice(origin, at, 0, origin.slice(at, at + 1 + random.int(12))),
  (origin, _, at) => splice(origin, at, 1, upsideDown(origin.charAt(at))),
  (origin, _, at) => splice(origin, at, 1, `%${origin.charCodeAt(at).toString(16)}`),
  (origin, random) => origin + random.pick(BEHIND),
  (origin, random) => random.pick(BEFORE) + origin,
  (origin, random) => origin.replace(HOST_AT, `$&${random.pick(LABELS)}${random.pick(['.', ''])}`),
  (origin, random) => origin.replace('.', random.pick(CHARACTERS)),
  (origin, random) =>
    origin.replace(/^[a-z]+/, random.pick(['http', 'https', 'HTTPS', 'ws', 'ftp', 'file', 'blob:https'])),
  (origin, random) => origin.replace(/(:\d*)?$/, `:${random.int(66_000)}`),
  (origin, random) => origin.replace(/(:\d*)?$/, random.pick(BEHIND)),
  (origin, random) => origin.replace(/[^.]*(:\d*)?$/, random.pick(REGISTERED).replace(/^.*\/\//, '')),
];

/** Returns an origin that one of `sites` covers, with up to three mutations. */
function mutated(sites: readonly string[], random: Random): string {
  let origin = random.pick(sites);
  if (random.int(20) > 0) {
    const labels = Array.from({ length: 1 + random.int(3) }, () => random.pick(LABELS)).join('.');
    origin = origin.replace('*.', `${labels}.`).replace(':*', random.pick(['', `:${random.int(66_000)}`]));
  }
  for (let left = random.int(4); left > 0; left--)
    origin = random.pick(MUTATIONS)(origin, random, random.int(origin.length + 1));
  return origin;
}

test('the service and the oracle agree on 100,000 mutations of registered sites', {
  tags: 'slow',
}, () => {
  const random = new Random(fc.sample(fc.integer(), 1)[0] ?? 0);
  const passed = { literal: 0, wildcard: 0, none: 0 };
  const wrong: { origin: string; sites: string[] }[] = [];
  for (let run = 0; run < 100_000; run++) {
    const sites = Array.from({ length: 1 + random.int(4) }, () => random.pick(REGISTERED));
    const origin = mutated(sites, random);
    if (!isJudgedAlike(sites, origin)) wrong.push({ origin, sites });
    passed[sites.includes(origin) ? 'literal' : admits(sites, origin) ? 'wildcard' : 'none'] += 1;
  }
  expect(wrong).toEqual([]);
  // Each outcome is frequent, because the mutated origins stay close to the boundary between admitted and refused.
  expect(Math.min(...Object.values(passed))).toBeGreaterThan(10_000);
});

describe('the cost of checking an origin', () => {
  const DAYS = 7;
  const FEW = [
    ...['https://example.com', 'https://*.example.com', 'https://*.example.com:8443'],
    ...['https://*.b.c.d.example.com', 'http://localhost:*', 'http://localhost:3000'],
  ];
  const MANY = [...FEW, ...Array.from({ length: 500 - FEW.length }, (_, index) => `https://*.s${index}.example.com`)];

  async function crowded(sites: string[]) {
    const business = await newBusiness({ user_id: 900 });
    const insert = business.home.d1.prepare(
      "insert into sites select null, ?, value, 'then', 'then', 1 from json_each(?)",
    );
    await insert.bind(business.id, JSON.stringify(sites)).run();
    for (let day = 10; day < 10 + DAYS; day++) await setCount(business.id, `2026-03-${day}`, day);
    return business;
  }

  type Business = Awaited<ReturnType<typeof crowded>>;
  let [few, many]: Business[] = [];
  beforeAll(async () => {
    few = await crowded(FEW);
    many = await crowded(MANY);
    await crowded([]); // a query that reads too far, past the days of another business, would reach the days of this one
  });

  /** Returns the status of a usage report for an origin, and the number of rows read, not counting the report's days. */
  async function rowsRead(business: Business | undefined, origin: string) {
    const answer = await call('GET', `${business?.usage}?from=2026-03-10&to=2026-03-16`, {
      as: business?.token ?? '',
      origin,
    });
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    return { status: answer.status, rows: answer.cost.rows_read - (answer.status === 200 ? DAYS : 0) };
  }

  // The last column is the number of wildcard lookups.
  test.each([
    ['of 2 labels', 'https://example.com', 200, 0],
    ['of 2 labels that is refused', 'https://example.org', 403, 0],
    ['of 3 labels that a wildcard covers', 'https://www.example.com', 200, 1],
    ['of 3 labels and a port that a wildcard covers', 'https://www.example.com:8443', 200, 1],
    ['of 6 labels that two wildcards cover', 'https://a.b.c.d.example.com', 200, 4],
    ['of 6 labels that is refused', 'https://a.b.c.d.example.org', 403, 4],
    ['of 122 labels that two wildcards cover', `https://${'a.'.repeat(117)}b.c.d.example.com`, 200, 4],
    ['of 130 labels', `https://${'a.'.repeat(128)}example.com`, 403, 0],
    ['of 8194 labels', `https://${'a.'.repeat(8192)}example.com`, 403, 0],
    ['of a loopback host that two sites cover', 'http://localhost:3000', 200, 1],
    ['that is null', 'null', 403, 0],
    ['of 16 KiB', `https://${'a'.repeat(16_384)}.example.com`, 403, 0],
    ['that joins 745 others', `https://example.com${', https://example.com'.repeat(745)}`, 403, 0],
  ])('is bounded for an origin %s, and is the same with 6 sites and with 500', async (_, origin, status, wildcards) => {
    const read = await rowsRead(few, origin);
    expect(read.status).toBe(status);
    expect(read.rows).toBeLessThanOrEqual(8 + 2 * wildcards);
    expect(await rowsRead(many, origin)).toEqual(read);
    expect(sitesCovering(origin)).toHaveLength(1 + wildcards);
  });
});
