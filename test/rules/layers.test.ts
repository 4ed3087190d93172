// docs/design.md, "Layers": what each layer imports.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { codesIn, tableIn } from '../docs/document.ts';

/** Each row of the table: the files of a layer, the layers and packages that it imports, and those of which it imports only types. */
const layers = tableIn('docs/design.md', 'Layer', 'What is there', 'Imports', 'Imports only types of').map((cells) => {
  const [files = '', , values = '', types = ''] = cells;
  const names = codesIn(files);
  return { name: names[0] ?? '', names, values: codesIn(values), types: codesIn(types) };
});

/** Returns the layer of a file in src: the row that names it, its kind of file, or its folder. */
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
test('the table in docs/design.md lists every layer', () => {
  expect(layers.map(({ name }) => name).sort()).toEqual([...new Set(files.map((file) => layerOf(file)))].sort());
  const named = layers.flatMap(({ names }) => names.filter((name) => !name.includes('*')));
  expect(named.filter((name) => !existsSync(join('src', name)))).toEqual([]);
});

test.each(layers)('$name imports exactly the documented layers and packages', ({ name, values, types }) => {
  const own = imports.filter((found) => found.layer === name && found.to !== name);
  const targets = (isType: boolean) => [...new Set(own.filter((found) => found.isType === isType).map(({ to }) => to))];
  expect(targets(false).sort()).toEqual([...values].sort());
  expect(
    targets(true)
      .filter((to) => !values.includes(to))
      .sort(),
  ).toEqual([...types].sort());
});

test('no layer imports one below it in the table, except that tools/ imports page/', () => {
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

test('the service takes the time only in index.ts and chance only in core/random.ts', () => {
  const served = files.filter((name) => !/^(page|cli|tools)\//.test(name.replaceAll('\\', '/')));
  const taking = served.filter((name) =>
    /Date\.now|new Date\(\)|Math\.random|randomUUID|getRandomValues/.test(readFileSync(join('src', name), 'utf8')),
  );
  expect(taking.sort()).toEqual(['core/random.ts', 'index.ts']);
});
