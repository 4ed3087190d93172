// The table of errors: each refusal that is met has to be one of its rows, and each row has to be met.
import {
  type Answer,
  type Ask,
  access,
  type Call,
  type Check,
  differences,
  unless,
  usage,
  type Variables,
} from './check.ts';
import { codesIn, tableOf } from './document.ts';
import type { Admin } from './tree.ts';

/** A business of the user of the demo, by npm run admin. */
const MADE =
  '--user 1 --name Idle --main-domain idle.example --site https://idle.example --country 1 --size small'.split(' ');
/** What no single call brings about. */
const UNASKED = [429, 500, 503];

export function refusalsOf(markdown: string) {
  const rows = tableOf(markdown, 'status', 'body').map(([status, body = '', when]) => {
    const [json = ''] = codesIn(body);
    return { status: Number(status), json, body: JSON.parse(json) as unknown, when, met: false };
  });

  /** What is wrong with an answer, whatever was asked. */
  function problemsOf({ status, body, headers }: Answer): string[] {
    const problems = [
      ...unless(headers.get('Access-Control-Allow-Origin') === '*', 'a page could not read this answer'),
      ...unless(headers.get('Cache-Control') === 'no-store', 'the answer may be cached'),
      ...unless(headers.has('X-Request-Id'), 'the answer has no X-Request-Id'),
      ...unless(status !== 401 || headers.get('WWW-Authenticate') === 'Bearer', '401 without WWW-Authenticate: Bearer'),
      ...unless(status !== 405 || headers.has('Allow'), '405 without Allow'),
    ];
    if (status === 200) return problems;
    const row = rows.find((row) => row.status === status && differences(row.body, body).length === 0);
    if (row) row.met = true;
    return [...problems, ...unless(row !== undefined, `no row of the errors has ${status} ${JSON.stringify(body)}`)];
  }

  /** Brings each refusal about. Needs one site registered for SHOP. */
  async function provoke(check: Check, ask: Ask, variables: Variables, admin: Admin) {
    const { API_KEY, BUSINESS, TOKEN, SHOP, SHOP_TOKEN } = variables;
    const { business } = JSON.parse(admin('business', 'create', ...MADE).stdout);
    admin('business', 'status', `${business.id}`, 'suspended');
    const [entry] = (await ask('GET', access(SHOP), { as: API_KEY })).body.data.access_list;
    const uses = [{ id: 'order-1' }];
    const evil = 'https://evil.example';
    const form = 'application/x-www-form-urlencoded';
    const probes: [what: string, status: number, method: string, path: string, call: Call][] = [
      ['no credential', 401, 'GET', usage(BUSINESS), {}],
      ['two credentials', 401, 'GET', usage(BUSINESS), { as: `${TOKEN}, Bearer ${TOKEN}` }],
      ['a malformed key', 401, 'GET', usage(BUSINESS), { as: `${API_KEY.slice(0, -1)}_` }],
      ['an unknown key', 401, 'GET', usage(BUSINESS), { as: `bua_sk_${'0'.repeat(33)}` }],
      ['a bad key with a bad body', 401, 'POST', access(SHOP), { as: 'wrong', body: '{' }],
      ['usage of no business', 422, 'GET', usage('999999'), { as: API_KEY }],
      ['usage of somebody else', 422, 'GET', usage(SHOP), { as: TOKEN }],
      ['usage of 01', 422, 'GET', usage(`0${BUSINESS}`), { as: TOKEN }],
      ['usage of +1', 422, 'GET', usage(`+${BUSINESS}`), { as: TOKEN }],
      ['usage of 1.0', 422, 'GET', usage(`${BUSINESS}.0`), { as: TOKEN }],
      ['domains of no business', 401, 'GET', access('999999'), { as: API_KEY }],
      ['a token reads domains', 403, 'GET', access(SHOP), { as: SHOP_TOKEN }],
      ['a token adds domains', 403, 'POST', access(SHOP), { as: SHOP_TOKEN, body: { sites: [evil] } }],
      ['a token without an origin', 403, 'GET', usage(SHOP), { as: SHOP_TOKEN }],
      ['a token from another site', 403, 'GET', usage(SHOP), { as: SHOP_TOKEN, origin: evil }],
      ['a key from another site', 403, 'GET', usage(SHOP), { as: API_KEY, origin: evil }],
      ['a token from a long origin', 403, 'GET', usage(SHOP), { as: SHOP_TOKEN, origin: `https://${'a'.repeat(300)}` }],
      ['a token of a business that is not active', 401, 'GET', usage(business.id), { as: business.token }],
      ['a use of a business that is not active', 403, 'POST', usage(business.id), { as: API_KEY }],
      ['a token reports past uses', 403, 'POST', usage(BUSINESS), { as: TOKEN, body: { uses } }],
      ['neither a use nor a report', 422, 'POST', usage(BUSINESS), { as: API_KEY, body: { use: 1 } }],
      ['a report with a key', 422, 'POST', usage(BUSINESS), { as: API_KEY, body: { uses }, key: 'order-1' }],
      ['the last entry', 422, 'DELETE', `${access(SHOP)}/${entry.id}`, { as: API_KEY }],
      ['an unknown entry', 404, 'DELETE', `${access(SHOP)}/999999`, { as: API_KEY }],
      ['a site without its scheme', 422, 'POST', access(SHOP), { as: API_KEY, body: { sites: ['shop.example'] } }],
      ['a body that is no JSON', 422, 'POST', access(SHOP), { as: API_KEY, body: '{' }],
      ['a form', 422, 'POST', access(SHOP), { as: API_KEY, body: 'sites=1', type: form }],
      ['an unknown path', 404, 'GET', '/nowhere', {}],
      ['another method', 405, 'PUT', usage(BUSINESS), {}],
      ['a body that is too long', 413, 'POST', access(SHOP), { body: ' '.repeat(2 ** 21) }],
    ];
    for (const [what, status, method, path, call] of probes) {
      const answer = await ask(method, path, call);
      check(`errors: ${what} → ${status}`, [
        ...unless(answer.status === status, `the status is ${answer.status}`),
        ...problemsOf(answer),
      ]);
    }
    for (const { status, json, when, met } of rows.filter((row) => !UNASKED.includes(row.status))) {
      check(
        `errors: the row ${status} ${json} (${when})`,
        unless(met, 'no call above is refused so: add one to refusals.ts'),
      );
    }
  }

  return { problemsOf, provoke };
}
