// What each floor of src and each kind of file imports (docs/design.md, "Layers").
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The kinds of files: their files, the kinds and packages that they import, and those of which they import only types. `*` stands for the
 * folder of a resource.
 */
const KINDS: [files: string, values: string, types?: string][] = [
  ['core/', '@noble/hashes'],
  ['memory/', '', 'core/'],
  ['db/', 'core/ drizzle-orm'],
  ['limits/', 'core/ db/ drizzle-orm'],
  ['homes/', 'core/ db/ drizzle-orm'],
  ['origins/', 'core/ db/ */rules.ts drizzle-orm'],
  ['sources/', 'core/ db/ drizzle-orm'],
  ['input.ts', 'core/ zod'],
  ['operation.ts', '', 'core/ input.ts zod'],
  ['suffix-parents.ts', ''],
  ['not-bundled.ts', ''],
  ['public-suffix.ts', 'core/ suffix-parents.ts tldts'],
  ['*/rules.ts alerts/webhook.ts', 'core/ public-suffix.ts', 'operation.ts'],
  ['*/operations.ts', 'core/ input.ts operation.ts */rules.ts zod'],
  ['operations.ts', '*/operations.ts', 'operation.ts'],
  [
    `*/statements.ts alerts/outbox.ts business/creation.ts business/deletion.ts business/extra.ts business/limit-change.ts business/list.ts business/update.ts databases/probe.ts
      sessions/console-links.ts shown-business/former-tokens.ts usage/counting.ts usage/history.ts usage/invoices.ts usage/ledger.ts usage/list-limits.ts
      usage/lists.ts usage/lowering.ts usage/recording.ts usage/remembered.ts usage/reports.ts`,
    'core/ db/ limits/ homes/ origins/ sources/ */rules.ts drizzle-orm',
    '*/operations.ts zod',
  ],
  ['env.ts', '', 'core/ db/ memory/ hono'],
  ['http/', 'core/ db/ limits/ homes/ origins/ input.ts @hono/zod-validator hono zod', 'env.ts'],
  ['description/', 'core/ input.ts operation.ts http/ zod', 'zod-openapi'],
  ['*/description.ts', 'core/ input.ts */rules.ts */operations.ts http/ description/ zod', 'zod-openapi'],
  ['descriptions.ts', '*/description.ts', 'description/ operations.ts'],
  ['openapi/', 'input.ts operations.ts description/ descriptions.ts */description.ts zod zod-openapi', 'operation.ts'],
  ['guard.ts', 'core/ db/ input.ts http/ hono', 'operation.ts env.ts'],
  ['serve.ts', 'operation.ts http/ guard.ts', 'input.ts env.ts hono zod'],
  [
    '*/handlers.ts shown-business/responses.ts databases/health.ts usage/totals.ts',
    'core/ db/ homes/ origins/ operation.ts */rules.ts */operations.ts */statements.ts http/ serve.ts',
    'env.ts */description.ts zod',
  ],
  ['app.ts', 'memory/ operation.ts http/ */handlers.ts hono', 'operations.ts env.ts'],
  [
    'schedule.ts alerts/sending.ts business/due.ts purge.ts',
    'core/ db/ origins/ */rules.ts */statements.ts drizzle-orm',
    'env.ts',
  ],
  ['worker.ts', 'app.ts schedule.ts', 'env.ts'],
  ['index.ts rehearsal.ts', 'worker.ts'],
  ['cli/', 'core/ input.ts operation.ts operations.ts */operations.ts descriptions.ts node zod', 'description/'],
  ['tools/', 'core/ openapi/ cli/ page/ @mdn/browser-compat-data esbuild node wrangler'],
  ['page/', 'core/ */rules.ts hono preact punycode', 'http/ */description.ts app.ts'],
];
const namesIn = (list = '') => list.split(/\s+/).filter((name) => name !== '');
const kinds = KINDS.map(([files, values, types]) => {
  const names = namesIn(files);
  return { name: names[0] ?? '', names, values: namesIn(values), types: namesIn(types) };
});

/** Returns the kind of a file in src: the kind that lists the file, or else its name in any resource, or its folder. */
function kindOf(file: string): string {
  const named = kinds.find(({ names }) => names.includes(file));
  const kind = file.replace(/^[^/]+(?=\/)/, '*');
  const isListed = kinds.some(({ name }) => name === kind);
  return named?.name ?? (isListed ? kind : file.replace(/(?<=\/).*/, ''));
}

/** Returns the file in src that `from` means in `file`. Undefined if it means a package. */
const sourceOf = (file: string, from: string) =>
  from.startsWith('.') ? relative('src', join(dirname(file), from)).replaceAll('\\', '/') : undefined;

function targetOf(from: string, source: string | undefined): string {
  if (source !== undefined) return kindOf(source);
  return from.startsWith('node:') ? 'node' : (/^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.d)\.tsx?$/.test(name));
const imports = files.flatMap((name) => {
  const file = join('src', name);
  const found = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)( type)?\b[^;]*? from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...found].map(([, type, ...texts]) => {
    const from = texts.find((text) => text !== undefined) ?? '';
    const source = sourceOf(file, from);
    return { file, source, kind: kindOf(name), to: targetOf(from, source), isType: type !== undefined };
  });
});
test('every file in src is of a listed kind, and every listed file exists', () => {
  expect(kinds.map(({ name }) => name).sort()).toEqual([...new Set(files.map((file) => kindOf(file)))].sort());
  const named = kinds.flatMap(({ names }) => names.filter((name) => !name.includes('*')));
  expect(named.filter((name) => !existsSync(join('src', name)))).toEqual([]);
});

test.each(kinds)('$name imports exactly the listed kinds and packages', ({ name, values, types }) => {
  const own = imports.filter((found) => found.kind === name && found.to !== name);
  const targets = (isType: boolean) => [...new Set(own.filter((found) => found.isType === isType).map(({ to }) => to))];
  expect(targets(false).sort()).toEqual([...values].sort());
  expect(
    targets(true)
      .filter((to) => !values.includes(to))
      .sort(),
  ).toEqual([...types].sort());
});

/** The floors of the drawing in design.md, highest first: folders of src, and files directly in it. */
const [, drawing = ''] = /go down these floors.*?```\n(.*?)\n```/s.exec(readFileSync('docs/design.md', 'utf8')) ?? [];
const floors = drawing.split('\n').map((names) => names.split(', '));
/** Returns the folder of a file in src, or the file itself if it is directly in src. */
const folderOf = (name: string) => name.replaceAll('\\', '/').replace(/(?<=\/).*/, '');

test('every folder of src stands on one floor of the drawing', () => {
  expect(floors.flat().sort()).toEqual([...new Set(files.map(folderOf))].sort());
});

test('every folder of src imports only from floors below its own, so no two import each other', () => {
  const floorOf = (folder: string) => floors.findIndex((names) => names.includes(folder));
  const wrong = imports.flatMap(({ file, source }) => {
    if (source === undefined) return [];
    const [from, to] = [folderOf(relative('src', file)), folderOf(source)];
    if (from === to || floorOf(to) > floorOf(from)) return [];
    return `${file} imports ${source}. Move what both need to ${from}, or to a floor below both`;
  });
  expect(wrong).toEqual([]);
});

test('no view of the console imports another: what several use is beside them', () => {
  const viewOf = (name: string) => /page\/owner\/[^/]+\//.exec(name.replaceAll('\\', '/'))?.[0];
  const borrowed = imports.filter(
    ({ file, source = '' }) => viewOf(file) && viewOf(source) && viewOf(file) !== viewOf(source),
  );
  expect(borrowed.map(({ file, source }) => `${file} imports ${source}`)).toEqual([]);
});

test('handlers query only through the guard', () => {
  const asking = files.filter(
    (name) => name.endsWith('/handlers.ts') && /db\/batch/.test(readFileSync(join('src', name), 'utf8')),
  );
  expect(asking).toEqual([]);
});

test('the service takes the time only in worker.ts and chance only in core/random.ts', () => {
  const served = files.filter((name) => !/^(page|cli|tools)\//.test(name.replaceAll('\\', '/')));
  const taking = served.filter((name) =>
    /Date\.now|new Date\(\)|Math\.random|randomUUID|getRandomValues/.test(readFileSync(join('src', name), 'utf8')),
  );
  expect(taking.sort()).toEqual(['core/random.ts', 'worker.ts']);
});
