// Sends raw requests byte for byte to `wrangler dev`, and checks the CORS headers of every response. test/origin.test.ts and
// test/site.test.ts check in workerd which origins and sites are allowed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { served } from '../node/state.ts';
import {
  GENUINE_ORIGINS,
  HOSTILE_ORIGINS,
  isAscii,
  LISTS,
  type List,
  NO_ORIGIN,
  OWN,
  RAW_HEADERS,
  type Row,
  refusalOf,
  SAME_ORIGIN,
} from './origins.ts';
import { type Answer, utf8, Wire } from './wire.ts';

const NAMES = Object.keys(LISTS) as List[];

type Business = { token: string; usage: string; access: string };
let key: string;
let wire: Wire;
/** `every` contains the sites of all other lists, so an origin that `every` refuses is refused by each of them. */
let lists: Record<List | 'every', Business>;

const REPORT = { status: true, data: { used: [{ date: '2026-01-01', count: 0 }] } };
const by = (credential: string) => `Authorization: Bearer ${credential}`;
const told = ({ status, text }: Answer) => ({ status, body: JSON.parse(text) as unknown });

/** Sends a request. Asserts that any page may read the response, and that none may send cookies. */
async function send(method: string, path: string, lines: string[] = [], body?: string) {
  const answer = await wire.send(method, path, lines, body);
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
  return answer;
}

beforeAll(async () => {
  const { url, ofHttp } = await served();
  const port = Number(new URL(url).port);
  wire = new Wire(port);
  key = ofHttp.key;
  const [every, ...others] = ofHttp.businesses.map(({ id, token }) => ({
    token,
    usage: `/api/v1/business/usage/${id}?from=2026-01-01&to=2026-01-01`,
    access: `/api/v1/business/${id}/access`,
  })) as [Business, ...Business[]];
  lists = { every, ...Object.fromEntries(NAMES.map((name, index) => [name, others[index]])) } as typeof lists;
  for (const name of NAMES) {
    for (const { access } of [lists[name], lists.every]) {
      const sites = JSON.stringify({ sites: LISTS[name] });
      expect((await send('POST', access, [by(key), 'Content-Type: application/json'], sites)).status).toBe(200);
    }
  }
});
afterAll(() => wire.close());

const ORIGINS: Record<string, readonly Row[]> = {
  'origins that browsers send': GENUINE_ORIGINS,
  'non-ASCII bytes or control characters': Object.values(HOSTILE_ORIGINS)
    .flat()
    .filter(([origin]) => !isAscii(origin)),
  'more than one origin': HOSTILE_ORIGINS['more than one origin'] ?? [],
  'an oversized origin': HOSTILE_ORIGINS['an oversized origin'] ?? [],
};

test.each(Object.entries(ORIGINS))('a token works only from registered origins: %s', async (_, rows) => {
  expect(rows).not.toEqual([]);
  for (const [origin, ...admittedBy] of rows) {
    for (const list of admittedBy.length === 0 ? (['every'] as const) : NAMES) {
      const { usage, token } = lists[list];
      const answer = await send('GET', usage, [by(token), `Origin: ${utf8(origin)}`]);
      const admitted = admittedBy.some((name) => name === list);
      const expected = admitted ? { status: 200, body: REPORT } : { status: 403, body: refusalOf(origin) };
      expect({ origin, list, ...told(answer) }).toEqual({ origin, list, ...expected });
    }
  }
});

test.each(Object.entries(RAW_HEADERS))('the service reads headers as HTTP defines them: %s', async (_, rows) => {
  for (const [lines, status, saw] of rows) {
    const answer = await send('GET', lists.literals.usage, [by(lists.literals.token), ...lines]);
    const refusal = saw === undefined ? NO_ORIGIN : saw === OWN ? SAME_ORIGIN : refusalOf(saw);
    expect({ lines, ...told(answer) }).toEqual({ lines, status, body: { 200: REPORT, 403: refusal }[status] });
  }
});

// Not tested in workerd, which logs a warning for each such header.
test.each([
  ['in UTF-8', utf8('é')],
  ['in Latin-1', 'é'],
])('the service refuses a non-ASCII Idempotency-Key %s', async (_, id) => {
  const answer = await send('POST', lists.literals.usage.replace(/\?.*/, ''), [by(key), `Idempotency-Key: ${id}`]);
  const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces';
  expect(told(answer)).toEqual({
    status: 422,
    body: { status: false, message, errors: { 'Idempotency-Key': [message] } },
  });
});

test('the response arrives, and the connection stays usable, if a large body is refused before it is read', async () => {
  for (let times = 0; times < 3; times++) {
    const refused = await send('POST', lists.literals.usage, [], ' '.repeat(8 * 1024 * 1024));
    expect(told(refused)).toEqual({ status: 401, body: { message: 'Unauthenticated.' } });
    expect((await send('GET', lists.literals.usage, [by(key)])).status).toBe(200);
  }
});
