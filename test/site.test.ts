// Valid sites, their stored format, and the origins that they cover (docs/api.md, "Sites"). test/rules/generated-hosts.test.ts and
// test/browser/unicode.test.ts compare the rule with URL parsers.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalSite, sitesCovering } from '../src/core/site.ts';
import { HOSTILE_SITES, legible } from './hostile/sites.ts';
import { call, dumpAll, newBusiness } from './support.ts';

const LONGEST_HOST = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;

/** Four labels of 50 accented letters: 400 characters decomposed, as some keyboards send them, and 228 in punycode. */
const DECOMPOSED = Array(4).fill('e\u0301'.repeat(50)).join('.');
const COMPOSED = Array(4)
  .fill(`xn--9c${'a'.repeat(50)}`)
  .join('.');

describe('a site is stored in its canonical notation', () => {
  /** Stored sites, each with other notations of the same site. */
  const ACCEPTED: Record<string, (string | [stored: string, ...written: string[]])[]> = {
    'in lower case': [
      ['https://example.com', 'https://EXAMPLE.com', 'HTTPS://Example.COM'],
      ['http://localhost:3000', 'hTTp://LOCALHOST:3000'],
    ],
    'without its path, query and fragment': [
      [
        ...(['https://example.com', 'https://example.com/', 'https://EXAMPLE.com:443/shop'] as const),
        ...['https://example.com/a/../b?c=d#e', 'https://example.com?q', 'https://example.com#f'],
        ...['https://example.com/@evil.example', 'https://example.com?u=user@evil.example:99999'],
        ...['https://example.com/100% \\ \u200b \uff45 *', `https://example.com/${'a'.repeat(2028)}`],
      ],
    ],
    'without surrounding white space': [
      ['https://example.com', ' https://example.com ', `${' '.repeat(1000)}https://example.com${' '.repeat(1000)}`],
    ],
    'without the default port, but with any other port': [
      ['https://example.com', 'https://example.com:443', 'https://example.com:'],
      ['http://example.com', 'http://example.com:80'],
      ['https://example.com:8443', 'https://example.com:08443'],
      ...['https://example.com:80', 'http://example.com:443', 'https://example.com:1', 'https://example.com:65535'],
    ],
    'with an internationalized host in punycode': [
      [
        ...(['https://xn--bcher-kva.example', 'https://b\u00fccher.example', 'https://B\u00dcCHER.example'] as const),
        'https://bu\u0308cher.example', // decomposed, as some keyboards send it
        'https://XN--BCHER-KVA.example',
      ],
      ['https://xn--fa-hia.example', 'https://fa\u00df.example'],
      ['https://xn--pxavk3b.example', 'https://\u03bf\u03b4\u03cc\u03c2.example'],
      ['https://xn--fsqu00a.xn--0zwm56d', 'https://\u4f8b\u5b50.\u6d4b\u8bd5'],
      ['https://xn--6dbbec0c.example', 'https://\u05d3\u05d5\u05d2\u05de\u05d4.example'],
      ['https://xn--53h.example', 'https://\u2615.example'],
      ['https://a1.xn--1-3hcci.xn--11b4ctcb', 'https://a1.\u05d3\u05d5\u05d21.\u0915\u0940\u092e\u0940'], // ends with a spacing mark
      ['https://xn--mgba3gch31f060k.com', 'https://\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com'], // a non-joiner after heh
      ['https://*.xn--10cl1a0b660p.com', 'https://*.\u0dc1\u0dca\u200d\u0dbb\u0dd3.com'], // a joiner after al-lakuna
      // Browsers compose the syllable and the letter.
      ['https://xn--p39a.com', 'https://\uac00\u11a8.com', 'https://\u1100\u1161\u11a8.com'],
      [`https://${COMPOSED}.example`, `https://${DECOMPOSED}.example`],
    ],
    'with any DNS name as its host': [
      ...['http://localhost', 'https://intranet', 'http://app.localhost:3000', 'https://_dev.example.com'],
      ...[
        'https://a_b.example.com',
        'https://pr-12--preview.example.com',
        ...['https://-x.shop.example', 'https://x-.shop.example', 'https://-.example', 'https://*.-x.example'],
        'https://3com.example',
        'https://1.2.example',
      ],
      `https://${LONGEST_HOST}`,
      `https://${'a.'.repeat(126)}a`, // 127 labels
    ],
    'with an IP address as its host': [
      ['https://192.0.2.7', 'https://192.0.2.7:443/x'],
      ['https://[2001:db8::7]', 'https://[2001:db8::7]:443'],
      ...['http://192.0.2.7', 'http://127.0.0.1:8787', 'http://[::1]:3000'],
    ],
    'with a wildcard for subdomains': [
      ['https://*.example.com', 'HTTPS://*.Example.COM:443/shop?q#f'],
      ['https://*.xn--bcher-kva.example', 'https://*.b\u00fccher.example'],
      ...['http://*.example.com:8080', 'https://*.a.b.example.com', 'https://*.a.b.c.example.com'],
      ...['http://*.intra.corp'],
      ...['https://*.shop.co.uk', 'https://*.acme.github.io', 'https://*.acme.vercel.app', 'https://*.shop.weebly.com'],
      'https://*.app.westeurope.azurecontainerapps.io',
      'https://*.www.ck', // the exception to the public suffix *.ck
      `https://*.${LONGEST_HOST.slice(2)}`,
    ],
    'exactly as the origin of an app': [
      ['capacitor://localhost', ' capacitor://localhost '],
      ...['ionic://localhost', 'tauri://localhost', 'app://localhost', 'app://-', 'app://bundle'],
      ...['app://xn--bcher-kva.example'],
      'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    ],
    'with a wildcard for the subdomains of localhost': [
      ['http://*.localhost', 'HTTP://*.LocalHost:80/path'],
      ...['http://*.localhost:3000', 'http://*.localhost:*', 'https://*.localhost:*', 'http://*.app.localhost:3000'],
    ],
    'with a wildcard for the port of a loopback host': [
      ['http://localhost:*', 'HTTP://LocalHost:*/path'],
      ['https://127.0.0.1:*', 'https://127.0.0.1:*?q'],
      ['http://[::1]:*', 'http://[::1]:*#f'],
      ...['https://localhost:*', 'http://127.0.0.1:*', 'https://[::1]:*'],
    ],
  };

  test.each(Object.entries(ACCEPTED))('%s', async (_, sites) => {
    for (const row of sites) {
      const [stored, ...others] = typeof row === 'string' ? [row] : row;
      for (const written of [stored, ...others]) {
        const business = await newBusiness();
        const answer = await call('POST', business.access, { as: business.key, body: { sites: [written, stored] } });
        expect(answer.status, `${legible(written)}: ${answer.text}`).toBe(200);
        const entries: { site: string }[] = answer.body.data.access_list;
        expect({ written, stored: entries.map(({ site }) => site) }).toEqual({ written, stored: [stored] });
      }
    }
  });
});

test.each(Object.entries(HOSTILE_SITES))('sites %s are rejected, each with its error', async (_, rows) => {
  const business = await newBusiness({ sites: ['https://old.example'] });
  const before = await dumpAll();
  for (let start = 0; start < rows.length; start += 90) {
    const part = rows.slice(start, start + 90);
    const body = { sites: ['https://good.example', ...part.map(([site]) => site), 'https://fine.example'] };
    const answer = await call('POST', business.access, { as: business.key, body });
    const told = part.map(([site], index) => [legible(site), answer.body.errors[`sites.${index + 1}`]]);
    expect(told).toEqual(part.map(([site, rule], index) => [legible(site), [`sites.${index + 1} ${rule}`]]));
    expect(Object.keys(answer.body.errors)).toHaveLength(part.length);
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  }
  expect(await dumpAll()).toBe(before);
});

test('a host’s characters above U+007F are neither mapped to ASCII nor removed', { tags: 'slow' }, () => {
  const changed: string[] = [];
  for (let code = 0x80; code <= 0x1ffff; code++) {
    const { site } = canonicalSite(`https://a${String.fromCodePoint(code)}b.example`);
    if (site !== undefined && !site.startsWith('https://xn--')) changed.push(`${code.toString(16)}: ${site}`);
  }
  expect(changed).toEqual([]);
});

test('every accepted site is a valid origin apart from its wildcard, is stored identically in upper case or with a path, and admits the origins that browsers send for it', {
  tags: 'slow',
}, () => {
  const unit = fc.constantFrom(...'abcxyzABC019-_', '\u00fc', '\u4f8b');
  const labels = fc.array(fc.string({ unit, minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });
  const host = fc.oneof(
    fc.tuple(fc.constantFrom('', '*.'), labels).map(([star, all]) => star + all.join('.')),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
    fc.constantFrom('localhost', '127.0.0.1', '[::1]', 'LOCALHOST'),
  );
  const port = fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    fc.constantFrom(':', ':*', ':80', ':443', ':0443'),
    fc.integer({ min: 0, max: 70_000 }).map((number) => `:${number}`),
  );
  const site = fc.tuple(fc.constantFrom('http://', 'HTTPS://'), host, port, fc.constantFrom('', '/p?q#f', ' '));
  let accepted = 0;
  fc.assert(
    fc.property(site, (parts) => {
      const { site: stored } = canonicalSite(parts.join(''));
      if (stored === undefined) return;
      accepted += 1;
      const example = stored.replace('://*.', '://any.').replace(/:\*$/, ':12345');
      expect(new URL(example).origin).toBe(example);
      expect(example).toMatch(/^https?:\/\/[a-z0-9._:[\]-]+$/);
      const shouted = stored.includes('[') ? stored : stored.toUpperCase(); // an IPv6 address in upper case is refused
      for (const again of [stored, shouted, ` ${stored}/path?query#fragment `])
        expect(canonicalSite(again).site).toBe(stored);
      if (!stored.includes('*')) {
        expect(sitesCovering(stored)).toContain(stored);
        return;
      }
      // A wildcard does not admit its own text.
      expect(sitesCovering(stored)).toEqual([]);
      const origins = stored.endsWith(':*')
        ? [stored.slice(0, -2), stored.replace('*', '1'), stored.replace('*', '65535')]
        : [stored.replace('*', 'a'), stored.replace('*', 'a.b.c.d.e.f')];
      // The longer origin may exceed the maximum of 253 characters.
      for (const origin of origins.filter((each) => new URL(each).hostname.length <= 253))
        expect(sitesCovering(origin)).toContain(stored);
    }),
    { numRuns: 5000 },
  );
  expect(accepted).toBeGreaterThan(500);
});

describe('the covering sites', () => {
  test.each([
    ['https://example', []],
    ['https://example.com', []],
    ['https://www.example.com', ['https://*.example.com']],
    ['https://www.example.com:8443', ['https://*.example.com:8443']],
    ['http://a.b.example.com', ['http://*.b.example.com', 'http://*.example.com']],
    ['https://a.b.c.d.e.f.g', ['https://*.c.d.e.f.g', 'https://*.d.e.f.g', 'https://*.e.f.g', 'https://*.f.g']],
    ['http://localhost', ['http://localhost:*']],
    ['http://localhost:3000', ['http://localhost:*']],
    ['https://127.0.0.1:3000', ['https://127.0.0.1:*']],
    ['http://[::1]:3000', ['http://[::1]:*']],
    ['http://app.localhost', ['http://*.localhost', 'http://*.localhost:*']],
    ['http://app.localhost:3000', ['http://*.localhost:3000', 'http://*.localhost:*']],
    ['http://a.b.c.d.e.localhost:80', []],
    [
      'https://a.b.c.d.e.localhost',
      [
        ...['https://*.b.c.d.e.localhost', 'https://*.c.d.e.localhost', 'https://*.d.e.localhost'],
        ...['https://*.e.localhost', 'https://*.localhost', 'https://*.localhost:*'],
      ],
    ],
    ['http://app.localhosts', []],
    ['capacitor://localhost', []],
    ['capacitor://app.localhost', []],
    ['http://192.0.2.7', []],
    ['https://[2001:db8::7]', []],
    ['null', []],
    ['', []],
  ])('for %s are the origin itself and the wildcards %j', (origin, wildcards) => {
    expect(sitesCovering(origin)).toEqual([origin, ...wildcards]);
  });

  test('do not exist for an origin that contains *', () => {
    for (const origin of ['*', 'https://*.example.com', 'http://localhost:*', 'https://a.*.example.com']) {
      expect(sitesCovering(origin)).toEqual([]);
    }
  });
});
