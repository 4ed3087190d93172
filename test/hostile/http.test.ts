// The tables of this folder over real HTTP, against `wrangler dev`, sent as they are written; and what every answer carries.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBusiness } from '../../src/cli/businesses.ts';
import { withDatabase } from '../../src/cli/database.ts';
import { createKey } from '../../src/cli/keys.ts';
import { type Service, startService } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';
import {
  BAD_REQUEST,
  GENUINE_ORIGINS,
  HOSTILE_ORIGINS,
  LISTS,
  type List,
  NO_ORIGIN,
  OWN,
  RAW_HEADERS,
  refusalOf,
} from './origins.ts';
import { HOSTILE_SITES, legible } from './sites.ts';
import { type Answer, utf8, Wire } from './wire.ts';

const USER = 7;
const CONNECTIONS = 4;
const NAMES = Object.keys(LISTS) as List[];

type Business = { id: number; token: string; usage: string; access: string };
let state: string;
const wires: Wire[] = [];
let service: Service;
let key: string;
let own: string;

/** So many businesses of one user, whose API key is `key`. */
const newBusinesses = (count: number) =>
  withDatabase({ 'persist-to': state }, async (db) => {
    const fields = { user_id: USER, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
    const made: Business[] = [];
    for (let left = count; left > 0; left--) {
      const { id, token } = await createBusiness(db, { ...fields, country_id: 1, business_size: 'small' }, new Date());
      made.push({
        id,
        token,
        usage: `/api/v1/business/usage/${id}?from=2026-01-01&to=2026-01-01`,
        access: `/api/v1/business/${id}/access`,
      });
    }
    key = (await createKey(db, { user_id: USER, name: 'test', expires_on: null }, new Date())).api_key;
    return made;
  });

const REPORT = { status: true, data: { used: [{ date: '2026-01-01', count: 0 }] } };
const by = (credential: string) => `Authorization: Bearer ${credential}`;

/** One request; and whatever the service answers, any page may read it, and none gets to send cookies. */
async function send(method: string, path: string, lines: string[] = [], body?: string, wire = wires[0] as Wire) {
  const answer = await wire.send(method, path, lines, body);
  if (answer.status !== BAD_REQUEST) {
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
  }
  return answer;
}

/** The call of the business's owner, from a server. */
const manage = (method: string, path: string, body?: object) =>
  send(method, path, [by(key), 'Content-Type: application/json'], body && JSON.stringify(body));

const told = ({ status, text }: Answer) => ({ status, body: JSON.parse(text) as unknown });

/** `work` on every item, over all connections at once; the results in the order of the items. */
async function onAll<T, R>(items: readonly T[], work: (item: T, wire: Wire) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  await Promise.all(
    wires.map(async (wire) => {
      for (const [index, item] of queue) results[index] = await work(item, wire);
    }),
  );
  return results;
}

/** `every` has the sites of all lists: what it refuses, each of them would. */
let lists: Record<List | 'every', Business>;
let target: Business;
let removal: Business;
let reopened: Business;
beforeAll(async () => {
  state = newDatabase();
  const [literals, wildcards, loopback, every, ...others] = await newBusinesses(7);
  lists = { literals, wildcards, loopback, every } as typeof lists;
  [target, removal, reopened] = others as [Business, Business, Business];
  service = await startService(state);
  const port = Number(new URL(service.url).port);
  own = `http://localhost:${port}`;
  for (let left = CONNECTIONS; left > 0; left--) wires.push(new Wire(port));
  for (const name of NAMES) {
    for (const { access } of [lists[name], lists.every]) {
      expect((await manage('POST', access, { sites: LISTS[name] })).status).toBe(200);
    }
  }
});
afterAll(async () => {
  for (const wire of wires) wire.close();
  await service?.stop();
});

describe('an origin', () => {
  test.each(Object.entries({ ...HOSTILE_ORIGINS, genuine: GENUINE_ORIGINS }))('that is %s', async (_, rows) => {
    const cases = rows.flatMap(([origin, ...admittedBy]) => {
      const asked: (List | 'every')[] = admittedBy.length === 0 ? ['every'] : NAMES;
      return asked.map((list) => ({ origin, list, admitted: admittedBy.some((name) => name === list) }));
    });
    const answers = await onAll(cases, async ({ origin, list }, wire) => {
      const { usage, token } = lists[list];
      const answer = await send('GET', usage, [by(token), `Origin: ${utf8(origin)}`], undefined, wire);
      return { origin, list, ...told(answer) };
    });
    expect(answers).toEqual(
      cases.map(({ origin, list, admitted }) => ({
        origin,
        list,
        ...(admitted ? { status: 200, body: REPORT } : { status: 403, body: refusalOf(origin) }),
      })),
    );
  });
});

describe.each(Object.entries(RAW_HEADERS))('headers with %s', (_, rows) => {
  test.each(rows.map((row) => [legible(row[0].join('\r\n')), ...row] as const))(
    '%s',
    async (_name, lines, status, saw) => {
      const answer = await send('GET', lists.literals.usage, [by(lists.literals.token), ...lines]);
      if (status === BAD_REQUEST) return expect(answer.status).toBe(BAD_REQUEST);
      const body = { 200: REPORT, 403: saw === undefined ? NO_ORIGIN : refusalOf(saw === OWN ? own : saw) }[status];
      expect(told(answer)).toEqual({ status, body });
    },
  );
});

test('a token with a hostile origin records no use', async () => {
  const { usage, token } = lists.literals;
  const origins = ['null', 'https://shop.example.evil.com', 'https://shop.example, https://evil.com'];
  for (const origin of origins) {
    const answer = await send('POST', usage, [by(token), `Origin: ${origin}`], '');
    expect(told(answer)).toEqual({ status: 403, body: refusalOf(origin) });
  }
  const path = usage.replace(/\?.*/, '');
  const counted = await send('POST', path, [by(token), 'Origin: https://shop.example'], '');
  expect(told(counted)).toEqual({ status: 200, body: { status: true, data: { date: expect.any(String), count: 1 } } });
});

// Here and not in workerd, which warns of every header that it is to make of such characters.
test.each([
  ['in UTF-8', utf8('é')],
  ['of one byte', 'é'],
])('an Idempotency-Key with a letter beyond ASCII, %s, is refused', async (_, id) => {
  const { usage, token } = reopened;
  const answer = await send('POST', usage, [by(token), `Idempotency-Key: ${id}`]);
  const message = 'Idempotency-Key must be 1 to 255 characters of printable ASCII without spaces';
  expect(told(answer)).toEqual({
    status: 422,
    body: { status: false, message, errors: { 'Idempotency-Key': [message] } },
  });
});

describe('a site', () => {
  test.each(Object.entries(HOSTILE_SITES))('%s is refused', async (_, rows) => {
    const { access } = target;
    const answers = await onAll(rows, async ([site], wire) => {
      const sites = JSON.stringify({ sites: ['https://good.example', site] });
      const answer = await send('POST', access, [by(key), 'Content-Type: application/json'], sites, wire);
      return { site: legible(site), ...told(answer) };
    });
    expect(answers).toEqual(
      rows.map(([site, reason]) => {
        const message = `sites.1 ${reason}`;
        return { site: legible(site), status: 422, body: { status: false, message, errors: { 'sites.1': [message] } } };
      }),
    );
  });

  test('that was refused has left nothing behind', async () => {
    const { body } = told(await manage('GET', target.access));
    expect(body).toMatchObject({ data: { access_list: [] } });
  });
});

describe('a change of the domains', () => {
  type Listed = { data: { access_list: { id: number; site: string }[] } };
  const listed = (answer: Answer) => (JSON.parse(answer.text) as Listed).data.access_list;
  const visit = async ({ usage, token }: Business, origin: string) =>
    (await send('GET', usage, [by(token), `Origin: ${origin}`])).status;

  test('takes effect with the next request, and an id is never given twice', async () => {
    const { access } = removal;
    const UNKNOWN = { status: 404, body: { status: false, message: 'Access id is not valid' } };
    expect(await visit(removal, 'https://b.example')).toBe(200); // no site is registered yet
    await manage('POST', access, { sites: ['https://a.example'] });
    expect(await visit(removal, 'https://b.example')).toBe(403);
    const [, b] = listed(await manage('POST', access, { sites: ['https://b.example'] }));
    expect(await visit(removal, 'https://b.example')).toBe(200);
    const left = listed(await manage('DELETE', `${access}/${b?.id}`));
    expect(left.map(({ site }) => site)).toEqual(['https://a.example']);
    expect(await visit(removal, 'https://b.example')).toBe(403);
    const [, c] = listed(await manage('POST', access, { sites: ['https://c.example'] }));
    expect(c?.id).toBeGreaterThan(b?.id ?? 0);
    expect(told(await manage('DELETE', `${access}/${b?.id}`))).toEqual(UNKNOWN);
    for (const id of ['0', '-1', `0${c?.id}`, `${c?.id}.0`, `+${c?.id}`, `${c?.id}%20`, '9007199254740993', 'null']) {
      expect(told(await manage('DELETE', `${access}/${id}`))).toEqual(UNKNOWN);
    }
    expect(await visit(removal, 'https://c.example')).toBe(200);
  });

  test('never lifts the restriction by the removal of one entry, and does by that of the list', async () => {
    const { access } = reopened;
    const [only] = listed(await manage('POST', access, { sites: ['https://*.shop.example'] }));
    const message =
      'access_id must not be the last entry: without any, the token works everywhere. DELETE the whole list to do that.';
    expect(told(await manage('DELETE', `${access}/${only?.id}`))).toEqual({
      status: 422,
      body: { status: false, message, errors: { access_id: [message] } },
    });
    expect(await visit(reopened, 'https://evil.com')).toBe(403);
    expect(await visit(reopened, 'https://www.shop.example')).toBe(200);
    expect(listed(await manage('DELETE', access))).toEqual([]);
    expect(await visit(reopened, 'https://evil.com')).toBe(200);
    expect(told(await manage('DELETE', `${access}/${only?.id}`)).status).toBe(404);
  });

  test('is not for a token, whatever its origin', async () => {
    const { token, access } = lists.literals;
    const calls: [string, string, string?][] = [
      ['POST', access, '{"sites":["https://evil.com"]}'],
      ['DELETE', access],
      ['DELETE', `${access}/1`],
    ];
    for (const [method, path, body] of calls) {
      for (const origin of ['https://shop.example', 'https://evil.com', 'null', own]) {
        const lines = [by(token), `Origin: ${origin}`, 'Content-Type: application/json'];
        const { status } = await send(method, path, lines, body);
        expect(status).toBe(403);
      }
    }
    expect(listed(await manage('GET', access)).map(({ site }) => site)).toEqual(LISTS.literals);
  });
});

// That they can be read, `send` asserts of every answer of this file.
describe('a registered page can read', () => {
  test.each([
    ['a preflight', 'OPTIONS', '/api/v1/business/1/access', 204],
    ['the preflight of an unknown path', 'OPTIONS', '/api/unknown', 204],
    ['a report', 'GET', '/api/v1/business/usage/1', 200],
    ['a report as HEAD', 'HEAD', '/api/v1/business/usage/1', 200],
    ['that its input is wrong', 'GET', '/api/v1/business/usage/1?from=tomorrow', 422],
    ['that there is no such business to report on', 'GET', '/api/v1/business/usage/999999999', 422],
    ['that there is no such business to manage', 'GET', '/api/v1/business/999999999/access', 401],
    ['that there is no such entry', 'DELETE', '/api/v1/business/1/access/999999999', 404],
    ['that there is no such path', 'GET', '/api/v1/unknown', 404],
    ['that a path has a slash too many', 'GET', '/api/v1/business/1/access/', 404],
    ['that there is no such method', 'PUT', '/api/v1/business/1/access', 405],
    ['that there is no such method, whatever it is', 'TRACE', '/api/v1/business/usage/1', 405],
    ['that its body is too large', 'POST', '/api/v1/business/1/access', 413],
  ])('%s: %s %s', async (_, method, path, status) => {
    const body = status === 413 ? ' '.repeat(1024 * 1024 + 1) : undefined;
    const answer = await send(method, path, [by(key), 'Origin: https://shop.example'], body);
    expect(answer.status).toBe(status);
  });

  test('that it is not known without a credential of its own', async () => {
    for (const lines of [[], ['Cookie: session=1'], ['Authorization: Basic dTpw']]) {
      const answer = await send('GET', lists.literals.usage, ['Origin: https://shop.example', ...lines]);
      expect(told(answer)).toEqual({ status: 401, body: { message: 'Unauthenticated.' } });
    }
  });
});
