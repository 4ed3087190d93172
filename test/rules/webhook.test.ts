// The URLs that can receive alerts, the secrets that sign messages, and the signature (docs/alerts.md).
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isAddress, parseSecrets, type Secret, webhookHeaders } from '../../src/alerts/webhook.ts';

const base64 = (length: number) => btoa('\xff'.repeat(length));
/** `url`, padded to `length` characters. */
const long = (length: number, url = 'https://example.com/') => url.padEnd(length, 'x');

describe('a receiver’s URL', () => {
  test.each([
    ...['https://example.com', 'https://example.com/hooks/usage?key=a%20b#part'],
    ...['https://EXAMPLE.com:8443/hooks/@usage', 'HTTPS://example.com/', 'https://bücher.example/'],
    ...['https://192.0.2.1/', 'https://[2001:db8::1]/', 'https://localhost:3000/', 'http://localhost'],
    ...['http://localhost:3000/hooks', 'http://127.0.0.1:3000/', 'http://[::1]:3000/'],
    long(2048),
  ])('can be %s', (address) => {
    expect(isAddress(address)).toBe(true);
  });

  test.each([
    // http to a host other than loopback.
    ...['http://example.com/', 'http://localhost.example/', 'http://localhost.', 'http://127.0.0.2/', 'http://[::2]/'],
    ...['http://0.0.0.0/', 'http://127.0.0.1.example/', 'http://example.com/http://localhost'],
    // Credentials.
    ...['https://user@example.com/', 'https://user:password@example.com/', 'https://:password@example.com/'],
    ...['https://@example.com/', 'http://localhost@example.com/', 'http://localhost:80@example.com/'],
    // Spaces, control characters, and invisible characters.
    ...[' https://example.com/', 'https://example.com/\n', 'https://example.com/a b', 'https://example.com/\u0000'],
    ...['https://exam\tple.com/', 'https://example.com/\u007f', 'https://example.com/\u00a0'],
    ...['https://example.com/\u200b', 'https://example.com/\u202e'],
    // Other schemes, invalid URLs, and a URL that is too long.
    ...['', 'example.com', '//example.com/', 'https:', 'https://', 'https:///example.com/', 'https:example.com/'],
    ...['https:/example.com/', 'https:\\\\example.com/', 'https://exa mple.com/', 'https://example.com:65536/'],
    ...['https://%/', 'ftp://example.com/', 'wss://example.com/', 'javascript:alert(1)', 'file:///etc/passwd'],
    long(2049),
  ])('cannot be %j', (address) => {
    expect(isAddress(address)).toBe(false);
  });
});

describe('a signing secret', () => {
  test.each([24, 25, 26, 32, 63, 64])('can encode %i bytes', (length) => {
    const secret = new Uint8Array(length).fill(255);
    expect(parseSecrets(`whsec_${base64(length)}`)).toEqual([secret]);
    expect(parseSecrets(`whsec_${base64(32)} whsec_${base64(length)}`)).toEqual([new Uint8Array(32).fill(255), secret]);
  });

  test.each([
    ['is empty', ''],
    ['encodes no bytes', 'whsec_'],
    ['encodes 23 bytes', `whsec_${base64(23)}`],
    ['encodes 65 bytes', `whsec_${base64(65)}`],
    ['has no prefix', base64(32)],
    ['has the wrong prefix', `whpk_${base64(32)}`],
    ['has its prefix in capitals', `WHSEC_${base64(32)}`],
    ['is prefixed twice', `whsec_whsec_${base64(32)}`],
    ['has no padding', `whsec_${base64(32).replace('=', '')}`],
    ['has too much padding', `whsec_${base64(24)}====`],
    ['has nonzero padding bits', `whsec_${base64(32).replace('8=', '9=')}`],
    ['is base64url', `whsec_${base64(24).replaceAll('/', '_')}`],
    ['is hex', `whsec_${'ab'.repeat(31)}`],
    ['ends with a newline', `whsec_${base64(24)}\n`],
    ['has two spaces', `whsec_${base64(24)}  whsec_${base64(24)}`],
    ['is one of three', `whsec_${base64(24)} whsec_${base64(24)} whsec_${base64(24)}`],
    ['begins with a space', ` whsec_${base64(24)}`],
    ['contains a space', `whsec_${base64(24).replace('//', '/ /')}`],
    ['is not ASCII', `whsec_${'ü'.repeat(32)}`],
  ])('is invalid if it %s', (_, text) => {
    expect(parseSecrets(text)).toBeNull();
    expect(parseSecrets(`whsec_${base64(32)} ${text}`)).toBeNull();
  });
});

describe('a signature', () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const at = new Date('2026-03-15T12:00:00.999Z');
  const text = `whsec_${base64(32)}`;
  const secrets = parseSecrets(text) as Secret[];

  test('equals the example in the Standard Webhooks specification', async () => {
    const published = parseSecrets('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') as Secret[];
    const sent = new Date(1_614_265_330_000);
    expect(await webhookHeaders(published, 'msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}', sent)).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('passes verification by the Standard Webhooks library', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: at });
    const body = '{"name":"Bücher 🎉"}';
    const headers = await webhookHeaders(secrets, 'msg_1', body, at);
    expect(headers['webhook-timestamp']).toBe('1773576000');
    expect(() => new Webhook(text).verify(body, headers, { jsonParse: false })).not.toThrow();
    expect(() => new Webhook(text).verify(`${body} `, headers)).toThrow('No matching signature found');
  });
});
