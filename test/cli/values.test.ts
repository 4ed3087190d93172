import { describe, expect, test } from 'vitest';
import { expiry, id, line, optionOf, port, token, url } from '../../src/cli/values.ts';
import { dayOf } from '../../src/core/time.ts';

const { read: readId } = id('7');
const { read: readPort } = port('8788');
const { read: readLine } = line('Acme');
const { read: readUrl } = url('https://acme.example');
const { read: readToken } = token('T');
const { read: readExpiry } = expiry('2027-01-31');

test.each([
  ['user_id', 'user'],
  ['name', 'name'],
  ['main_domain', 'main-domain'],
  ['site', 'site'],
  ['country_id', 'country'],
  ['business_size', 'size'],
  ['token', 'token'],
  ['expires_on', 'expires'],
])('fills the column %s by the option --%s', (column, option) => {
  expect(optionOf(column)).toBe(option);
});

describe('an id', () => {
  test('is a positive integer of at most 2^53 - 1', () => {
    expect(readId('7')).toBe(7);
    expect(readId('9007199254740991')).toBe(9007199254740991);
  });

  test.each([
    '',
    '0',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    '٣',
    '9007199254740992',
    'NaN',
    '1;--',
  ])('is not %j', (text) => {
    expect(readId(text)).toBeNull();
  });
});

describe('a port', () => {
  test.each(['1', '80', '8787', '65535'])('is %s', (text) => {
    expect(readPort(text)).toBe(Number(text));
  });

  test.each(['', '0', '-1', '65536', '08787', '8787.0', '8787;ls', 'http'])('is not %j', (text) => {
    expect(readPort(text)).toBeNull();
  });
});

describe('a line of text', () => {
  test.each([
    ...["Robert'); DROP TABLE businesses;--", '"', '-x', '--user=7', '?1', '%_\\', '0', '·', 'e\u0301', 'Co\u00adop'],
    ...['👩‍👩‍👧', '❤️', '1️⃣', '🇺🇦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '東京', '中国\u3000銀行', '葛\u{e0100}城', '한글', 'ไทย', 'தமிழ்'],
    ...[
      'क्\u200dष',
      'می\u200cخواهم',
      'عربي',
      'עברית',
      'Acme عربي 24',
      'שלום C++\u200e',
      '\u200fעברית!\u200f',
      '\u061c3-4',
    ],
  ])('is %j', (text) => {
    expect(readLine(text)).toBe(text);
  });

  test('is stored without the spaces around it', () => {
    expect(readLine('  a  b ')).toBe('a  b');
  });

  const INVISIBLE = [
    ...'\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2064\u206f\u2800\u3164\ufe0f',
    ...'\ufeff\uffa0\ufff9\u{1d173}\u{e0001}\u{e0041}\u{e0100}\u00a0\u1680\u2003\u3000',
  ];
  const DIRECTIONS = [...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'];
  test.each<[string, string[]]>([
    ['nothing', ['', ' ', '\t']],
    ['only what nobody sees', [...INVISIBLE, INVISIBLE.join(''), ' \u200b \u200d ']],
    ['a control character', ['a\nb', 'a\0b', 'a\u001b[31mb', 'a\u0085b', 'a\u007fb', 'a\rb', 'a\tb']],
    ['a line or paragraph that ends within it', ['a\u2028b', 'a\u2029b']],
    ['a direction that is overridden, embedded or isolated', DIRECTIONS.flatMap((c) => [`a${c}b`, `${c}a`, `a${c}`])],
    ['half a character', ['a\ud83d', '\udc69a']],
  ])('has not %s', (_, texts) => {
    expect(texts.map((text) => [text, readLine(text)])).toEqual(texts.map((text) => [text, null]));
  });
});

describe('a URL', () => {
  test.each([
    'https://acme.example',
    'http://localhost:3000/shop?a=1&b=%27#top',
    "HTTPS://münchen.example/'",
    'https://a"b@c',
  ])('is %j, kept as it is', (text) => {
    expect(readUrl(text)).toBe(text);
  });

  test.each([
    ...['', 'acme.example', '//acme.example', 'ftp://acme.example', 'javascript://acme.example', 'https:acme.example'],
    ...[
      'https://',
      'https:///',
      'https://a b',
      ' https://acme.example',
      'https://acme.example\n',
      'https://ac\tme.example',
    ],
    ...['https://acme.example:99999', 'https://[::1'],
  ])('is not %j', (text) => {
    expect(readUrl(text)).toBeNull();
  });
});

describe('an imported token', () => {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+/=-';

  test.each([
    ['the whole alphabet', ALPHABET],
    ['24 characters', 'x'.repeat(24)],
    ['255 characters', 'x'.repeat(255)],
    ['our prefix in capitals', `BUA_${'x'.repeat(24)}`],
    ['a dash first', `-${'x'.repeat(24)}`],
  ])('is one of %s', (_, text) => {
    expect(readToken(text)).toBe(text);
  });

  test.each([
    ['23 characters', 'x'.repeat(23)],
    ['256 characters', 'x'.repeat(256)],
    ['the prefix of an API key', `bua_sk_${'x'.repeat(33)}`],
    ['the prefix of our tokens', `bua_pk_${'x'.repeat(33)}`],
    ['our prefix alone', `bua_${'x'.repeat(30)}`],
    ['an asterisk', `*${'x'.repeat(24)}`],
    ['a space', `x ${'x'.repeat(24)}`],
    ['a comma', `x,${'x'.repeat(24)}`],
    ['a line break at its end', `${'x'.repeat(24)}\n`],
    ['a letter beyond ASCII', `é${'x'.repeat(24)}`],
  ])('is not one with %s', (_, text) => {
    expect(readToken(text)).toBeNull();
  });
});

describe('an expiry', () => {
  test.each(['9999-12-31', '2096-02-29', dayOf(new Date())])('is %s', (day) => {
    expect(readExpiry(day)).toBe(day);
  });

  test.each([
    ...[
      '',
      '1999-12-31',
      dayOf(new Date(Date.now() - 86_400_000)),
      '2097-02-29',
      '2096-02-30',
      '2096-13-01',
      '2096-1-1',
    ],
    ...['20960101', '2096-01-01T00:00:00Z', ' 2096-01-01', '2096-01-01\n', '+10000-01-01', '10000-01-01', 'tomorrow'],
  ])('is not %j', (text) => {
    expect(readExpiry(text)).toBeNull();
  });
});
