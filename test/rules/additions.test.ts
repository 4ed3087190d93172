// How the console parses the text in its field for domains.
import { expect, test } from 'vitest';
import { parseAdditions } from '../../src/page/owner/sites/additions.ts';

const APP =
  'must be exactly capacitor://localhost, ionic://localhost, tauri://localhost, app:// and a host, or chrome-extension:// and an id';
const NO_ENDING = (host: string) =>
  `needs a domain ending, as in ${host}.com. If it is a name on your own network, put http:// in front of it`;
const NO_NAME = (host: string) => `is shared by many owners. Put a name in front of it, as in shop.${host}`;
const NO_URL = 'must be an http or https URL, such as https://example.com';
const NOTHING = { wrong: [], tooMany: null, known: [], covered: [], fresh: [] };

test.each([
  ['shop.example', 'https://shop.example'],
  ['Shop.Example/cart?x=1', 'https://shop.example'],
  ['//shop.example', 'https://shop.example'],
  ['shop.example:8443', 'https://shop.example:8443'],
  ['localhost:3000', 'http://localhost:3000'],
  ['localhost:*', 'http://localhost:*'],
  ['[::1]:8080', 'http://[::1]:8080'],
  ['app.localhost:3000', 'http://app.localhost:3000'],
  ['*.localhost:*', 'http://*.localhost:*'],
  ['نامه\u200cای.com', 'https://xn--mgba3gch31f060k.com'],
  ['capacitor://localhost', 'capacitor://localhost'],
  ['http://intranet', 'http://intranet'],
  ['https://co.uk', 'https://co.uk'],
])('the field for domains reads %s as %s', (text, site) => {
  expect(parseAdditions(text, [])).toEqual({ ...NOTHING, fresh: [site] });
});

test('the field for domains accepts several domains, and drops duplicates', () => {
  const text = ';a.example, https://A.example/x\nb.example\r\n\tb.example;;c.example\u00a0b.example\u3000c.example ';
  expect(parseAdditions(text, [])).toEqual({
    ...NOTHING,
    fresh: ['https://a.example', 'https://b.example', 'https://c.example'],
  });
});

test.each([
  ['sh', NO_ENDING('sh'), null],
  ['sh:8080', NO_ENDING('sh'), null],
  ['https//shop.example', NO_ENDING('https'), 'https://shop.example'],
  ['co.uk', NO_NAME('co.uk'), null],
  ['*.co.uk', NO_NAME('co.uk'), null],
  ['*.ws-eu1.gitpod.io', NO_NAME('ws-eu1.gitpod.io'), null],
  ['ftp://shop.example/x', NO_URL, 'https://shop.example'],
  ['mailto:me@shop.example', NO_URL, 'https://shop.example'],
  ['http:shop.example', NO_URL, 'http://shop.example'],
  ['my.app+x-2://localhost/', NO_URL, null],
  ['moz-extension://6a1d6d0b', NO_URL, null],
  ['javascript:alert(1)', NO_URL, null],
  ['capacitor://localhost/index.html', APP, 'capacitor://localhost'],
  [
    'Chrome-Extension://abcdefghijklmnopabcdefghijklmnop/popup.html',
    APP,
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  ],
  ['capacitor://shop.example', APP, null],
  ['me@shop.example', 'must not contain a user name or password', 'https://shop.example'],
  ['https://shop.example.:8443/x', 'must not have a host that ends with a dot', 'https://shop.example:8443'],
  ['shop.example:0', 'must have a port from 1 to 65535', null],
])('the field for domains rejects %s with a reason, and a suggestion if there is one', (text, problem, right) => {
  expect(parseAdditions(text, [])).toEqual({ ...NOTHING, wrong: [{ text, problem, right }] });
});

test('the field for domains separates registered domains from new ones, and says which a wildcard covers', () => {
  const registered = ['https://a.example', 'https://*.b.example', 'http://localhost:*'];
  const text =
    'a.example www.a.example x.b.example *.x.b.example b.example http://x.b.example localhost:3000 *.b.example';
  expect(parseAdditions(text, registered)).toEqual({
    ...NOTHING,
    known: ['https://a.example', 'https://*.b.example'],
    covered: [
      { site: 'https://x.b.example', by: 'https://*.b.example' },
      { site: 'https://*.x.b.example', by: 'https://*.b.example' },
      { site: 'http://localhost:3000', by: 'http://localhost:*' },
    ],
    fresh: [
      'https://www.a.example',
      'https://x.b.example',
      'https://*.x.b.example',
      'https://b.example',
      'http://x.b.example',
      'http://localhost:3000',
    ],
  });
});

const many = (count: number, end: string) => Array.from({ length: count }, (_, n) => `https://s${n}.${end}`);

test('the field for domains accepts at most 100 domains at a time, and at most 500 per business', () => {
  expect(parseAdditions(many(100, 'a.example').join(' '), []).tooMany).toBe(null);
  expect(parseAdditions(many(101, 'a.example').join(' '), []).tooMany).toBe(
    'You entered 101 domains. You can add at most 100 at a time.',
  );
  expect(parseAdditions(many(2, 'a.example').join(' '), many(498, 'b.example')).tooMany).toBe(null);
  expect(parseAdditions(many(3, 'a.example').join(' '), many(498, 'b.example')).tooMany).toBe(
    'A business can have at most 500 domains. This one has 498, so you can add 2 more.',
  );
  expect(parseAdditions('https://s1.b.example', many(500, 'b.example')).tooMany).toBe(null);
});
