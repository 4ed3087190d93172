// Every list of operations is complete, and the tables in docs/ that follow from the definitions are current.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { shapeOf } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { allowsKeys, allowsOperators, INVALIDITIES, ROLES, type Rule } from '../../src/core/policy.ts';
import { openapi } from '../../src/openapi/document.ts';
import { operationsHtml } from '../../src/openapi/operations.ts';
import type { Operation } from '../../src/operation.ts';
import { OPERATIONS } from '../../src/operations.ts';
import { PUBLIC, ROUTES } from '../routes.ts';
import { type Caller, KEY_ROLES } from '../sim/model/callers.ts';
import { isRepeatable, may, mayWhileInactive, READS, RULES } from '../sim/model/may.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const [api, errors, operating] = [read('docs/api.md'), read('src/http/errors.ts'), read('docs/operating.md')];
const schema = read('migrations/0001_schema.sql');
const all = Object.values<Operation>(OPERATIONS);
const requestOf = ({ method, path }: Operation) => `${method} /api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`;
const { routes } = createApp(() => new Date(0), console).api;
const served = new Set(routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`));

/** Operations without a command. */
const WITHOUT_COMMAND = ['recordUse']; // servers and pages record uses with their own ids: typing them by hand would count them twice

const isPlainRead = ({ name }: { name: string }) => READS.some(([operation]) => operation === name);

/** Commands that combine several requests, or send none. */
const WITHOUT_REQUEST = ['access check', 'user export', 'operator-key create'];

test('nothing is missing for any operation', async () => {
  const resources = readdirSync('src').filter((name) => name !== 'openapi' && existsSync(`src/${name}/operations.ts`));
  const defined = await Promise.all(
    resources.map(async (name) => Object.keys((await import(`../../src/${name}/operations.ts`)).operations)),
  );
  const commands = new Set(Object.values(COMMANDS).map(({ request = '' }) => request.replace(/\{\w+\}/g, ':')));
  expect(defined.flat().toSorted()).toEqual([...new Set(defined.flat())].toSorted());
  const unguarded = [...served].filter(
    (route) => !all.some(({ method, path }) => route === `${method} /api/v1${path}`),
  );
  expect(unguarded.toSorted()).toEqual(PUBLIC.toSorted());
  const answered = Object.entries(RULES).flatMap(([name, { on }]) =>
    Object.keys(on).map((route) => `${name} ${route}`),
  );
  const kinds = read('test/sim/steps.ts');
  const sent = read('test/cli/sent.ts').replaceAll("', '", ' ');
  /** In a step of the simulator, `{business}` stands for the id of a business. */
  const asStep = (path: string) => path.replaceAll(/:access_id/g, '{entry}').replaceAll(/:(\w+)_id/g, '{$1}');
  const missing = [
    ...defined
      .flat()
      .filter((id) => !(id in OPERATIONS))
      .map((id) => `src/operations.ts: the resource of ${id}`),
    ...all.flatMap((operation) => {
      const { id, method, path, rules } = operation;
      const rows = ROUTES.filter((route) => route.method === method && route.pattern === `/api/v1${path}`);
      const request = `${method} ${path.replace(/:\w+/g, ':')}`;
      const hasCommand = commands.has(request) || WITHOUT_COMMAND.includes(id);
      return [
        served.has(`${method} /api/v1${path}`) ? [] : `src/app.ts: the handlers of ${id}`,
        rules
          .filter(({ name }) => !rows.some((row) => row.operation === name))
          .map(({ name }) => `test/routes.ts: a row on '${method} ${path}' with the operation ${name}`),
        rules
          .filter(({ name }) => !answered.includes(`${name} ${method} ${path}`))
          .map(({ name }) => `test/sim/model/: ${name}, who may call it, and what it answers on '${method} ${path}'`),
        rules.some(isPlainRead) ||
        new RegExp(`[\`']${method} ${asStep(path).replace(/[{}]/g, '\\$&')}[\`'$?]`).test(kinds)
          ? []
          : `test/sim/steps.ts: a kind on '${method} ${asStep(path)}'`,
        hasCommand || !rules.some(allowsOperators) ? [] : `the operations.ts of its resource: a command for ${id}`,
      ].flat();
    }),
    ...Object.entries(COMMANDS)
      .filter(([, { request, input }]) => !request?.startsWith('GET ') || input !== undefined)
      .map(([usage]) => usage.split(' ').slice(0, 2).join(' '))
      .filter((words) => !new RegExp(`'${words}[ ']`).test(sent) && !WITHOUT_REQUEST.includes(words))
      .map((words) => `test/cli/sent.ts: what ${words} sends`),
  ];
  expect(missing).toEqual([]);
});

/** How each file writes the name of a member. */
const WRITTEN: [file: string, isWritten: (member: string) => RegExp][] = [
  ['test/sim/model/input.ts', (member) => new RegExp(`\\b${member}[:,]`)],
  ['test/sim/steps.ts', (member) => new RegExp(`\\b${member}[:,]`)],
  ['docs/api.md', (member) => new RegExp(`["\`]${member}["\`]`)],
];
test.each(WRITTEN)('%s knows every member of every body', (file, isWritten) => {
  const text = read(file);
  const missing = all.flatMap(({ id, rules }) =>
    rules
      .flatMap(({ body }) => (body === undefined ? [] : Object.keys(shapeOf(body))))
      .filter((member) => !isWritten(member).test(text))
      .map((member) => `${member} of ${id}`),
  );
  expect(missing).toEqual([]);
});

test.each(ROLES)('the oracle and the documents know the role %s', (role) => {
  const [, narrow = ''] = /\n### Narrow keys\n(.*?)\n### /s.exec(api) ?? [];
  const [, ofKeys = ''] = /\n## API keys\n.*?\n\| `role` \| (.*?) \|\n/s.exec(api) ?? [];
  const [, stored = ''] =
    /create table api_keys .*?\brole +text +not null check \(role in \((.*?)\)\)/is.exec(schema) ?? [];
  const known = {
    'test/sim/model/callers.ts: its row in ROLES, and the operations that it may call': KEY_ROLES.includes(role),
    'migrations/: the CHECK of api_keys.role': stored.includes(`'${role}'`),
    'docs/api.md, "Narrow keys"': narrow.includes(`\n- A \`${role}\` key may `),
    'docs/api.md, "API keys": the row `role`': ofKeys.includes(`\`${role}\``),
    'docs/api.md, "Errors"': role === 'full' || api.includes(`\n| 403 \`${role}_only_key\` | `),
  };
  expect(Object.entries(known).filter(([, isKnown]) => !isKnown)).toEqual([]);
});

test.each(all.flatMap(({ rules, code }) => rules.map((rule) => ({ ...rule, code }))))(
  'the definition of $name permits the callers that the oracle of the simulator lists, and says when a retry is safe',
  ({ name, token, keys, session, operators, whileInactive, retry, code }) => {
    const allowed: Partial<Record<Caller, boolean>> = {
      ...Object.fromEntries(KEY_ROLES.map((role) => [role, keys.includes(role) && session !== 'only'])),
      session: keys.includes('full') && session !== 'none' && session !== 'can_create_keys',
      read_session: keys.includes('read') && session !== 'none',
      key_session: keys.includes('full') && session !== 'none',
      ...{
        token,
        operator: operators.includes('full'),
        recorder: operators.includes('record'),
        code: code !== undefined,
      },
    };
    const callers = Object.keys(allowed) as Caller[];
    expect(allowed).toEqual(Object.fromEntries(callers.map((caller) => [caller, may(caller, name as never)])));
    expect(whileInactive).toBe(mayWhileInactive(name as never));
    expect([retry !== 'never' && retry !== 'with_key', retry !== 'never']).toEqual(
      [false, true].map((hasKey) => isRepeatable(name as never, hasKey)),
    );
  },
);

test('lists of uses, imports and pages of changes are dear', () => {
  const dear = all.flatMap(({ rules }) => rules.filter(({ isDear }) => isDear).map(({ name }) => name));
  expect(dear).toEqual(['record_uses', 'lower_uses', 'import_history', 'read_changes', 'read_user_changes']);
});

/** The callers that may do this: a token, roles of API keys, the operator, and a code in the body. */
function callersOf(rule: Rule, { code }: Operation): string {
  const { token, keys, session, operators } = rule;
  const others = keys.filter((role) => role !== 'full');
  const roles = others.length === ROLES.length - 1 ? 'any key' : others.join(' or ') || 'full';
  return [
    ...(token ? ['token'] : []),
    ...(!allowsKeys(rule) ? [] : session === 'only' ? ['session'] : [roles]),
    ...(!allowsOperators(rule) ? [] : operators.includes('record') ? ['any operator'] : ['operator']),
    ...(code === undefined ? [] : ['code']),
  ].join(', ');
}
const { paths = {} } = openapi();
const summaryOf = ({ path, method }: Operation) =>
  paths[`/api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`]?.[method.toLowerCase() as 'get']?.summary ?? '';

test('docs/api.md, "Basics", lists every operation with the callers that it accepts (npm run generate)', async () => {
  const rows = all.flatMap((operation) => operation.rules.map((rule) => ({ operation, rule })));
  const [head = '', table = '', rest = ''] = api.split(/(?<=^\| Request \| Accepts \|\n.*\n)((?:\|.*\n)+)/m);
  const current = table.replace(/^\| \[(`.*?`)\](.*?) \| .*$/gm, (line, request, rest) => {
    const found = rows.filter(({ operation }) => request === `\`${requestOf(operation)}\``);
    const { rule, operation } =
      found.find(({ rule }) => rest.includes(`\`${rule.name.replace('record_', '')}\``)) ?? found[0] ?? {};
    if (rule === undefined || operation === undefined) return line;
    return `| [${request}]${rest} | ${callersOf(rule, operation)} |`;
  });
  const added = all
    .filter((operation) => !table.includes(`\`${requestOf(operation)}\``))
    .map((operation) => {
      const anchor = summaryOf(operation)
        .toLowerCase()
        .replaceAll(' ', '-')
        .replace(/[^\w-]/g, '');
      return `| [\`${requestOf(operation)}\`](#${anchor}) | ${callersOf(operation.rules[0], operation)} |\n`;
    });
  await expect([head, current, ...added, rest].join('')).toMatchFileSnapshot('../../docs/api.md');
});

test('docs/operating.md, "Administration", lists every command (npm run generate)', async () => {
  const table = Object.keys(COMMANDS).reduce((text, usage) => {
    const [word = '', ...rest] = usage.split(' ');
    const row = new RegExp(`(?<=^\\| \`${word}\` \\| )(.*)(?= \\|.*\\|$)`, 'm');
    if (!row.test(text)) throw new Error(`docs/operating.md, "Administration": a row for ${word}`);
    const followed = `\`${rest.join(' ')}`;
    return text.replace(row, (listed) =>
      /[ `]/.test(listed.split(followed)[1]?.[0] ?? '') ? listed : `${listed}, ${followed}\``,
    );
  }, operating);
  await expect(table).toMatchFileSnapshot('../../docs/operating.md');
});

test('the page at / sets every variable that its commands use', () => {
  const page = readFileSync('src/page/index.html', 'utf8');
  const set = [...page.matchAll(/(?<= )([A-Z_]+)=/g)].map(([, name]) => name);
  const used = [...operationsHtml().matchAll(/\$([A-Z_]+)/g)].map(([, name]) => name);
  expect(new Set(used)).toEqual(new Set(set));
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
    [...new Set([...served].map((route) => route.split(' ')[0]))].sort(),
  );
});

test('docs/operating.md, "Log", lists every reason for a 401', () => {
  const [, union = ''] = /^export type UnauthenticatedReason =(.*?)\| Invalidity;$/ms.exec(errors) ?? [];
  const reasons = [...[...union.matchAll(/'(\w+)'/g)].map(([, reason]) => reason), ...INVALIDITIES];
  const [, row = ''] = /^\| `reason` \| only with `unauthenticated`, (.*)$/m.exec(operating) ?? [];
  const listed = [...row.matchAll(/`([a-z_]+)`/g)].map(([, reason]) => reason);
  expect(listed.sort(), 'list them in the row `reason`').toEqual(reasons.sort());
});
