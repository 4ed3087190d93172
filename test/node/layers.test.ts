// docs/design.md, "Layers": the linter names an import of a layer that is not in the third column, and lets the others pass.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { newFolder } from './state.ts';

/** For each layer, imports that it must not have, and some of those that it has. */
const LAYERS: Record<string, { refused: string[]; allowed: string[] }> = {
  'src/core/x.ts': {
    refused: ['../db/schema.ts', '../env.ts', '../page/report.ts', 'zod/mini', 'hono', 'drizzle-orm', 'node:fs'],
    allowed: ['./time.ts'],
  },
  'src/db/x.ts': {
    refused: ['../http/log.ts', '../env.ts', '../wire/requests.ts', '../routes/usage.ts', '../cli/keys.ts', 'hono'],
    allowed: ['../core/time.ts', './schema.ts', 'drizzle-orm/d1'],
  },
  'src/wire/x.ts': {
    refused: ['../db/schema.ts', '../http/errors.ts', '../routes/usage.ts', 'hono', 'drizzle-orm'],
    allowed: ['../core/site.ts', 'zod/mini'],
  },
  'src/env.ts': {
    refused: ['./guard.ts', './http/log.ts', './routes/usage.ts', './app.ts'],
    allowed: ['./core/database.ts', './db/batch.ts', 'hono'],
  },
  'src/http/x.ts': {
    refused: ['../guard.ts', '../routes/usage.ts', '../app.ts', '../openapi/document.ts', '../cli/keys.ts', 'node:fs'],
    allowed: ['../core/time.ts', '../db/outage.ts', '../wire/requests.ts', '../env.ts', 'hono'],
  },
  'src/guard.ts': {
    refused: ['./routes/usage.ts', './app.ts', './openapi/document.ts', './cli/keys.ts', './tools/port.ts'],
    allowed: ['./core/policy.ts', './db/batch.ts', './http/body.ts', './wire/requests.ts', './env.ts'],
  },
  'src/routes/x.ts': {
    refused: ['../db/batch.ts', 'drizzle-orm/d1', '../app.ts', '../openapi/document.ts', '../cli/keys.ts', 'node:fs'],
    allowed: ['../guard.ts', '../db/usage.ts', '../http/errors.ts', '../wire/requests.ts', './business.ts'],
  },
  'src/alerts.ts': {
    refused: ['./http/log.ts', './guard.ts', './wire/requests.ts', './routes/usage.ts', './app.ts', 'hono', 'node:fs'],
    allowed: ['./core/webhook.ts', './db/messages.ts', './env.ts', 'drizzle-orm/d1'],
  },
  'src/app.ts': {
    refused: ['./cli/keys.ts', './tools/port.ts', './openapi/document.ts', './page/report.ts', 'node:fs', 'wrangler'],
    allowed: ['./routes/usage.ts', './http/log.ts'],
  },
  'src/openapi/x.ts': {
    refused: ['../routes/usage.ts', '../guard.ts', '../db/schema.ts', '../env.ts', '../tools/build.ts'],
    allowed: ['../wire/responses.ts', '../http/errors.ts', '../core/time.ts', 'zod-openapi'],
  },
  'src/cli/x.ts': {
    refused: ['../db/schema.ts', '../http/log.ts', '../routes/usage.ts', '../tools/port.ts', 'drizzle-orm', 'wrangler'],
    allowed: ['../core/time.ts', '../wire/requests.ts', 'zod/mini', 'node:fs'],
  },
  'src/tools/x.ts': {
    refused: ['../http/log.ts', '../guard.ts', '../routes/usage.ts', '../app.ts', '../cli/run.ts', 'hono'],
    allowed: ['../core/time.ts', '../db/schema.ts', '../openapi/document.ts', '../page/languages.ts'],
  },
  'src/page/owner/x.ts': {
    refused: ['../../db/schema.ts', '../../http/log.ts', '../../cli/keys.ts', '../../tools/port.ts', 'drizzle-orm'],
    allowed: ['../../core/time.ts', '../../wire/responses.ts', '../../app.ts', 'hono/client'],
  },
};

/** What the linter says of these files, as `file:line`, by rule. */
const found: Record<string, string[]> = { noRestrictedImports: [], noImportCycles: [] };
beforeAll(() => {
  const folder = newFolder();
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  copyFileSync('biome.json', join(folder, 'biome.json'));
  for (const [file, { refused, allowed }] of Object.entries(LAYERS)) {
    write(file, [...refused, ...allowed].map((from, index) => `import type a${index} from '${from}';`).join('\n'));
  }
  write('src/circle/a.ts', `import type { B } from './b.ts';\nexport type A = { b: B };\n`);
  write('src/circle/b.ts', `import type { A } from './a.ts';\nexport type B = { a: A };\n`);
  const biome = resolve('node_modules/.bin/biome');
  const options = ['--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none', '--colors=off'];
  const { stdout } = spawnSync(biome, ['lint', ...options, folder], { cwd: folder, encoding: 'utf8' });
  for (const [, rule = '', file = '', line] of stdout.matchAll(/title=lint\/\w+\/(\w+),file=([^,]+),line=(\d+)/g))
    found[rule]?.push(`${file.slice(file.indexOf('src/'))}:${line}`);
});

test.each(Object.entries(LAYERS))('%s may import some layers, and not others', (file, { refused }) => {
  const expected = refused.map((_, index) => `${file}:${index + 1}`);
  expect(found.noRestrictedImports?.filter((place) => place.startsWith(`${file}:`)).sort()).toEqual(expected);
});

test('no file imports itself by way of others, not even types', () => {
  const inCircle = found.noImportCycles?.filter((place) => place.startsWith('src/circle/'));
  expect(inCircle?.sort()).toEqual(['src/circle/a.ts:1', 'src/circle/b.ts:1']);
});
