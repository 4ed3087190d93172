// The console's explanation of a refused origin.
import { expect, test } from 'vitest';
import { addableAtOnce, explainRefusal } from '../../src/page/owner/sites/refusal.ts';

const SHOP = 'https://shop.example';
test.each([
  ['http://shop.example', [SHOP], 'It begins with http://, but https://shop.example is registered.', null],
  [SHOP, ['http://shop.example'], 'It begins with https://, but http://shop.example is registered.', null],
  ['http://a.shop.example', ['https://*.shop.example'], 'It begins with http://, but https://*.shop.example is registered.', null],
  ['https://www.shop.example', [SHOP], 'It begins with www., but https://shop.example is registered.', null],
  [SHOP, ['https://www.shop.example'], 'It does not begin with www., but https://www.shop.example is registered.', null],
  ['https://shop.example:8443', [SHOP], 'It has a different port from https://shop.example, which is registered.', null],
  ['http://localhost:5173', ['http://localhost:3000'], 'It has a different port from http://localhost:3000, which is registered.', null],
  ['http://shop.example:8080', [SHOP], 'It has a different scheme and port from https://shop.example, which is registered.', null],
  ['https://a.shop.example:8443', ['https://*.shop.example'], 'It has a different port from https://*.shop.example, which is registered.', null],
  ['https://a.b.shop.example', [SHOP], 'It is a subdomain of https://shop.example, which does not cover subdomains.', ['https://a.b.shop.example', 'https://*.shop.example']],
  ['http://a.localhost', ['http://localhost'], 'It is a subdomain of http://localhost, which does not cover subdomains.', ['http://a.localhost', 'http://*.localhost']],
  ['http://a.localhost:5173', ['http://*.localhost:3000'], 'It has a different port from http://*.localhost:3000, which is registered.', null],
  [SHOP, ['https://a.shop.example'], 'It is a parent domain of https://a.shop.example, which does not cover it.', null],
  [SHOP, ['https://*.shop.example'], 'It is a parent domain of https://*.shop.example, which does not cover it.', null],
  ['https://copycat.example', [SHOP], 'Not registered.', null],
  ['https://notshop.example', [SHOP], 'Not registered.', null],
  ['https://sh', [SHOP], 'Not registered.', []],
  ['https://github.io', [SHOP], 'Not registered.', []],
  ['https://a.github.io', ['https://github.io'], 'It is a subdomain of https://github.io, which does not cover subdomains.', null],
  ['null', [SHOP], 'Sent by a sandboxed frame, or by a page that was opened as a file. It names no site, so it cannot be registered.', []],
  ['capacitor://localhost', [SHOP, 'http://localhost'], 'Not registered. Every app made with Capacitor sends it, so registering it lets all of them pass.', null],
  ['app://bundle', [SHOP], 'Not registered.', null],
  ['chrome-extension://abcdefghijklmnopabcdefghijklmnop', [SHOP], 'Not registered.', null],
  ['http://localhost', ['capacitor://localhost'], 'Not registered.', null],
  ['moz-extension://6a1d6d0b-4f5e', [SHOP], 'This is not a website, so it cannot be registered.', []],
  ['chrome-extension://abcdef', [SHOP], 'This is not a website, so it cannot be registered.', []],
  ['https://shop.example/path', [SHOP], 'This is not a website, so it cannot be registered.', []],
])('the console explains why %s is refused if %s is registered', (origin, sites, reason, offers) => {
  expect(explainRefusal(origin, sites)).toMatchObject({ reason, offers: offers ?? [origin] });
}); // biome-ignore format: one row per line

test.each([
  ['https://www.shop.example', [SHOP], true],
  [SHOP, ['https://*.shop.example'], true],
  ['https://platform.example', ['https://shop.platform.example'], false],
  ['null', [SHOP], false],
])('whether %s looks like the owner’s if %s is registered: %s', (origin, sites, isOwn) => {
  expect(explainRefusal(origin, sites).isOwn).toBe(isOwn);
});

test('one press adds the https origins that no site covers, and neither unencrypted pages nor apps', () => {
  const rows = [SHOP, 'https://a.example', 'https://github.io', 'null'].map((origin) => ({ origin }));
  expect(addableAtOnce(rows, [SHOP])).toEqual({ addable: ['https://a.example'], total: 1 });
  const others = [
    'http://a.example',
    'http://localhost:5173',
    'capacitor://localhost',
    'https://localhost',
    'https://tauri.localhost',
  ];
  for (const origin of others)
    expect(addableAtOnce([...rows, { origin }], [SHOP]), origin).toEqual({
      addable: ['https://a.example'],
      total: 2,
    });
});
