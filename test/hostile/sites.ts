// Sites that must not be registered, grouped by attack, each with the message that follows `sites.N `.

const WEB = 'must be an http or https URL, such as https://example.com';
const APP =
  'must be exactly capacitor://localhost, ionic://localhost, tauri://localhost, app:// and a host, or chrome-extension:// and an id';
const HOST = 'must include a host, such as https://example.com';
const USER = 'must not contain a user name or password';
const CONTROL = 'must not contain control characters';
const MARKS = 'must not contain a backslash, % or spaces in its host';
const DISGUISED = 'must not contain invisible or full-width characters in its host';
const INVALID = 'must have a valid host, and any port must be from 1 to 65535';
const PORT = 'must have a port from 1 to 65535';
const LABELS =
  'must have a host of at most 253 characters, in labels of 1 to 63 letters, digits, - or _, such as example.com';
const DOT = 'must not have a host that ends with a dot';
const LONG = 'must have at most 2048 characters';
const STAR =
  'may contain * only as a leading *., as in https://*.example.com, or as the port of a loopback host, as in http://localhost:*';
const STAR_IP = 'must not have * before an IP address';
const STAR_LABELS = 'must have two to five labels after *., as in https://*.example.com';
const STAR_LENGTH = 'must have a host of at most 253 characters';
const STRING = 'must be a string, such as https://example.com';
const usual = (address: string) => `must write an IP address in standard notation, such as ${address}`;
const strangers = (below: string) => `must not cover ${below}: its subdomains belong to different owners`;

/** Marks of eight combining classes, in an order that normalization changes. */
const COMBINING = [0x345, 0x35d, 0x35c, 0x315, 0x300, 0x316, 0x321, 0x334].map((mark) => String.fromCodePoint(mark));
/** `length` distinct CJK letters, none of which decomposes. */
const letters = (length: number) => Array.from({ length }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');

/** A host of `length` characters, in labels of up to 63 characters. */
const hostOf = (length: number) =>
  `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(length - 3 * 64)}`;

/** Sites that are refused with the same message. */
const all = (told: string, ...sites: string[]) => sites.map((site) => [site, told] as const);

export const HOSTILE_SITES: Record<string, readonly (readonly [site: unknown, told: string])[]> = {
  'that browsers and the service interpret differently': [
    ['https://e\u0345\u0300.example', DISGUISED], // browsers read e and ὶ, but a parser that composes the text first reads è and ι
    ['https://\u1fb3.example', DISGUISED],
    ['https://a>\u0338b.example', INVALID],
    ['https://\u0897a.example', INVALID],
  ],
  'that is too long and would take quadratic time to parse': [
    [`https://a${COMBINING.map((mark) => mark.repeat(253)).join('')}`, LABELS],
    [`https://a${'\u0301'.repeat(31)}.example`, LABELS],
    [`https://${letters(2030)}`, LABELS],
    [`https://${letters(64)}.example`, LABELS],
    [`https://${'\u1100'.repeat(1018)}`, LABELS],
    [`https://${'1.'.repeat(1000)}1`, LABELS],
  ],
  'whose origin is "null" or missing': [
    ...all(WEB, 'null', 'localhost:3000', 'example.com:443', 'file:///etc/passwd', 'file://example.com/share'),
    ...all(WEB, 'javascript:alert(1)', 'javascript://example.com/%0aalert(1)', 'data:text/html,<script>1</script>'),
    ...all(WEB, 'about:blank', 'about:srcdoc', 'mailto:owner@example.com', 'urn:https://example.com'),
    // The origin of each of these URLs is the inner URL's origin.
    ...all(WEB, 'blob:https://example.com/0b3c', 'filesystem:https://example.com/temporary'),
    ...all(WEB, 'view-source:https://example.com'),
  ],
  'with a scheme that is not http or https': [
    ...all(WEB, 'ftp://example.com', 'ws://example.com', 'wss://example.com'),
    ...all(WEB, 'moz-extension://6a1d6d0b-4f5e-4f0c-9c0e-2f6a3c0d9b1e', 'safari-web-extension://6A1D6D0B', 'file://'),
    ...all(WEB, 'ms-appx-web://example', 'myapp://localhost', 'capacitors://localhost'),
    ...all(WEB, 'httpss://example.com', 'xhttps://example.com', 'https+unix://example.com'),
    ...all(WEB, 'git+https://example.com', '*://example.com', 'http*://example.com'),
  ],
  'that resembles the origin of an app': [
    ...all(APP, 'capacitor:', 'capacitor://', 'capacitor:localhost', 'capacitor:/localhost', 'capacitor:///localhost'),
    ...all(APP, 'capacitor://localhost/', 'capacitor://localhost/index.html', 'capacitor://localhost?'),
    ...all(APP, 'capacitor://localhost#'),
    ...all(APP, 'capacitor://LOCALHOST', 'CAPACITOR://localhost', 'Ionic://localhost', 'capacitor://localhost.'),
    ...all(APP, 'capacitor://localhost:80', 'capacitor://localhost:*', 'capacitor://*', 'capacitor://*.localhost'),
    ...all(APP, 'capacitor://user@localhost', 'capacitor://localhost@evil.example', 'capacitor://evil.example'),
    ...all(APP, 'tauri://127.0.0.1', 'tauri://app.localhost', 'ionic://app', 'capacitor://local%68ost'),
    ...all(APP, 'capacitor://localhost\\'),
    ...all(APP, 'app://', 'app://.', 'app://*', 'app://*.example', 'app://shop.example/', 'app://shop.example:80'),
    ...all(APP, 'app://Shop'),
    ...all(APP, 'app://b\u00fccher.example', 'app://127.1', 'app://[::1]', 'app://a b', 'app://a..b', 'app://a%62'),
    ...all(APP, 'app://a@b', `app://${'a'.repeat(64)}`, 'app://shop.example.', 'app://\u200bshop'),
    ...all(APP, `chrome-extension://${'a'.repeat(31)}`, `chrome-extension://${'a'.repeat(33)}`, 'chrome-extension://*'),
    ...all(APP, `chrome-extension://${'a'.repeat(31)}q`, `chrome-extension://${'A'.repeat(32)}`),
    ...all(APP, `chrome-extension://${'1'.repeat(32)}`),
    ...all(APP, `chrome-extension://${'a'.repeat(32)}/popup.html`, `chrome-extension://${'a'.repeat(32)}:1`),
    ...all(CONTROL, 'capacitor://localhost\n', 'capacitor://local\thost'),
  ],
  'that the URL parser would repair': [
    ...all(WEB, '', '   ', 'example.com', '//example.com', 'https', 'https:', 'https:example.com'),
    ...all(WEB, 'https:/example.com', 'https:\\\\example.com', 'https:/\\example.com', 'https//example.com'),
    ...all(WEB, 'https ://example.com', '"https://example.com"', '<https://example.com>', '/https://example.com'),
    ...all(HOST, 'https://', 'https:///example.com', 'https:////example.com', 'https://?example.com'),
    ...all(HOST, 'https://#example.com'),
  ],
  'with a user name or password': [
    ...all(USER, 'https://user@example.com', 'https://user:secret@example.com', 'https://@example.com'),
    ...all(USER, 'https://:@example.com', 'https://example.com@evil.example', 'https://example.com:443@evil.example'),
    ...all(USER, 'https://*@example.com', 'http://localhost:*@evil.example'),
  ],
  'with an invalid port': [
    ...all(PORT, 'https://example.com:0', 'https://example.com:00', 'https://*.example.com:0'),
    ['https://example.com:65536', INVALID],
    ['https://example.com:4294967739', INVALID], // 443 modulo 2^32
    ...all(INVALID, 'https://example.com:-1', 'https://example.com:+443', 'https://example.com:0x1bb'),
    ...all(INVALID, 'https://example.com:1e3', 'https://example.com:443.0', 'https://example.com:https'),
    ...all(INVALID, 'https://example.com:443:443'),
    ['https://example.com:\u0664\u0664\u0663', INVALID], // Arabic-Indic digits
    ['https://:443', INVALID],
  ],
  'with control characters, which the URL parser drops or keeps': [
    ...all(CONTROL, 'https://exam\tple.com', 'https://exam\nple.com', 'https://exam\rple.com'),
    ...all(CONTROL, 'https://example.com\n', '\thttps://example.com', 'https://example.com\u0000'),
    ...all(CONTROL, 'https://example.com\u0000.evil.example', 'ht\ttps://example.com', 'https:\n//example.com'),
    ...all(CONTROL, 'https://example.com\u001b[2J', 'https://example.com\u007f', 'https://example.com\u0085'),
    ...all(CONTROL, 'https://example.com/path\r\nSet-Cookie: a=b'),
  ],
  'with a backslash, % or spaces in the host': [
    ['https://example.com\\', MARKS],
    ['https://example.com\\.evil.example', MARKS],
    ['https://evil.example\\@example.com', USER],
    ...all(MARKS, 'https://example%2ecom', 'https://%65xample.com', 'https://example.com%00'),
    ...all(MARKS, 'https://example.com%2f.evil.example', 'https://%2a.example.com', 'https://exam ple.com'),
    ...all(MARKS, 'https:// example.com', 'https://example.com :443', 'https://example.com\u00a0'),
    ...all(MARKS, 'https://exam\u2003ple.com', 'https://exam\u3000ple.com', 'https://example.com https://evil.example'),
  ],
  'with invisible characters': [
    ['https://exam\u00adple.com', DISGUISED], // soft hyphen
    ['https://exam\u200bple.com', DISGUISED], // zero-width space
    ['https://exam\u200cple.com', DISGUISED], // zero-width non-joiner
    ['https://exam\u200dple.com', DISGUISED], // zero-width joiner
    ['https://\u200c\u0646\u0627\u0645\u0647.com', DISGUISED], // a non-joiner that separates no two letters
    ['https://\u0646\u0627\u0645\u0647\u200d\u0627\u06cc.com', DISGUISED], // a joiner where only a non-joiner may stand
    ['https://\u0dc1\u0dca\u200d\u200b\u0dbb\u0dd3.com', DISGUISED], // a joiner and a zero-width space
    ['https://\u0dc1\u0dca\u200d\u200d\u0dbb\u0dd3.com', DISGUISED], // two joiners
    // The next three hosts contain letters that a non-joiner separates, but not beside it. workerd's parser accepts them.
    ...all(DISGUISED, 'https://\u06280\u200c\u0628.com', 'https://\u0628\u200c1\u0628.com'),
    ...all(DISGUISED, 'https://\u0628\u200c\u200c\u0628.com'),
    ['https://exam\u2060ple.com', DISGUISED], // word joiner
    ['https://exam\u034fple.com', DISGUISED], // combining grapheme joiner
    ['https://exam\u180eple.com', DISGUISED], // Mongolian vowel separator
    ['https://exam\u202eple.com', DISGUISED], // right-to-left override
    ['https://exam\u2066ple.com', DISGUISED], // left-to-right isolate
    ['https://example.com\ufe0f', DISGUISED], // variation selector
    ['https://exam\u3164ple.com', DISGUISED], // Hangul filler
    ['https://exam\u{e0061}ple.com', DISGUISED], // tag letter
    ['https://exam\u{e0100}ple.com', DISGUISED], // supplementary variation selector
    ['https://*.exam\u200bple.com', DISGUISED],
    ...all(WEB, '\ufeffhttps://example.com', '\u200bhttps://example.com', '\u00a0https://example.com'),
  ],
  'with characters that normalization replaces': [
    ['https://\uff45xample.com', DISGUISED], // full-width e
    ['https://example\uff0ecom', DISGUISED], // full-width full stop
    ['https://example\u3002com', DISGUISED], // ideographic full stop
    ['https://example\uff61com', DISGUISED], // half-width ideographic full stop
    ['https://example\u2024com', DISGUISED], // one dot leader
    ['https://example.com\uff0fpath', DISGUISED], // full-width solidus
    ['https://evil.example\uff03.example.com', DISGUISED], // full-width number sign
    ['https://evil.example\uff20example.com', DISGUISED], // full-width commercial at
    ['https://example.com\uff1a443', DISGUISED], // full-width colon
    ['https://example.com:\uff14\uff14\uff13', DISGUISED], // full-width digits
    ['https://\uff0a.example.com', DISGUISED], // full-width asterisk
    ['https://\u24d4xample.com', DISGUISED], // circled e
    ['https://\u{1d41e}xample.com', DISGUISED], // mathematical bold e
    ['https://exa\u{1d5c6}ple.com', DISGUISED], // mathematical sans-serif m
    ['https://example.c\u2100', DISGUISED], // a/c
    ['https://evil.c\u2105.example.com', DISGUISED], // c/o
    ['https://\u2488com', DISGUISED], // "1."
    ['https://\ufb03ce.example', DISGUISED], // ffi ligature
    ['https://example.\u212dom', DISGUISED], // black-letter C
    ['https://\u212aelvin.example', DISGUISED], // Kelvin sign
    ['https://te\u017ft.example', DISGUISED], // long s
    ['https://example.com\u00b2', DISGUISED], // superscript two
    ['https://\u2460\u2461\u2466.0.0.1', DISGUISED], // 127 in circles
  ],
  'with labels that DNS does not allow': [
    ['https://.example.com', LABELS],
    ['https://example..com', LABELS],
    ...all(DOT, 'https://example.com.', 'https://example.com..', 'https://example.com.:443', 'https://localhost.'),
    ...all(DOT, 'https://.'),
    [`https://${'a'.repeat(64)}.com`, LABELS],
    [`https://${'\u00fc'.repeat(64)}.com`, LABELS],
    [`https://${hostOf(254)}`, LABELS],
    [`https://${'a.'.repeat(130)}com`, LABELS],
  ],
  'with punctuation that the URL parser accepts in a host': [
    ...all(LABELS, 'https://exam!ple.com', 'https://exam"ple.com', 'https://exam$ple.com', 'https://exam&ple.com'),
    ...all(LABELS, "https://exam'ple.com", 'https://exam(ple).com', 'https://exam+ple.com'),
    ...all(LABELS, 'https://example.com,evil.example', 'https://example.com;evil.example', 'https://exam=ple.com'),
    ...all(LABELS, 'https://exam`ple.com', 'https://exam{ple}.com', 'https://exam~ple.com', "https://example.com'--"),
    ...all(LABELS, 'https://{{host}}'),
  ],
  'with characters that no host may contain': [
    ...all(INVALID, 'https://exam<ple.com', 'https://example.com>', 'https://exam^ple.com', 'https://exam|ple.com'),
    ...all(INVALID, 'https://[example.com]', 'https://example.com]'),
    ['https://exam\ud800ple.com', INVALID], // half of a surrogate pair
    ['https://exam\ufffdple.com', INVALID],
    ['https://exam\ufdd0ple.com', INVALID], // a noncharacter
    ['https://\u0301example.com', INVALID], // a combining accent without a base letter
    ['https://\u05d0a.example', INVALID], // right-to-left and left-to-right in one label
    // A label that would be valid alone, beside one that is written from right to left.
    ...all(INVALID, 'https://1.\u05d0.example', 'https://_dev.\u05d0.example'),
    ...all(INVALID, 'https://*.a-.\u0645\u062b\u0627\u0644.example'),
    ['https://\u{10d4a}a.example', INVALID], // a letter that workerd's table does not contain
    ['https://xn--\u00fc.example', INVALID], // a punycode label with a non-ASCII letter
  ],
  'with an IP address in a notation that browsers rewrite': [
    ['http://127.1', usual('http://127.0.0.1')],
    ['http://0x7f.1', usual('http://127.0.0.1')],
    ['http://0177.0.0.1', usual('http://127.0.0.1')],
    ['http://2130706433', usual('http://127.0.0.1')],
    ['http://0x7f000001', usual('http://127.0.0.1')],
    ['http://127.0.0.1.', DOT],
    ['http://127.0.0.01:3000', usual('http://127.0.0.1:3000')],
    ['http://0', usual('http://0.0.0.0')],
    ['http://192.168.257', usual('http://192.168.1.1')],
    ['http://256.0.0.1', INVALID],
    ['http://1.2.3.4.5', INVALID],
    ['http://example.0x1', INVALID], // a host that ends in a number must be a valid IP address
    ['http://[0:0:0:0:0:0:0:1]', usual('http://[::1]')],
    ['http://[2001:DB8::1]', usual('http://[2001:db8::1]')],
    ['http://[2001:0db8::1]', usual('http://[2001:db8::1]')],
    ['http://[::ffff:127.0.0.1]', usual('http://[::ffff:7f00:1]')],
    ...all(INVALID, 'http://::1', 'http://[::1', 'http://[::1]evil.example', 'http://[1:2:3:4:5:6:7:8:9]'),
    ['http://[fe80::1%eth0]', MARKS],
    ['http://[127.0.0.1]', INVALID],
    ['http://[v1.fe80]', INVALID],
  ],
  'with a misplaced *': [
    ...all(STAR, 'https://*', 'https://**', 'https://*example.com', 'https://www*.example.com'),
    ...all(STAR, 'https://www.*.example.com', 'https://example.*', 'https://*.*.example.com'),
    ...all(STAR, 'https://**.example.com', 'https://*.*', 'https://example.com:*', 'https://*.example.com:*'),
    ...all(STAR, 'https://*:443', 'http://localhost:*0', 'http://localhost:3*', 'http://localhost:**'),
    ...all(STAR, 'http://localhost*', 'http://localhost.:*', 'http://localhost.evil.example:*', 'http://0.0.0.0:*'),
    ...all(STAR, 'http://127.0.0.2:*', 'http://127.1:*', 'http://[0:0:0:0:0:0:0:1]:*', 'http://::1:*'),
    ...all(STAR, 'https://.*.example.com', 'http://*.app.localhost:*', 'http://*.*.localhost', 'http://*localhost:*'),
    ['*', WEB],
    ['*.example.com', WEB],
  ],
  'with a wildcard over a host that is not a domain': [
    ['https://*.', DOT],
    ['https://*..com', LABELS],
    ['https://*.example.com.', DOT],
    ['https://*.example.com:65536', INVALID],
    ['https://*.127.0.0.1', STAR_IP],
    ['https://*.127.1', usual('https://127.0.0.1')],
    ['https://*.[::1]', STAR_IP],
    ...all(STAR_LABELS, 'https://*.com', 'https://*.localhosts', 'https://*.intranet:8443'),
    ...all(STAR_LABELS, 'https://*.a.b.c.d.example.com'),
    [`https://*.${hostOf(252)}`, STAR_LENGTH],
  ],
  'with a wildcard over domains of different owners': [
    ['https://*.co.uk', strangers('co.uk')],
    ['https://*.com.au', strangers('com.au')],
    ['https://*.k12.ca.us', strangers('k12.ca.us')],
    ['https://*.kawasaki.jp', strangers('kawasaki.jp')],
    ['https://*.anything.ck', strangers('anything.ck')], // the public suffix list contains *.ck
    ['https://*.\u516c\u53f8.cn', strangers('xn--55qx5d.cn')],
    ['https://*.xn--55qx5d.cn', strangers('xn--55qx5d.cn')],
    ['https://*.github.io', strangers('github.io')],
    ['https://*.GitHub.IO', strangers('github.io')],
    ['https://*.github.io:8443', strangers('github.io')],
    ['http://*.github.io/path', strangers('github.io')],
    ['https://*.vercel.app', strangers('vercel.app')],
    ['https://*.netlify.app', strangers('netlify.app')],
    ['https://*.pages.dev', strangers('pages.dev')],
    ['https://*.workers.dev', strangers('workers.dev')],
    ['https://*.web.app', strangers('web.app')],
    ['https://*.herokuapp.com', strangers('herokuapp.com')],
    ['https://*.myshopify.com', strangers('myshopify.com')],
    ['https://*.cloudfront.net', strangers('cloudfront.net')],
    ['https://*.blogspot.com', strangers('blogspot.com')],
    ['https://*.ngrok-free.app', strangers('ngrok-free.app')],
    ['https://*.s3.amazonaws.com', strangers('s3.amazonaws.com')],
    // These are not public suffixes.
    ...[
      ...['weebly.com', 'jimdosite.com', 'app.github.dev', 'gitpod.io', 'wordpress.com', 'zendesk.com'],
      ...['github.dev', 'ws-eu107.gitpod.io', 'devtunnels.ms', 'westeurope.azurecontainerapps.io'],
    ].map((host) => [`https://*.${host}`, strangers(host)] as const),
    // Most of these are not public suffixes, but have subdomains that are, such as s3.amazonaws.com.
    ['https://*.amazonaws.com', strangers('amazonaws.com')],
    ['https://*.eu-west-1.amazonaws.com', strangers('eu-west-1.amazonaws.com')],
    ['https://*.compute.amazonaws.com', strangers('compute.amazonaws.com')],
    ['https://*.windows.net', strangers('windows.net')],
    ['https://*.xn--stfold-9xa.no', strangers('xn--stfold-9xa.no')],
    ['https://*.østfold.no', strangers('xn--stfold-9xa.no')],
    ['https://*.blob.core.windows.net', strangers('blob.core.windows.net')],
    ['https://*.s3.dualstack.eu-west-1.amazonaws.com', strangers('s3.dualstack.eu-west-1.amazonaws.com')],
  ],
  'that is oversized': [
    [`https://example.com/${'a'.repeat(2029)}`, LONG],
    [`https://${'a'.repeat(16_384)}.com`, LONG],
    [`x${' '.repeat(900_000)}x`, LONG], // these are also slow to match with a pattern that trims spaces
    [`https://example.com${'\u0000'.repeat(2048)}`, LONG],
  ],
  'that is not a string': [
    [null, STRING],
    [true, STRING],
    [443, STRING],
    [['https://example.com'], STRING],
    [{ site: 'https://example.com' }, STRING],
    [{ toString: 'https://example.com', length: 1 }, STRING],
  ],
};

/** Formats a value for a test name: escapes non-printable characters and truncates long text. */
export function legible(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return shown.length <= 80 ? shown : `${shown.slice(0, 60)}… (${text.length} characters)`;
}
