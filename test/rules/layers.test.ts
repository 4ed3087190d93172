// What each layer of src imports (docs/design.md, "Layers").
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The layers, each below those that it may import: its files, the layers and packages that it imports, and those of which it imports only
 * types. `*` stands for the folder of a resource.
 */
const LAYERS: [files: string, values: string, types?: string][] = [
  ['core/', ''],
  ['db/', 'core/ drizzle-orm'],
  ['limits/', 'core/ db/ drizzle-orm'],
  ['homes/', 'core/ db/ drizzle-orm'],
  ['origins/', 'core/ db/ drizzle-orm'],
  ['sources/', 'core/ db/ drizzle-orm'],
  ['input.ts', 'core/ zod'],
  ['operation.ts', '', 'core/ input.ts zod'],
  ['suffix-parents.ts', ''],
  ['public-suffix.ts', 'core/ suffix-parents.ts tldts'],
  ['*/rules.ts alerts/webhook.ts', 'core/ public-suffix.ts', 'operation.ts'],
  ['*/operations.ts', 'core/ input.ts operation.ts */rules.ts zod'],
  ['operations.ts', '*/operations.ts'],
  [
    `*/statements.ts alerts/outbox.ts business/creation.ts business/deletion.ts business/extra.ts business/update.ts databases/probe.ts
      sessions/console-links.ts usage/history.ts usage/invoices.ts usage/ledger.ts usage/lowering.ts usage/recording.ts usage/remembered.ts`,
    'core/ db/ limits/ homes/ origins/ sources/ */rules.ts drizzle-orm',
    '*/operations.ts zod',
  ],
  ['env.ts', '', 'core/ db/ hono'],
  ['description/schemas.ts', 'core/ zod'],
  ['http/', 'core/ db/ limits/ homes/ origins/ input.ts @hono/zod-validator hono zod', 'env.ts description/schemas.ts'],
  ['description/', 'core/ input.ts operation.ts description/schemas.ts http/ zod', 'zod-openapi'],
  [
    '*/description.ts',
    'core/ input.ts */rules.ts */operations.ts description/schemas.ts http/ description/ zod',
    'zod-openapi',
  ],
  ['openapi/', 'input.ts operations.ts description/ */description.ts zod zod-openapi', 'operation.ts'],
  ['guard.ts', 'core/ db/ input.ts http/ hono', 'operation.ts env.ts'],
  ['serve.ts', 'operation.ts http/ guard.ts', 'input.ts env.ts hono zod'],
  [
    '*/handlers.ts business/shown-business.ts databases/health.ts usage/totals.ts',
    'core/ db/ homes/ origins/ operation.ts */rules.ts */operations.ts */statements.ts http/ serve.ts',
    'env.ts */description.ts zod',
  ],
  ['app.ts', 'core/ operation.ts http/ */handlers.ts hono', 'env.ts'],
  [
    'schedule.ts alerts/sending.ts business/due.ts purge.ts',
    'core/ db/ origins/ */rules.ts */statements.ts drizzle-orm',
    'env.ts',
  ],
  ['worker.ts', 'app.ts schedule.ts', 'env.ts'],
  ['index.ts rehearsal.ts', 'worker.ts'],
  ['cli/', 'core/ input.ts operation.ts */operations.ts node zod'],
  ['tools/', 'core/ openapi/ cli/ page/ @mdn/browser-compat-data esbuild node wrangler'],
  ['page/', 'core/ */rules.ts hono preact punycode', 'description/schemas.ts */description.ts app.ts'],
];
const namesIn = (list = '') => list.split(/\s+/).filter((name) => name !== '');
const layers = LAYERS.map(([files, values, types]) => {
  const names = namesIn(files);
  return { name: names[0] ?? '', names, values: namesIn(values), types: namesIn(types) };
});

/** Returns the layer of a file in src: the layer that lists the file, or else its kind of file, or its folder. */
function layerOf(file: string): string {
  const named = layers.find(({ names }) => names.includes(file));
  const kind = file.replace(/^[^/]+(?=\/)/, '*');
  const isOfKind = layers.some(({ name }) => name === kind);
  return named?.name ?? (isOfKind ? kind : file.replace(/(?<=\/).*/, ''));
}

function targetOf(file: string, from: string): string {
  if (from.startsWith('.')) return layerOf(relative('src', join(dirname(file), from)).replaceAll('\\', '/'));
  return from.startsWith('node:') ? 'node' : (/^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.d)\.tsx?$/.test(name));
const imports = files.flatMap((name) => {
  const file = join('src', name);
  const found = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)( type)?\b[^;]*? from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...found].map(([, type, ...from]) => {
    const to = targetOf(file, from.find((text) => text !== undefined) ?? '');
    return { file, layer: layerOf(name), to, isType: type !== undefined };
  });
});
test('every file in src belongs to a listed layer, and every listed file exists', () => {
  expect(layers.map(({ name }) => name).sort()).toEqual([...new Set(files.map((file) => layerOf(file)))].sort());
  const named = layers.flatMap(({ names }) => names.filter((name) => !name.includes('*')));
  expect(named.filter((name) => !existsSync(join('src', name)))).toEqual([]);
});

test.each(layers)('$name imports exactly the listed layers and packages', ({ name, values, types }) => {
  const own = imports.filter((found) => found.layer === name && found.to !== name);
  const targets = (isType: boolean) => [...new Set(own.filter((found) => found.isType === isType).map(({ to }) => to))];
  expect(targets(false).sort()).toEqual([...values].sort());
  expect(
    targets(true)
      .filter((to) => !values.includes(to))
      .sort(),
  ).toEqual([...types].sort());
});

test('no layer imports one below it, except that tools/ imports page/', () => {
  const order = layers.map(({ name }) => name);
  const upward = imports.filter(({ layer, to }) => order.indexOf(to) > order.indexOf(layer));
  expect([...new Set(upward.map(({ layer, to }) => `${layer} ${to}`))]).toEqual(['tools/ page/']);
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
