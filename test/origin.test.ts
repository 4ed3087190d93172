// Compares the origins that a list of sites admits with an independent oracle (docs/api.md, "Sites"), and measures the cost of the check.
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { canonicalSite, sitesCovering } from '../src/core/site.ts';
import { answerOf, granted } from './answers.ts';
import {
  GENUINE_ORIGINS,
  HOSTILE_ORIGINS,
  isAscii,
  LISTS,
  type List,
  NO_ORIGIN,
  refusalOf,
} from './hostile/origins.ts';
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

/** Seeded random choices (mulberry32). */
function chooser(seed: number) {
  let state = seed;
  const below = (bound: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
  return { below, of: <T>(choices: readonly T[]) => choices[below(choices.length)] as T };
}

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

type Choices = ReturnType<typeof chooser>;
const MUTATIONS: ((origin: string, choices: Choices) => string)[] = [
  (origin, { below, of }) => splice(origin, below(origin.length + 1), 0, of(CHARACTERS)),
  (origin, { below, of }) => splice(origin, below(origin.length + 1), 1, of(CHARACTERS)),
  (origin, { below }) => splice(origin, below(origin.length + 1), 1, ''),
  (origin, { below }) => splice(origin, below(origin.length + 1), below(6), ''),
  (origin, { below }) => {
    const at = below(origin.length + 1);
    return splice(origin, at, 0, origin.slice(at, at + 1 + below(12)));
  },
  (origin, { below }) => {
    const at = below(origin.length + 1);
    const character = origin.charAt(at);
    return splice(
      origin,
      at,
      1,
      character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase(),
    );
  },
  (origin, { below }) => {
    const at = below(origin.length + 1);
    return splice(origin, at, 1, `%${origin.charCodeAt(at).toString(16)}`);
  },
  (origin, { of }) => origin + of(BEHIND),
  (origin, { of }) => of(BEFORE) + origin,
  (origin, { of }) => origin.replace(HOST_AT, `$&${of(LABELS)}.`),
  (origin, { of }) => origin.replace(HOST_AT, `$&${of(LABELS)}`),
  (origin, { of }) => origin.replace('.', of(CHARACTERS)),
  (origin, { of }) => origin.replace(/^[a-z]+/, of(['http', 'https', 'HTTPS', 'ws', 'ftp', 'file', 'blob:https'])),
  (origin, { below }) => origin.replace(/(:\d*)?$/, `:${below(66_000)}`),
  (origin, { of }) => origin.replace(/(:\d*)?$/, of(BEHIND)),
  (origin, { of }) => origin.replace(/[^.]*(:\d*)?$/, of(REGISTERED).replace(/^.*\/\//, '')),
];

const splice = (text: string, at: number, removed: number, put: string) =>
  text.slice(0, at) + put + text.slice(at + removed);

/** Returns an origin that one of `sites` covers, with up to three mutations. */
function mutated(sites: readonly string[], choices: Choices): string {
  const { below, of } = choices;
  let origin = of(sites);
  if (below(20) > 0) {
    const labels = Array.from({ length: 1 + below(3) }, () => of(LABELS)).join('.');
    origin = origin.replace('*.', `${labels}.`).replace(':*', of(['', `:${below(66_000)}`]));
  }
  for (let left = below(4); left > 0; left--) origin = of(MUTATIONS)(origin, choices);
  return origin;
}

test('the service and the oracle agree on 100,000 mutations of registered sites', {
  tags: 'slow',
}, () => {
  const choices = chooser(fc.sample(fc.integer(), 1)[0] ?? 0);
  const passed = { literal: 0, wildcard: 0, none: 0 };
  const wrong: { origin: string; sites: string[] }[] = [];
  for (let run = 0; run < 100_000; run++) {
    const sites = Array.from({ length: 1 + choices.below(4) }, () => choices.of(REGISTERED));
    const origin = mutated(sites, choices);
    if (!isJudgedAlike(sites, origin)) wrong.push({ origin, sites });
    passed[sites.includes(origin) ? 'literal' : admits(sites, origin) ? 'wildcard' : 'none'] += 1;
  }
  expect(wrong).toEqual([]);
  // Each outcome is frequent, because the mutated origins stay close to the boundary between admitted and refused.
  expect(Math.min(...Object.values(passed))).toBeGreaterThan(10_000);
});

test('the service and the oracle agree on any list and any origin', { tags: 'slow' }, () => {
  const labels = fc.array(fc.constantFrom('a', 'b', 'shop', 'example', 'com', 'x_1'), { minLength: 1, maxLength: 7 });
  const port = fc.constantFrom('', ':*', ':80', ':443', ':3000', ':8443', ':65535');
  const scheme = fc.constantFrom('http://', 'https://');
  const star = fc.constantFrom('', '*.');
  const host = fc.oneof(
    labels.map((all) => all.join('.')),
    fc.constantFrom('localhost', '127.0.0.1', '[::1]'),
  );
  const written = fc.tuple(scheme, star, host, port).map((parts) => parts.join(''));
  const site = fc.oneof(written, fc.constantFrom(...REGISTERED)).map((text) => canonicalSite(text).site ?? '');
  const sites = fc.array(site, { minLength: 1, maxLength: 6 }).map((all) => all.filter((text) => text !== ''));
  const origin = (from: readonly string[]) =>
    fc.oneof(
      fc.integer().map((seed) => mutated(from.length === 0 ? REGISTERED : from, chooser(seed))),
      fc.tuple(scheme, host, port).map((parts) => parts.join('')),
      fc.webUrl(),
      fc.string({ unit: 'binary' }),
    );
  const example = sites.chain((list) => fc.tuple(fc.constant(list), origin(list)));
  fc.assert(
    fc.property(example, ([list, from]) => isJudgedAlike(list, from)),
    { numRuns: 10_000 },
  );
});

test('the service admits and refuses requests from the same origins as the oracle', { tags: 'slow' }, async () => {
  const businesses = await Promise.all(
    lists.map(async ([, sites]) => ({ sites, ...(await newBusiness({ sites: [...sites] })) })),
  );
  const choices = chooser(fc.sample(fc.integer(), 1)[0] ?? 0);
  const statuses = new Set<number>();
  for (let run = 0; run < 300; run++) {
    const { sites, usage, token } = choices.of(businesses);
    const origin = mutated(sites, choices).trim();
    if (!isAscii(origin)) continue;
    const answer = await call('GET', usage, { as: token, origin });
    statuses.add(answer.status);
    if (answer.status === 200) expect(oracle(sites, origin), origin).toBe(true);
    else {
      expect(answerOf(answer)).toEqual({ status: 403, body: refusalOf(origin) });
      if (!/[/.]xn--/.test(origin)) expect(oracle(sites, origin), origin).toBe(false);
    }
  }
  expect(statuses).toEqual(new Set([200, 403]));
});

test('a request with a token but no origin is refused with a message that explains where tokens work', async () => {
  const { usage, token } = await newBusiness({ sites: ['https://shop.example'] });
  const answer = await call('GET', usage, { as: token });
  expect(answerOf(answer)).toEqual({ status: 403, body: NO_ORIGIN });
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
      "insert into access select null, ?, value, 'then', 'then' from json_each(?)",
    );
    await insert.bind(business.id, JSON.stringify(sites)).run();
    for (let day = 10; day < 10 + DAYS; day++) await setCount(business.id, `2026-03-${day}`, day);
    return business;
  }

  type Business = Awaited<ReturnType<typeof crowded>>;
  let [one, few, many]: Business[] = [];
  beforeAll(async () => {
    one = await crowded(['https://example.com']);
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

  test('is the same with one site and with 500', async () => {
    for (const origin of ['https://example.com', 'https://example.org']) {
      expect(await rowsRead(one, origin)).toEqual(await rowsRead(many, origin));
    }
  });
});
