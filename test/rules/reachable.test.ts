// Which sites visitors can reach (docs/api.md, "Overage"): one rule for the service and the console.
import { describe, expect, test } from 'vitest';
import { isReachable } from '../../src/core/reachable.ts';
import { canonicalSite } from '../../src/core/site.ts';

const UNREACHABLE: Record<string, string[]> = {
  'the local machine': [
    ...['http://localhost', 'http://localhost:3000', 'http://localhost:*', 'https://LOCALHOST:8443'],
    ...['http://app.localhost', 'http://*.localhost:3000', 'http://*.localhost:*', 'http://*.app.localhost'],
    ...['http://127.0.0.1', 'http://127.0.0.1:*', 'http://127.255.255.254', 'http://[::1]', 'http://[::1]:*'],
    ...['http://[::1]:3000', 'http://*.localhost'],
  ],
  'no address at all': [
    ...['http://0.0.0.0', 'http://0.0.0.0:3000', 'http://0.1.2.3', 'http://[::]', 'http://[::]:3000'],
    ...['http://255.255.255.255', 'http://240.0.0.1', 'http://224.0.0.1', 'http://239.255.255.250', 'http://[ff02::1]'],
  ],
  'a private or local network': [
    ...['http://10.0.0.1', 'http://10.255.255.255:8080', 'http://172.16.0.1', 'http://172.31.255.254'],
    ...['http://192.168.0.1', 'https://192.168.255.255', 'http://169.254.169.254', 'http://169.254.0.1'],
    ...['http://100.64.0.1', 'http://100.127.255.254', 'http://[fe80::1]', 'http://[febf::1]', 'http://[fec0::1]'],
    ...['http://[fc00::1]', 'http://[fd12:3456:789a::1]:8080', 'http://[fdff:ffff::]'],
  ],
  'an IPv4 address inside an IPv6 address': [
    ...['http://[::ffff:7f00:1]', 'http://[::ffff:c0a8:101]:8080', 'http://[::ffff:808:808]'],
    ...[
      'http://[::7f00:1]',
      'http://[64:ff9b::7f00:1]',
      'http://[64:ff9b:1::1]',
      'http://[2002:7f00:1::]',
      'http://[2002:c0a8:101::1]',
    ],
    ...['http://[::ffff:0:7f00:1]', 'http://[2001::7f00:1]', 'http://[2001:0:4136:e378::1]'],
  ],
  'documentation, tests and other reserved blocks': [
    ...['http://192.0.0.8', 'http://192.0.2.1', 'http://198.51.100.7', 'http://203.0.113.9', 'http://198.18.0.1'],
    ...[
      'http://198.19.255.255',
      'https://[2001:db8::1]',
      'https://[3fff::1]',
      'https://[3fff:fff::1]',
      'http://[100::1]',
    ],
    ...['http://[5f00::1]', 'http://[4000::1]', 'http://[2001:10::1]'],
  ],
  'a name on a local network': [
    ...['http://router', 'http://router:8080', 'https://nas', 'http://com', 'http://xn--bcher-kva', 'http://my_host'],
    ...['http://printer.local', 'https://PRINTER.LOCAL:631', 'http://*.office.local', 'http://a.b.c.local'],
    ...['https://api.internal', 'https://*.corp.internal', 'http://vault.google.internal:8200'],
    ...['http://shop.test', 'https://*.shop.test:8443', 'http://shop.invalid', 'http://a.invalid', 'http://shop.alt'],
    ...['http://nas.lan', 'http://nas.home', 'http://nas.corp', 'http://wiki.intranet', 'http://a.private'],
    ...['http://nas.home.arpa', 'http://*.nas.home.arpa', 'http://home.arpa', 'http://host.localdomain'],
  ],
  'an app or an extension': [
    ...['capacitor://localhost', 'ionic://localhost', 'tauri://localhost', 'app://shop.example', 'app://bundle'],
    `chrome-extension://${'a'.repeat(32)}`,
  ],
};
const REACHABLE = [
  ...['https://shop.example', 'http://shop.example', 'https://shop.example:8443', 'https://www.shop.example'],
  ...['https://*.shop.example', 'https://*.a.shop.example:8443', 'https://bücher.example', 'https://a_b.shop.example'],
  ...['https://127.5gram.com', 'https://10.example', 'http://192.168.1.20.example', 'https://localhost.example'],
  ...[
    'https://local.example',
    'https://mylocal.de',
    'https://notlocalhost.com',
    'https://test.de',
    'https://mytest.com',
  ],
  ...['https://internal.example', 'https://xn--p1ai.xn--p1ai', 'https://fd00.example', 'https://app.home.example'],
  ...['https://lan.de', 'https://fatlan.net', 'https://1.1.1.1', 'http://8.8.8.8:8080', 'http://9.255.255.255'],
  ...['http://11.0.0.0', 'http://100.63.255.255', 'http://100.128.0.0', 'http://126.255.255.255', 'http://128.0.0.1'],
  ...['http://169.253.0.1', 'http://172.15.255.255', 'http://172.32.0.0', 'http://192.167.1.1', 'http://192.169.0.0'],
  ...['http://198.17.0.1', 'http://198.20.0.0', 'http://223.255.255.255', 'http://192.0.1.1', 'http://1.0.0.0'],
  ...['https://[2606:4700::1111]', 'https://[2a00:1450:4001:80b::200e]:8443', 'https://[2001:4860:4860::8888]'],
  ...['https://[2001:200::1]', 'https://[2003::1]', 'https://[3ffe::1]', 'https://[3fff:1000::1]', 'https://[2000::1]'],
];

const stored = (text: string) => {
  const { site, problem } = canonicalSite(text);
  expect(problem, text).toBeUndefined();
  return site as string;
};

describe('visitors cannot reach', () => {
  test.each(Object.entries(UNREACHABLE))('%s', (_, sites) => {
    expect(sites.filter((text) => isReachable(stored(text)))).toEqual([]);
  });
});

test('visitors can reach every other site, even if its name or address begins or ends like one that they cannot', () => {
  expect(REACHABLE.filter((text) => !isReachable(stored(text)))).toEqual([]);
});
