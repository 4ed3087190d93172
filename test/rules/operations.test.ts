// Every list of operations is complete, and the tables in docs/ that follow from the definitions are current.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type * as z from 'zod/mini';
import { createApp } from '../../src/app.ts';
import { entryOf, shapeOf } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { allowsKeys, allowsOperators, INVALIDITIES, ROLES, type Rule } from '../../src/core/policy.ts';
import { openapi } from '../../src/openapi/document.ts';
import { operationsHtml } from '../../src/openapi/html.ts';
import type { Operation } from '../../src/operation.ts';
import { OPERATIONS } from '../../src/operations.ts';
import { SENT } from '../cli/sent.ts';
import { PUBLIC, ROUTES } from '../routes.ts';
import { type Caller, KEY_ROLES } from '../sim/model/callers.ts';
import { isRepeatable, may, mayWhileInactive, RULES, ruleOf } from '../sim/model/may.ts';
import { Random } from '../sim/random.ts';
import { KINDS } from '../sim/steps.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const [api, errors, operating] = [read('docs/api.md'), read('src/http/errors.ts'), read('docs/operating.md')];
const schema = read('migrations/0001_schema.sql');
const all = Object.values<Operation>(OPERATIONS);
const requestOf = ({ method, path }: Operation) => `${method} /api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`;
const { routes } = createApp(() => new Date(0), console).api;
const served = new Set(routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`));

/** Operations without a command. */
const WITHOUT_COMMAND = ['recordUse']; // servers and pages record uses with their own ids: typing them by hand would count them twice

const wordsOf = (usage: string) => usage.split(' ').slice(0, 2).join(' ');

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
  const sent = SENT.map(([argv]) => argv.slice(0, 2).join(' '));
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
        stepsOn(operation).length > 0 ? [] : `test/sim/steps.ts: a kind on '${method} ${asStep(path)}'`,
        hasCommand || !rules.some(allowsOperators) ? [] : `the description.ts of its resource: a command for ${id}`,
      ].flat();
    }),
    ...Object.entries(COMMANDS)
      .filter(([, { request, input }]) => !request?.startsWith('GET ') || input !== undefined)
      .map(([usage]) => wordsOf(usage))
      .filter((words) => !sent.includes(words) && !WITHOUT_REQUEST.includes(words))
      .map((words) => `test/cli/sent.ts: what ${words} sends`),
  ];
  expect(missing).toEqual([]);
});

/** A member of a body, such as `uses.0.at`, or a parameter of the query. */
type Member = { operation: Operation; rule: string; place: 'body' | 'query'; member: string };
const membersIn = (schema: z.core.$ZodType): string[] =>
  Object.entries(shapeOf(schema)).flatMap(([name, inner]) => [
    name,
    ...membersIn(entryOf(inner) ?? inner).map((member) => `${name}.${entryOf(inner) ? '0.' : ''}${member}`),
  ]);
const MEMBERS = all.flatMap((operation): Member[] =>
  operation.rules.flatMap(({ name: rule, body = operation.code }) => [
    ...(body ? membersIn(body) : []).map((member): Member => ({ operation, rule, place: 'body', member })),
    ...Object.keys(operation.query?.schema.shape ?? {}).map(
      (member): Member => ({ operation, rule, place: 'query', member }),
    ),
  ]),
);

/** Returns a body that sends only this member, with a value that no rule accepts. */
const bodyOf = (member: string): unknown =>
  member.split('.').reduceRight<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), Number.NaN);
function isKnownToOracle({ rule, place, member }: Member): boolean {
  const { query, body } = ruleOf(rule as never);
  if (place === 'query') return member in (query?.rules ?? {});
  // A body in place of a credential is a text of the model: `code` has no rule of its own.
  if (body === undefined) return member === 'code';
  const errors = body[0](bodyOf(member), '')[member] ?? [];
  return errors.length > 0 && !errors.some((error) => error.includes(' is not a member of this object'));
}

/** Each kind of step makes this many requests, so that also its rare members appear. */
const TRIES = 300;
const MADE = Object.values(KINDS).flatMap(({ make }) => {
  const random = new Random(1);
  return Array.from({ length: TRIES }, () => make(random));
});
const pathsIn = (value: unknown): string[] =>
  Object.entries(Object(value)).flatMap(([name, inner]) => [
    name,
    ...(typeof inner === 'string' ? [] : pathsIn(inner).map((path) => `${name}.${path}`)),
  ]);
/** In a step of the simulator, `{business}` stands for the id of a business. */
const asStep = (path: string) =>
  path
    .replace(':access_id', '{entry}')
    .replace(':user_id', '{(user|owner)}')
    .replaceAll(/:(\w+)_id/g, '{$1}');
const stepsOn = ({ method, path }: Operation) => {
  const route = new RegExp(`^${method} ${asStep(path).replaceAll('{', '\\{')}(\\?|$)`);
  return MADE.filter(({ on }) => route.test(on));
};
/** Only the tests of alerts read a second page: the model knows no ids of alerts. */
const NOT_SIMULATED = ['cursor'];
/** What the simulator sends to each operation: parameters, and the members of each rule's body. */
const SIMULATED = new Map(
  all.map((operation) => {
    const { rules, ruleOf } = operation;
    const sent = stepsOn(operation).flatMap(({ on, body }) => {
      const query = Object.fromEntries(new URLSearchParams(on.split('?')[1]));
      const rule = ruleOf?.({ body: body === undefined ? '' : JSON.stringify(body), query }).rule ?? rules[0].name;
      return [...pathsIn(body).map((member) => `${rule} ${member}`), ...Object.keys(query)];
    });
    return [operation, new Set(sent)];
  }),
);
const isSimulated = ({ operation, rule, place, member }: Member) =>
  NOT_SIMULATED.includes(member) || SIMULATED.get(operation)?.has(place === 'query' ? member : `${rule} ${member}`);

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(' ', '-')
    .replace(/[^\w-]/g, '');
/** Returns the text of api.md below the heading with this anchor, up to the next heading. */
function sectionAt(anchor: string): string {
  const [, ...sections] = api.split(/^##+ /m);
  return sections.find((section) => anchorOf(section.split('\n', 1)[0] ?? '') === anchor) ?? '';
}
const ROWS = [...sectionAt('basics').matchAll(/^\| \[`(.*?)`\]\(#(.*?)\)(.*?) \| (.*) \|$/gm)].map(
  ([, request = '', anchor = '', rest = '', accepts = '']) => ({ request, anchor, rest, accepts }),
);
/** Returns the rules that a row of the table "Basics" is about. A row for one of several rules names what it is for. */
function rulesOf({ request, rest }: { request: string; rest: string }, { rules, ...operation }: Operation) {
  if (request !== requestOf({ rules, ...operation })) return [];
  const named = rules.filter(({ name }) => rest.includes(`\`${name.replace(/^[a-z]+_/, '')}\``));
  return named.length > 0 ? named : [rules[0]];
}
/** Returns the sections to which the rows of a rule link, and those whose members they share. */
function documented({ operation, rule }: Member): string {
  const own = ROWS.filter((row) => rulesOf(row, operation).some(({ name }) => name === rule))
    .map(({ anchor }) => sectionAt(anchor))
    .join('');
  const shared = [...own.matchAll(/the members \[above\]\(#(.*?)\)/g)].map(([, anchor = '']) => sectionAt(anchor));
  return [own, ...shared].join('');
}
function isDocumented(one: Member): boolean {
  const name = one.member.split('.').at(-1);
  const written = one.place === 'query' ? `[?&]${name}=|\`${name}\`` : `"${name}":|\`${name}\``;
  return new RegExp(written).test(documented(one));
}

test.each<[place: string, isKnown: (member: Member) => boolean | undefined]>([
  ['test/sim/model/: the rule (input.ts) for', isKnownToOracle],
  ['test/sim/steps.ts: a step that sends', isSimulated],
  ['docs/api.md, the section to which the row in "Basics" links:', isDocumented],
])('%s each member of each body, and each parameter', (place, isKnown) => {
  const missing = MEMBERS.filter((member) => !isKnown(member));
  expect(missing.map(({ rule, member }) => `${place} ${member} of ${rule}`)).toEqual([]);
});

test.each(ROLES)('the oracle and the documents know the role %s', (role) => {
  const narrow = sectionAt('narrow-keys');
  const [, ofKeys = ''] = /\n\| `role` \| (.*?) \|\n/.exec(sectionAt('api-keys')) ?? [];
  const [, stored = ''] =
    /create table api_keys .*?\brole +text +not null check \(role in \((.*?)\)\)/is.exec(schema) ?? [];
  const known = {
    'test/sim/model/callers.ts: its row in ROLES, and the operations that it may call': KEY_ROLES.includes(role),
    'migrations/: the CHECK of api_keys.role': stored.includes(`'${role}'`),
    'docs/api.md, "Narrow keys"': narrow.includes(`\n- A \`${role}\` key may `),
    'docs/api.md, "API keys": the row `role`': ofKeys.includes(`\`${role}\``),
    'docs/api.md, "Errors"': role === 'full' || sectionAt('errors').includes(`\n| 403 \`${role}_only_key\` | `),
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
    expect(
      allowed,
      'Correct the callers in operations.ts. If the definition is what docs/api.md says, correct `who` in test/sim/model/',
    ).toEqual(Object.fromEntries(callers.map((caller) => [caller, may(caller, name as never)])));
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
  const isListed = (operation: Operation) => ROWS.some((row) => rulesOf(row, operation).length > 0);
  const [head = '', table = '', rest = ''] = api.split(/(?<=^\| Request \| Accepts \|\n.*\n)((?:\|.*\n)+)/m);
  const current = table.replace(/^(\| \[`(.*?)`\](.*?) \| ).*$/gm, (line, start, request, rest) => {
    const operation = all.find((one) => requestOf(one) === request);
    const [rule] = operation === undefined ? [] : rulesOf({ request, rest }, operation);
    return operation && rule ? `${start}${callersOf(rule, operation)} |` : line;
  });
  const added = all
    .filter((operation) => !isListed(operation))
    .map((operation) => {
      const anchor = anchorOf(summaryOf(operation));
      return `| [\`${requestOf(operation)}\`](#${anchor}) | ${callersOf(operation.rules[0], operation)} |\n`;
    });
  await expect([head, current, ...added, rest].join('')).toMatchFileSnapshot('../../docs/api.md');
});

test('docs/api.md, "Basics", has a row for each rule, none for what the service does not serve, and links to sections', () => {
  const wrong = [
    ...all.flatMap((operation) =>
      operation.rules
        .filter(({ name }) => !ROWS.some((row) => rulesOf(row, operation).some((rule) => rule.name === name)))
        .map(({ name }) => `add a row for ${name}, which names \`${name.replace(/^[a-z]+_/, '')}\` after the link`),
    ),
    ...ROWS.filter(({ request }) => !served.has(request.replaceAll(/\{(\w+)\}/g, ':$1'))).map(
      ({ request }) => `remove the row for ${request}`,
    ),
    ...ROWS.filter(({ anchor }) => sectionAt(anchor) === '').map(({ anchor }) => `write the section #${anchor}`),
  ];
  expect(wrong).toEqual([]);
});

test('docs/operating.md, "Administration", lists every command and no other (npm run generate)', async () => {
  const [before = '', section = '', after = ''] = operating.split(/(?<=^## Administration\n)(.*?)(?=^## )/ms);
  const table = Object.keys(COMMANDS).reduce((text, usage) => {
    const [word = '', ...rest] = usage.split(' ');
    const row = new RegExp(`(?<=^\\| \`${word}\` \\| )(.*)(?= \\|.*\\|$)`, 'm');
    if (!row.test(text)) throw new Error(`docs/operating.md, "Administration": a row for ${word}`);
    const followed = `\`${rest.join(' ')}`;
    return text.replace(row, (listed) =>
      /[ `]/.test(listed.split(followed)[1]?.[0] ?? '') ? listed : `${listed}, ${followed}\``,
    );
  }, section);
  await expect([before, table, after].join('')).toMatchFileSnapshot('../../docs/operating.md');
  const known = Object.keys(COMMANDS).map(wordsOf);
  const listed = [...table.matchAll(/^\| `([a-z-]+)` \| (.*?) \|/gm)].flatMap(([, word, rest = '']) =>
    [...rest.matchAll(/`(.*?)`/g)].map(([, call]) => wordsOf(`${word} ${call}`)),
  );
  expect(
    listed.filter((words) => !known.includes(words)),
    'remove them',
  ).toEqual([]);
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
  const section = sectionAt('cors');
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
