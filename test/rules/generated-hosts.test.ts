// Compares the rule for sites with two URL parsers, on generated hosts. Nobody here wrote whatwg-url, and it shares no code with Node's
// parser, which is also workerd's. test/browser/unicode.test.ts compares the rule with Chromium.
// @module-tag slow
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { canonicalSite } from '../../src/core/site.ts';
import { legible } from '../hostile/sites.ts';
import { Random } from '../sim/random.ts';

type Parser = { URL: { parse: (text: string) => { origin: string } | null } };
const whatwg: Parser = createRequire(import.meta.url)('whatwg-url');
const HOSTS = 20_000;
const MAX_SHOWN = 20;

/** What hosts are made of. `*` is a wildcard in a site, and both parsers take it for a letter, so it does not occur. */
const PARTS = {
  joiners:
    '\u200c \u200d \u200c \u200d e 0 - . \u0628 \u0627 \u0647 \u06cc \u064b \u0915 \u094d \u0dc1 \u0dca \u0dbb \u1820 ' +
    '\u0903 \u0301 \u0eba \u{10a3f}',
  hyphens: '- - -- xn-- a b1 _ \u00fc . shop xn--bcher-kva',
  'mixed scripts':
    'a Z \u00df I\u0307 \u0131 \u0455 \u0414 \u03c2 \u03a3 \u05d0 \u0628 \u0940 . \u4f8b \u3042 \u30fc \u1100 \u1161 \u11a8 \uac00 \u0939 ' +
    '\u0e01 \u{1f600} \ufe0f e\u0301 \u1e9e \ufb03 \u212a \u0345 \u{1d41e} \u2f86 \u0338 \u00ad \u{10d4a}',
  digits: '0 1 9 \u0661 \u0967 \uff11 \u00b2 \u2460 \u{1d7d8} a - . \u06f4',
  'IP notations':
    '127 0 1 255 256 0x7f 0X1 0177 08 4294967295 . . . ::1 [ ] : [::1] [::ffff:127.0.0.1] [2001:db8::7] [1:0::] %lo \uff11 a',
  dots: '. . \u3002 \uff0e \uff61 \u2024 \u2488 a shop example 1 \u00fc',
  'percent signs': '% %41 %2e %2E %c3%bc %00 %25 %ff %e2%80%8c %2f a b . shop',
};
const KINDS = { ...PARTS, everything: Object.values(PARTS).join(' ') };

test.each(Object.entries(KINDS))('Node and whatwg-url agree with every host that is accepted: %s', (_, parts) => {
  const random = new Random(51);
  const wrong: string[] = [];
  let accepted = 0;
  for (let count = 0; count < HOSTS; count++) {
    const host = Array.from({ length: 1 + random.int(7) }, () => random.pick(parts.split(' '))).join('');
    const text = `https://${host}${random.pick(['', '.example', '.com:8443'])}`;
    const { site } = canonicalSite(text);
    if (site === undefined) continue;
    accepted += 1;
    // Node's parser does not compose some Hangul, so the rule does.
    const origins = [URL.parse(text.normalize('NFC'))?.origin, whatwg.URL.parse(text)?.origin];
    if (origins.some((origin) => origin !== site)) wrong.push(`${legible(text)}: ${site}, not ${origins}`);
  }
  expect([wrong.length, wrong.slice(0, MAX_SHOWN)]).toEqual([0, []]);
  expect(accepted).toBeGreaterThan(HOSTS / 100);
});
