// Every list of operations is complete. A failure names the missing operations and says how to add them.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { INVALIDITIES, POLICY } from '../../src/core/policy.ts';
import { access } from '../../src/openapi/access.ts';
import { businesses } from '../../src/openapi/businesses.ts';
import { openapi } from '../../src/openapi/document.ts';
import { operationsHtml } from '../../src/openapi/operations.ts';
import { pathsOf } from '../../src/openapi/paths.ts';
import { publicOperations } from '../../src/openapi/public.ts';
import { session } from '../../src/openapi/session.ts';
import { usage } from '../../src/openapi/usage.ts';
import { ROUTES } from '../routes.ts';

const templateOf = (pattern: string) => pattern.replaceAll(/:(\w+)/g, '{$1}');
const { routes } = createApp(() => new Date(0), console).api;
const served = [
  ...new Set(
    routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${templateOf(path)}`),
  ),
];
const api = readFileSync('docs/api.md', 'utf8');
const errors = readFileSync('src/http/errors.ts', 'utf8');
const operating = readFileSync('docs/operating.md', 'utf8');

test('every route has a description in the OpenAPI document, and every description has a route', () => {
  expect(() => pathsOf({}, {})).toThrow('src/openapi has no words for GET /api/v1/business/usage/{business_id}, ');
  const words = { operationId: 'readWeather', summary: '', description: '', success: { description: '' } };
  const described = { ...usage, ...access, ...businesses, ...session, 'GET /api/v1/weather': words };
  expect(() => pathsOf(described, publicOperations)).toThrow(
    'src/openapi has words for GET /api/v1/weather, which is ',
  );
});

test('every operation has the tag of the file that describes it', () => {
  const { paths = {} } = openapi();
  for (const [tag, words] of Object.entries({ usage, access, businesses, session })) {
    const tags = Object.keys(words).map((route) => {
      const [method = '', path = ''] = route.split(' ');
      return [route, paths[path]?.[method.toLowerCase() as 'get']?.tags];
    });
    expect(Object.fromEntries(tags)).toEqual(Object.fromEntries(Object.keys(words).map((route) => [route, [tag]])));
  }
});

test('the page at / sets every variable that its commands use', () => {
  const page = readFileSync('src/page/index.html', 'utf8');
  const set = [...page.matchAll(/(?<= )([A-Z_]+)=/g)].map(([, name]) => name);
  const used = [...operationsHtml().matchAll(/\$([A-Z_]+)/g)].map(([, name]) => name);
  expect(new Set(used)).toEqual(new Set(set));
});

test('docs/api.md, "Basics", lists every route', () => {
  const rows = api.split('\n').filter((line) => line.startsWith('| ['));
  const missing = served.filter((route) => !rows.some((row) => row.includes(`| \`${route}\``)));
  expect(missing, 'add a row to the table, with a link to its section').toEqual([]);
});

test('docs/api.md, "Basics", names the credentials that each route accepts', () => {
  const accepted = ROUTES.map((route) => {
    const { method, pattern, keyRefusal, tokenRefusal, operatorRefusal, writes, allowsRecordKey } = route;
    const role = writes ? (allowsRecordKey ? 'record' : 'full') : allowsRecordKey ? 'any' : 'read';
    const key = keyRefusal === null ? role : keyRefusal.startsWith('Only a session key') ? 'session' : 'no';
    const operator = operatorRefusal !== undefined ? 'no' : allowsRecordKey ? 'any' : 'full';
    return [`${method} ${templateOf(pattern)}`, tokenRefusal === null ? 'yes' : 'no', key, operator].join(' | ');
  });
  const rows = [...api.matchAll(/^\| \[.*?\| `(.*?)`.*?\| ((?:yes|no) \| \w+ \| \w+) \|$/gm)];
  const printed = rows.map(([, route, credentials]) => `${route} | ${credentials}`);
  expect([...new Set(printed)].sort()).toEqual([...new Set(accepted)].sort());
});

test('docs/api.md, "CORS", names every method of the service', async () => {
  const { fetch } = createApp(() => new Date(0), console);
  const preflight = await fetch(
    new Request('https://service.example/', { method: 'OPTIONS' }),
    {} as never,
    {} as never,
  );
  const methods = preflight.headers.get('Access-Control-Allow-Methods')?.split(',') ?? [];
  const [, section = ''] = api.split('\n### CORS\n');
  expect(
    methods.filter((method) => !section.includes(`\`${method}\``)),
    'name them in the section',
  ).toEqual([]);
  expect(methods.filter((method) => method !== 'HEAD').sort()).toEqual(
    [...new Set(served.map((route) => route.split(' ')[0]))].sort(),
  );
});

test('docs/operating.md, "Log", lists every operation', () => {
  const [, row = ''] = /^\| `operation` \| (.*?; null .*)$/m.exec(operating) ?? [];
  const listed = [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(listed.sort(), 'list the names of the policy in the row `operation`').toEqual(Object.keys(POLICY).sort());
});

test('docs/operating.md, "Log", lists every reason for a 401', () => {
  const [, union = ''] = /^export type UnauthenticatedReason =(.*?)\| Invalidity;$/ms.exec(errors) ?? [];
  const reasons = [...[...union.matchAll(/'(\w+)'/g)].map(([, reason]) => reason), ...INVALIDITIES];
  const [, row = ''] = /^\| `reason` \| only with `unauthenticated`, (.*)$/m.exec(operating) ?? [];
  const listed = [...row.matchAll(/`([a-z_]+)`/g)].map(([, reason]) => reason);
  expect(listed.sort(), 'list them in the row `reason`').toEqual(reasons.sort());
});
