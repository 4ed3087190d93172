// Origins that imitate a registered origin, grouped by attack, and the access lists to test them against.

/** Access lists of separate businesses. Every origin below is tested against each of them. */
export const LISTS = {
  literals: [
    ...['https://shop.example', 'https://pay.shop.example:8443', 'https://xn--bcher-kva.example'],
    ...['http://localhost:3000', 'http://192.0.2.7:8080', 'https://[2001:db8::7]'],
  ],
  wildcards: [
    ...['https://*.shop.example', 'https://*.shop.example:8443', 'https://*.xn--bcher-kva.example'],
    ...['http://*.intra.corp', 'https://*.a.b.c.d.example'],
  ],
  loopback: ['http://localhost:*', 'https://127.0.0.1:*', 'http://[::1]:*'],
  local: ['http://*.localhost:*', 'https://*.localhost:8443'],
  apps: [
    ...['capacitor://localhost', 'ionic://localhost', 'tauri://localhost', 'app://shop.example'],
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  ],
} as const;

export type List = keyof typeof LISTS;

/** An origin, and the lists that admit it with a 200. Every other list refuses it with a 403. */
export type Row = readonly [origin: string, ...admittedBy: List[]];

/** Origins that browsers send. A service that refuses every origin fails these rows. */
export const GENUINE_ORIGINS: readonly Row[] = [
  ['https://shop.example', 'literals'],
  ['https://pay.shop.example:8443', 'literals', 'wildcards'],
  ['https://xn--bcher-kva.example', 'literals'],
  ['http://192.0.2.7:8080', 'literals'],
  ['https://[2001:db8::7]', 'literals'],
  ['https://www.shop.example', 'wildcards'],
  ['https://a.b.c.shop.example', 'wildcards'],
  ['https://pr-12--preview.shop.example:8443', 'wildcards'],
  ['https://_dev.shop.example', 'wildcards'],
  ['https://-www.shop.example', 'wildcards'],
  ['https://www-.shop.example', 'wildcards'],
  ['https://a.-.shop.example', 'wildcards'],
  ['https://xn--.shop.example', 'wildcards'],
  ['https://xn--nxasmq6b.shop.example', 'wildcards'],
  ['https://www.xn--bcher-kva.example', 'wildcards'],
  ['http://wiki.intra.corp', 'wildcards'],
  ['https://x.a.b.c.d.example', 'wildcards'],
  [`https://${'a'.repeat(63)}.shop.example`, 'wildcards'],
  [`https://${'a.'.repeat(120)}shop.example`, 'wildcards'], // 122 labels, 252 characters
  [`https://${'a.'.repeat(119)}ab.shop.example`, 'wildcards'], // 253 characters
  ['http://localhost:3000', 'literals', 'loopback'],
  ['http://localhost', 'loopback'],
  ['http://localhost:65535', 'loopback'],
  ['https://127.0.0.1:8443', 'loopback'],
  ['https://127.0.0.1', 'loopback'],
  ['http://[::1]:1', 'loopback'],
  ['http://app.localhost', 'local'],
  ['http://a.b.localhost:5173', 'local'],
  ['https://app.localhost:8443', 'local'],
  ['capacitor://localhost', 'apps'],
  ['ionic://localhost', 'apps'],
  ['tauri://localhost', 'apps'],
  ['app://shop.example', 'apps'],
  ['chrome-extension://abcdefghijklmnopabcdefghijklmnop', 'apps'],
];

/** Expands each string to a row. If a row names no list, every list refuses its origin. */
const rowsOf = (groups: Record<string, readonly (string | Row)[]>): Record<string, readonly Row[]> =>
  Object.fromEntries(
    Object.entries(groups).map(([attack, rows]) => [
      attack,
      rows.map((row) => (typeof row === 'string' ? [row] : row)),
    ]),
  );

export const HOSTILE_ORIGINS = rowsOf({
  'a registered site with a suffix': [
    ...['https://shop.example.evil.com', 'https://shop.exampleevil.com', 'https://shop.example-evil.com'],
    ...['https://shop.example_', 'https://shop.examples', 'https://shop.example.com'],
    ...['https://a.shop.example.evil.com', 'https://a.shop.example-evil.com', 'https://a.shop.example.com:8443'],
    ...['https://pay.shop.example:8443.evil.com', 'https://x.a.b.c.d.example.evil.com', 'http://localhost.evil.com'],
    ...['http://localhost.evil.com:3000', 'http://localhost:3000.evil.com', 'http://localhostevil.com'],
    ...['https://127.0.0.1.evil.com', 'http://192.0.2.7.evil.com:8080', 'https://[2001:db8::7].evil.com'],
    ...['http://[::1].evil.com', 'https://xn--bcher-kva.example.evil.com'],
  ],
  'a registered site with a prefix': [
    ...['https://evilshop.example', 'https://evil-shop.example', 'https://evil_shop.example'],
    ...['https://a.evilshop.example', 'https://a.evil-shop.example:8443', 'https://wwwshop.example'],
    ...['https://x.xa.b.c.d.example', 'http://wiki.xintra.corp', 'http://evillocalhost:3000'],
    ...['http://evil-localhost', 'http://1192.0.2.7:8080', 'https://evilxn--bcher-kva.example'],
    ['https://evil.com.shop.example', 'wildcards'], // the owner of shop.example controls this host
  ],
  'a relative of a registered site': [
    ...['https://example', 'https://evil.example', 'https://example.shop'],
    ['https://www.pay.shop.example', 'wildcards'],
    ...['https://a.b.c.d.example', 'https://b.c.d.example', 'https://x.b.c.d.example', 'http://intra.corp'],
    ...['http://corp', 'http://evil.corp'],
    ['https://shop.example.shop.example', 'wildcards'],
    ['http://localhost.localhost', 'local'],
    ...['http://localhost.localdomain:3000', 'http://localhost6:3000', 'http://app.localhost.evil.com'],
    ...['http://app.localhosts', 'https://app.localhost', 'https://app.localhost:3000', 'http://.localhost:3000'],
  ],
  'a different character in place of a dot': [
    ...['https://shopxexample', 'https://shop-example', 'https://shop_example', 'https://shop0example'],
    ...['https://a.shopxexample', 'https://axshop.example', 'https://payxshop.example:8443'],
    ...['https://x.axb.c.d.example', 'http://wiki.intraxcorp', 'http://192x0.2.7:8080', 'http://192.0.237:8080'],
    ...['https://127x0.0.1'],
  ],
  'null or a similar word': [
    ...['null', 'NULL', 'Null', '"null"', 'null:', 'null/', 'https://null', 'null.shop.example'],
    ['https://null.shop.example', 'wildcards'],
    ...['undefined', 'none', '0', '-', '{}', '[object Object]', 'same-origin', 'self'],
  ],
  'a different or incomplete scheme': [
    ...['http://shop.example', 'http://www.shop.example', 'https://wiki.intra.corp', 'https://localhost:3000'],
    ...['http://127.0.0.1:3000', 'https://[::1]:3000', 'ws://shop.example', 'wss://www.shop.example'],
    ...['ftp://shop.example', 'httpss://www.shop.example', 'xhttps://www.shop.example', 'https+x://www.shop.example'],
    ...['shop.example', 'www.shop.example', '//shop.example', '://www.shop.example', 'https:', 'https://'],
    ...['https:shop.example', 'https:www.shop.example', 'https:/www.shop.example', 'https:///www.shop.example'],
    ...['https//www.shop.example', 'https:\\\\www.shop.example', 'file://', 'file://shop.example', 'about:blank'],
    ...['about:srcdoc', 'data:text/html,https://shop.example', 'javascript:https://shop.example'],
    ...['blob:https://shop.example', 'blob:https://www.shop.example/0b3c', 'filesystem:https://shop.example'],
    ...['view-source:https://shop.example', 'chrome-extension://shop.example', 'localhost:3000'],
  ],
  'an imitation of a registered app': [
    ...['capacitor://', 'capacitor:localhost', 'capacitor://localhost/', 'capacitor://localhost:80'],
    ...['CAPACITOR://localhost', 'capacitor://LOCALHOST', 'capacitor://localhost.', 'capacitor://app.localhost'],
    ...['capacitor://localhost.evil.com'],
    ...['capacitor://127.0.0.1', 'capacitors://localhost', 'capacitor+x://localhost', 'app://localhost'],
    ...['app://shop.example:443'],
    ...['app://www.shop.example', 'app://SHOP.example', 'app://shop.example/', 'apps://shop.example'],
    ...['xapp://shop.example'],
    ...['chrome-extension://abcdefghijklmnopabcdefghijklmno', 'chrome-extension://abcdefghijklmnopabcdefghijklmnopa'],
    ...['chrome-extension://ABCDEFGHIJKLMNOPABCDEFGHIJKLMNOP', 'moz-extension://abcdefghijklmnopabcdefghijklmnop'],
    ...['capacitor://localhost, capacitor://localhost', 'capacitor://*', 'app://*.example', 'chrome-extension://*'],
  ],
  'a different port or notation of a port': [
    ...['https://shop.example:443', 'https://shop.example:8443', 'https://shop.example:80', 'https://shop.example:'],
    ['https://pay.shop.example', 'wildcards'],
    ...['https://www.shop.example:443', 'https://www.shop.example:0443', 'https://www.shop.example:8444'],
    ...['https://www.shop.example:84430', 'https://www.shop.example:08443', 'https://www.shop.example:8443:8443'],
    ...['https://www.shop.example:+8443', 'https://www.shop.example:0x20fb'],
    'https://www.shop.example:73979', // 8443 modulo 2^16
    'https://www.shop.example:8443.0',
    'https://www.shop.example:\u0668\u0664\u0664\u0663', // Arabic-Indic digits
    'https://www.shop.example:\uff18\uff14\uff14\uff13', // full-width digits
    ['http://localhost:3001', 'loopback'],
    ...['http://localhost:', 'http://localhost:0', 'http://localhost:80', 'http://localhost:03000'],
    ...['http://localhost:65536', 'http://localhost:-1', 'http://localhost:1e3', 'http://localhost:0x50'],
    ...['http://localhost:3000a', 'http://localhost:a', 'http://localhost:3000:3000', 'https://127.0.0.1:443'],
    ...['https://127.0.0.1:8443/', 'http://[::1]:80', 'http://[::1]3000', 'http://localhost:99999999999999999999'],
  ],
  'a different letter case': [
    ...['HTTPS://shop.example', 'https://SHOP.example', 'https://shop.Example', 'HTTPS://www.shop.example'],
    ...['https://WWW.shop.example', 'https://www.Shop.example', 'Http://localhost:3000', 'http://LOCALHOST:3000'],
    ...['http://Localhost', 'https://XN--BCHER-KVA.example', 'https://www.xn--BCHER-kva.example'],
    ...['https://[2001:DB8::7]'],
  ],
  'a trailing dot or an empty label': [
    ...['https://shop.example.', 'https://shop.example..', 'https://shop..example', 'https://.shop.example'],
    ...['https://..shop.example', 'https://www..shop.example', 'https://www.shop..example'],
    ...['https://.www.shop.example', 'https://www.shop.example.', 'https://www.shop.example.:8443', 'https://.'],
    ...['http://.localhost', 'http://localhost.', 'http://localhost.:3000', 'https://127.0.0.1.'],
  ],
  'labels that DNS does not allow': [
    ...['https://.shop.example:8443', 'https://a..shop.example', `https://${'a'.repeat(64)}.shop.example`],
  ],
  'a user name, a path, a query or a fragment': [
    ...['https://shop.example@evil.com', 'https://shop.example:443@evil.com', 'https://evil.com@shop.example'],
    ...['https://evil.com@www.shop.example', 'https://@www.shop.example'],
    ...['https://user:secret@www.shop.example:8443', 'http://localhost:3000@evil.com'],
    ...['http://evil.com@localhost:3000', 'https://127.0.0.1:80@evil.com', 'https://shop.example/'],
    ...['https://shop.example/path', 'https://shop.example?', 'https://shop.example#', 'https://www.shop.example/'],
    ...['https://www.shop.example/..', 'https://www.shop.example?a=b', 'https://www.shop.example#fragment'],
    ...['https://evil.com/.shop.example', 'https://evil.com?.shop.example', 'https://evil.com#.shop.example'],
    ...['https://evil.com#@www.shop.example', 'https://evil.com\\.shop.example'],
    ...['https://evil.com\\@www.shop.example', 'https://evil.com:80\\.shop.example'],
  ],
  // Some browsers send these hosts in Origin, and naive patterns mistake them for subdomains.
  'punctuation that a browser allows in a host': [
    ...['https://evil.com!.shop.example', 'https://evil.com".shop.example', 'https://evil.com$.shop.example'],
    ...['https://evil.com&.shop.example', "https://evil.com'.shop.example", 'https://evil.com(.shop.example'],
    ...['https://evil.com).shop.example', 'https://evil.com+.shop.example', 'https://evil.com,.shop.example'],
    ...['https://evil.com;.shop.example', 'https://evil.com=.shop.example', 'https://evil.com^.shop.example'],
    ...['https://evil.com`.shop.example', 'https://evil.com{.shop.example', 'https://evil.com|.shop.example'],
    ...['https://evil.com}.shop.example', 'https://evil.com~.shop.example'],
    ['https://evil.com_.shop.example', 'wildcards'], // com_ is a valid label
  ],
  'percent-encoding': [
    ...['https://evil.com%2f.shop.example', 'https://evil.com%23.shop.example', 'https://evil.com%00.shop.example'],
    ...['https://evil.com%5c.shop.example', 'https://evil.com%0d%0a.shop.example'],
    ...['https://evil.com%40www.shop.example', 'https://shop%2eexample', 'https://www%2eshop.example'],
    ...['https://%77ww.shop.example', 'https%3a%2f%2fshop.example', 'https://shop.example%'],
  ],
  'more than one origin': [
    ...['https://shop.example, https://evil.com', 'https://evil.com, https://shop.example'],
    ...['https://evil.com,https://www.shop.example', 'https://evil.com https://shop.example'],
    ...['https://evil.com https://www.shop.example', 'https://evil.com;https://www.shop.example'],
    ...['https://evil.com|https://shop.example', 'https://shop.example, https://shop.example'],
    ...['https://a.shop.example, https://b.shop.example', 'null, https://shop.example', 'https://shop.example, null'],
    ...['https://shop.example,', ',https://shop.example', 'http://localhost:3000, http://localhost:3001'],
    ...['["https://shop.example"]', '"https://shop.example"', '<https://shop.example>'],
    ...['Origin: https://shop.example', 'https://shop.example; q=1'],
  ],
  'a pattern': [
    ...['*', 'https://*', '*://shop.example', '*.shop.example', 'https://*.shop.example'],
    ...['https://*.shop.example:8443', 'http://*.intra.corp', 'https://a.*.shop.example'],
    ...['https://*.www.shop.example', 'https://www*.shop.example', 'https://%2a.shop.example'],
    ...['https://\uff0a.shop.example', 'http://localhost:*', 'https://127.0.0.1:*', 'http://[::1]:*', 'https://.*'],
    ...['https://.*.shop.example', 'https://(.+).shop.example', 'https://[a-z].shop.example'],
    ...['https://?.shop.example', 'https://shop.examp?e', '%', 'https://%', 'https://sho_.example'],
    ...['http://localhost:300_', 'https://%.shop.example', "https://shop.example' or '1'='1", "' or site like '%"],
    ...['https://shop.example"]', "https://shop.example'--"],
  ],
  'lookalike letters': [
    'https://b\u00fccher.example', // browsers send punycode
    'https://www.b\u00fccher.example',
    'https://\u0455hop.example', // Cyrillic s
    'https://sh\u043ep.example', // Cyrillic o
    ...['https://xn--shp-ted.example', 'https://www.sh\u043ep.example', 'https://www.xn--shp-ted.example'],
    'https://shop.ex\u0251mple', // Latin alpha
    'https://sh\u03bfp.example', // Greek omicron
    'https://\uff53hop.example', // full-width s
    'https://www.\uff53hop.example',
    'https://\u017fhop.example', // long s
    'https://www.\u24c8hop.example', // circled S
    'https://www.\u{1d42c}hop.example', // mathematical bold s
    'https://sh\u00f6p.example',
    'https://sho\u0302p.example', // combining accent
    'http://loca\u0131host:3000', // dotless i
    'http://\u217cocalhost:3000', // Roman numeral fifty
    'https://\u2460\u2461\u2466.0.0.1', // 127 in circles
    'https://xn--bcher-kvb.example',
  ],
  'characters that become dots, slashes or nothing': [
    ...['https://shop\uff0eexample', 'https://shop\u3002example', 'https://www\uff61shop.example'],
    ...['https://www\u2024shop.example', 'https://evil.com\uff0f.shop.example'],
    'https://evil.com\u2044.shop.example', // fraction slash
    ...['https://evil.com\uff03.shop.example', 'https://evil.com\uff1f.shop.example'],
    ...['https://evil.com\uff20www.shop.example', 'https://evil.com\uff3c.shop.example'],
    'https://evil.c\u2100.shop.example', // a/c
    ...['https://shop.example\uff1a443', 'https://sh\u00adop.example', 'https://sh\u200bop.example'],
    ...['https://w\u200dww.shop.example', 'https://www.sh\u2060op.example', 'https://www.shop.example\ufe0f'],
    ...['https://\u202ewww.shop.example', '\ufeffhttps://shop.example', 'https://shop.example\u200b'],
  ],
  'white space and control characters': [
    ...['https://shop.exa\tmple', 'ht\ttps://shop.example', 'https:\t//www.shop.example'],
    ...['https://www\t.shop.example', 'https://evil.com\t.shop.example', 'https://evil.com\thttps://shop.example'],
    ...['http://localhost:\t3000', 'https:// shop.example', 'https://shop .example', 'https://www .shop.example'],
    ...['https://www.shop.example :8443', 'https://www.shop.example\u0001', 'https://www\u0008.shop.example'],
    ...['https://www.shop.example\u000b', 'https://shop.example\u000c', 'https://\u001bwww.shop.example'],
    ...['https://shop.example\u001f', 'https://www.shop\u007f.example', 'https://shop.example\u0085'],
    ...['https://shop.example\u00a0', '\u00a0https://www.shop.example', 'https://www\u2028.shop.example'],
    ...['https://www\u3000.shop.example'],
  ],
  'a different notation of an IP address': [
    ...['http://192.0.2.7', 'http://192.0.2.8:8080', 'http://3221225991:8080', 'http://0xc0000207:8080'],
    ...['http://0300.0.2.7:8080', 'http://192.0.519:8080', 'http://192.0.2.07:8080', 'http://192.0.2.7.:8080'],
    ...['http://www.192.0.2.7:8080', 'https://127.1', 'https://2130706433', 'https://0x7f.1', 'https://0177.0.0.1'],
    ...['https://127.000.000.001', 'https://127.0.0.2', 'https://0.0.0.0', 'https://a.127.0.0.1'],
    ...['https://[127.0.0.1]', 'https://[::ffff:127.0.0.1]', 'https://[::ffff:7f00:1]', 'http://[0:0:0:0:0:0:0:1]'],
    ...['http://[::0001]:3000', 'http://[::]', 'http://[::1%25lo]', 'http://[::1%lo]', 'http://[[::1]]'],
    ...['http://[::1', 'http://::1', 'http://::1]:3000', 'https://[2001:db8:0:0:0:0:0:7]', 'https://[2001:0db8::7]'],
    ...['https://[2001:db8::8]', 'https://2001:db8::7', 'https://[2001:db8::7]:443', 'https://[2001:db8::7]evil.com'],
    ...['https://www.[2001:db8::7]'],
  ],
  'an oversized origin': [
    `https://${'a.'.repeat(128)}shop.example`, // 130 labels, 268 characters
    `https://${'a.'.repeat(120)}ab.shop.example`, // 255 characters
    ...[`https://${'a'.repeat(16_384)}.shop.example`, `https://${'a.'.repeat(8192)}shop.example`],
    ...[`https://www.shop.example${'.'.repeat(16_384)}`, `https://www.shop.example/${'a'.repeat(16_384)}`],
    ...[`https://www.shop.example:${'0'.repeat(16_384)}8443`, `https://${'@'.repeat(16_384)}www.shop.example`],
    ...[`https://shop.example${', https://shop.example'.repeat(745)}`, `${'https://'.repeat(2048)}www.shop.example`],
    ...[`http://[${':'.repeat(16_384)}1]`, `https://${'xn--'.repeat(4096)}.shop.example`, 'a'.repeat(65_536)],
  ],
});

/** Whether workerd can send the origin in a header unchanged. http.test.ts sends the other origins byte for byte. */
export const isAscii = (origin: string) => /^[\t\x20-\x7e]+$/.test(origin);

/** The body of the response that refuses a token's origin. Omits an origin that is too long or not printable. */
export const refusalOf = (origin: string) => ({
  status: false,
  message: `${/^[ -~]{1,300}$/.test(origin) ? `Origin ${origin}` : 'This origin'} is not authorized for this business.`,
});

/** The body of the response that refuses a token sent without an origin. */
export const NO_ORIGIN = {
  status: false,
  message: 'This business token works only from pages of its registered sites. From a server, use an API key.',
};

/** The body of the response that refuses a token sent with a same-origin GET. */
export const SAME_ORIGIN = {
  status: false,
  message:
    'This business token works only from pages of its registered sites, and browsers send no Origin with a same-origin GET. If a proxy forwards the request, have the proxy set Origin.',
};

/** Placeholder for the service's own origin, which the service derives. */
export const OWN = 'own';
/** Placeholder for an origin that is not valid UTF-8. */
const UNREADABLE = '\ufffd';

/**
 * Header lines that only a raw client can send, with one byte per character, and the response to a request with the token of the `literals`
 * business. The response is given as its status and, if the service refuses the request, the origin that the service received, if any.
 */
export const RAW_HEADERS: Record<
  string,
  readonly (readonly [lines: readonly string[], status: 200 | 403, saw?: string])[]
> = {
  'more than one Origin header': [
    [['Origin: https://shop.example', 'Origin: https://evil.com'], 403, 'https://shop.example, https://evil.com'],
    [['Origin: https://evil.com', 'Origin: https://shop.example'], 403, 'https://evil.com, https://shop.example'],
    [
      ['Origin: https://shop.example', 'Origin: https://shop.example'],
      403,
      'https://shop.example, https://shop.example',
    ],
    [['Origin: null', 'origin: https://shop.example'], 403, 'null, https://shop.example'],
    [['Origin: https://shop.example', 'Origin:'], 403, 'https://shop.example,'],
    [['Origin:', 'Origin: https://shop.example'], 200], // an empty header counts as absent
    [['Origin:', 'Origin:'], 403],
  ],
  'no origin': [
    [[], 403],
    [['Origin:'], 403],
    [['Origin:    '], 403],
    [['Origin:\t'], 403],
  ],
  'other headers instead of Origin': [
    [['Referer: https://shop.example/page'], 403],
    [['User-Agent: https://shop.example'], 403],
    [['X-Origin: https://shop.example'], 403],
    [['Origin-: https://shop.example'], 403],
    [['Sec-WebSocket-Origin: https://shop.example'], 403],
    [['X-Forwarded-Host: shop.example', 'X-Forwarded-Proto: https', 'X-Forwarded-Origin: https://shop.example'], 403],
    [['Forwarded: for=127.0.0.1;host=shop.example;proto=https'], 403],
    [['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1'], 403],
    [['X-HTTP-Method-Override: OPTIONS'], 403],
    [['Access-Control-Request-Method: GET', 'Access-Control-Request-Headers: authorization'], 403],
    [['Cookie: Origin=https://shop.example'], 403],
    [['Origin: https://evil.com', 'Referer: https://shop.example/'], 403, 'https://evil.com'],
    [['Origin: null', 'X-Forwarded-Origin: https://shop.example'], 403, 'null'],
  ],
  'the service’s own page, which is not registered': [
    [['Sec-Fetch-Site: same-origin'], 403, OWN],
    [['Sec-Fetch-Site: same-origin', 'Origin:'], 403, OWN],
    [['Sec-Fetch-Site: same-origin', 'Referer: https://shop.example/'], 403, OWN],
    [['Sec-Fetch-Site: same-origin', 'X-Forwarded-Host: shop.example', 'X-Forwarded-Proto: https'], 403, OWN],
    [['Sec-Fetch-Site: same-origin', 'Origin: https://evil.com'], 403, 'https://evil.com'],
    [['Sec-Fetch-Site: same-origin', 'Origin: null'], 403, 'null'],
    [['Sec-Fetch-Site: same-site'], 403],
    [['Sec-Fetch-Site: cross-site'], 403],
    [['Sec-Fetch-Site: none'], 403],
    [['Sec-Fetch-Site: SAME-ORIGIN'], 403],
    [['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: same-origin'], 403],
    [['Sec-Fetch-Mode: same-origin'], 403],
  ],
  'a notation that HTTP treats as equivalent': [
    [['Origin:https://shop.example'], 200],
    [['Origin: \t https://shop.example \t '], 200],
    [['ORIGIN: https://shop.example'], 200],
    [['oRiGiN: https://shop.example'], 200],
  ],
  'bytes that are not UTF-8': [
    [['Origin: https://sh\xf6p.example'], 403, UNREADABLE],
    [['Origin: https://shop.example\xff'], 403, UNREADABLE],
    [['Origin: https://shop.example\x85'], 403, UNREADABLE],
    [['Origin: https://shop.example\xa0'], 403, UNREADABLE],
    [['Origin: \xa0https://shop.example'], 403, UNREADABLE],
    [['Origin: https://\xc1\xb3hop.example'], 403, UNREADABLE], // s encoded in two bytes
    [['Origin: https://shop\xc0\xaeexample'], 403, UNREADABLE], // a dot encoded in two bytes
    [['Origin: https://shop.example\xed\xa0\x80'], 403, UNREADABLE], // half of a surrogate pair
    [['Origin: https://shop.example\xe2\x80'], 403, UNREADABLE], // a truncated character
  ],
};
