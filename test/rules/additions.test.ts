// How the console parses the text in its field for domains.
import { expect, test } from 'vitest';
import { parseAdditions } from '../../src/page/owner/domains/additions.ts';

const APP =
  'must be exactly capacitor://localhost, ionic://localhost, tauri://localhost, app:// and a host, or chrome-extension:// and an id';
const NOTHING = { wrong: [], tooMany: null, known: [], covered: [], fresh: [] };

test.each([
  ['shop.example', 'https://shop.example'],
  ['Shop.Example/cart?x=1', 'https://shop.example'],
  ['//shop.example', 'https://shop.example'],
  ['shop.example:8443', 'https://shop.example:8443'],
  ['*.shop.example', 'https://*.shop.example'],
  ['localhost', 'http://localhost'],
  ['localhost:3000', 'http://localhost:3000'],
  ['localhost:*', 'http://localhost:*'],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['[::1]:8080', 'http://[::1]:8080'],
  ['app.localhost:3000', 'http://app.localhost:3000'],
  ['*.localhost', 'http://*.localhost'],
  ['*.localhost:*', 'http://*.localhost:*'],
  ['-x.shop.example', 'https://-x.shop.example'],
  ['نامه\u200cای.com', 'https://xn--mgba3gch31f060k.com'],
  ['capacitor://localhost', 'capacitor://localhost'],
  ['app://bundle', 'app://bundle'],
  ['chrome-extension://abcdefghijklmnopabcdefghijklmnop', 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'],
  ['http://shop.example', 'http://shop.example'],
  ['http://intranet', 'http://intranet'],
  ['https://co.uk', 'https://co.uk'],
  ['bücher.example', 'https://xn--bcher-kva.example'],
])('the field for domains reads %s as %s', (text, site) => {
  expect(parseAdditions(text, [])).toEqual({ ...NOTHING, fresh: [site] });
});

test.each([
  ['spaces', 'a.example b.example  c.example '],
  ['commas', 'a.example,b.example, c.example,'],
  ['semicolons', ';a.example;b.example ; c.example'],
  ['line breaks', 'a.example\nb.example\r\n\tc.example'],
  ['no-break and wide spaces', 'a.example\u00a0b.example\u3000c.example'],
  ['a mix of separators, and drops duplicates', 'a.example, https://A.example/x\nb.example;;c.example b.example'],
])('the field for domains accepts several domains separated by %s', (_, text) => {
  expect(parseAdditions(text, [])).toEqual({
    ...NOTHING,
    fresh: ['https://a.example', 'https://b.example', 'https://c.example'],
  });
});

test.each([
  ['sh', 'needs a domain ending, as in sh.com. If it is a name on your own network, put http:// in front of it', null],
  [
    'sh:8080',
    'needs a domain ending, as in sh.com. If it is a name on your own network, put http:// in front of it',
    null,
  ],
  ['co.uk', 'is shared by many owners. Put a name in front of it, as in shop.co.uk', null],
  ['*.co.uk', 'is shared by many owners. Put a name in front of it, as in shop.co.uk', null],
  ['github.io', 'is shared by many owners. Put a name in front of it, as in shop.github.io', null],
  ['*.ws-eu1.gitpod.io', 'is shared by many owners. Put a name in front of it, as in shop.ws-eu1.gitpod.io', null],
  ['ftp://shop.example/x', 'must be an http or https URL, such as https://example.com', 'https://shop.example'],
  ['mailto:me@shop.example', 'must be an http or https URL, such as https://example.com', 'https://shop.example'],
  ['htps://shop.example', 'must be an http or https URL, such as https://example.com', 'https://shop.example'],
  ['capacitor://localhost/index.html', APP, 'capacitor://localhost'],
  [
    'Chrome-Extension://abcdefghijklmnopabcdefghijklmnop/popup.html',
    APP,
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  ],
  ['capacitor://shop.example', APP, null],
  ['my.app+x-2://localhost/', 'must be an http or https URL, such as https://example.com', null],
  ['moz-extension://6a1d6d0b', 'must be an http or https URL, such as https://example.com', null],
  ['http:shop.example', 'must be an http or https URL, such as https://example.com', 'http://shop.example'],
  [
    'https//shop.example',
    'needs a domain ending, as in https.com. If it is a name on your own network, put http:// in front of it',
    'https://shop.example',
  ],
  ['me@shop.example', 'must not contain a user name or password', 'https://shop.example'],
  ['shop.example.', 'must not have a host that ends with a dot', 'https://shop.example'],
  ['https://shop.example.:8443/x', 'must not have a host that ends with a dot', 'https://shop.example:8443'],
  ['shop.example:0', 'must have a port from 1 to 65535', null],
  ['javascript:alert(1)', 'must be an http or https URL, such as https://example.com', null],
])('the field for domains rejects %s with a reason, and a suggestion if there is one', (text, problem, right) => {
  expect(parseAdditions(text, [])).toEqual({ ...NOTHING, wrong: [{ text, problem, right }] });
});

test('the field for domains separates registered and covered domains from new ones', () => {
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
    fresh: ['https://www.a.example', 'https://b.example', 'http://x.b.example'],
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
