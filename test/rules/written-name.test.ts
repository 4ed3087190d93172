// How the console displays punycode hostnames.
import { domainToASCII } from 'node:url';
import { expect, test } from 'vitest';
import { unicodeName } from '../../src/page/owner/unicode-name.ts';

test.each([
  ...['müller-und-söhne.example', 'việtnam.example', 'büro.пример.example', 'παράδειγμα.example', 'サーバー.example'],
  ...['中文网.example', '한국.example', 'उदाहरण.example', 'مثال.example', 'דוגמה.example', 'ตัวอย่าง.example'],
])('the console shows %s in Unicode', (name) => {
  const host = domainToASCII(name);
  expect(host).toContain('xn--');
  expect(unicodeName(`https://${host}`)).toBe(name);
  expect(unicodeName(`http://*.${host}:8443`)).toBe(`*.${name}`);
});

test.each([
  ['mixes Cyrillic into Latin', 'pаypal.example'],
  ['mixes Greek into Latin', 'gοogle.example'],
  ['is Cyrillic that looks like Latin', 'аррӏе.example'],
  ['is Greek that looks like Latin', 'νικο.example'],
  ['contains a character that looks like a slash', 'shop.example⁄x.example'],
  ['contains a letter that looks like an exclamation mark', 'shopǃ.example'],
  ['contains a dotless i', 'vısa.example'],
  ['contains a Latin letter that looks like an a', 'ɑpple.example'],
  ['contains a letter with a stroke through it', 'a\u0338b.example'],
  ['mixes Hangul and Hiragana', '한ひ.example'],
  ['contains a safe and an unsafe label', 'bücher.аррӏе.example'],
])('the console shows only the punycode of a name that %s', (_, name) => {
  const host = domainToASCII(name);
  expect(host).toContain('xn--');
  expect(unicodeName(`https://${host}`)).toBe(null);
});

test.each([
  ['plain ASCII', 'https://shop.example'],
  ['an IP address', 'http://[::1]:3000'],
  ['invalid punycode', 'https://xn--!.example'],
  ['punycode of plain ASCII', 'https://xn--shop-.example'],
  ['punycode of a capital letter, which no browser produces', 'https://xn--bc-8ka.example'],
  ['punycode of an invisible character', 'https://xn--shop-8o0a.example'],
  ['null', 'null'],
])('the console shows no Unicode name for %s', (_, site) => {
  expect(unicodeName(site)).toBe(null);
});
