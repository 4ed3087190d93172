// A client with types generated from openapi.json compiles, and its calls succeed (test/client, as docs/embedding.md shows it).
// @module-tag slow
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import type {} from './served.ts'; // what `inject` can give

const { url, ofClient } = inject('served');
const CLIENT = resolve(import.meta.dirname, '../client');
const run = (script: string, ...args: string[]) =>
  execFileSync(process.execPath, [resolve(CLIENT, script), ...args], {
    cwd: CLIENT,
    env: { ...process.env, USAGE_URL: url, API_KEY: ofClient.key, BUSINESS: `${ofClient.businesses[0]?.id}` },
    stdio: 'pipe',
    encoding: 'utf8',
  });

beforeAll(() => {
  run('node_modules/openapi-typescript/bin/cli.js', `${url}/api/v1/openapi.json`, '-o', 'usage.d.ts');
});

test('is the one in docs/embedding.md', () => {
  const document = readFileSync(resolve(CLIENT, '../../docs/embedding.md'), 'utf8');
  expect(document).toContain(`\`\`\`ts\n${readFileSync(join(CLIENT, 'index.ts'), 'utf8')}\`\`\``);
});

test('compiles, and does not compile where it asks for what there is not', () => {
  run('../../node_modules/typescript/bin/tsc', '-p', '.');
});

test('reads the report and registers a domain', () => {
  expect(run('index.ts')).toBe("Acme [ 'https://shop.example' ]\n2026-03-01 0\n2026-03-02 5\n2026-03-03 0\n");
});

test('tells one use from a list by the fields of the response, rotates the token and reads pages', () => {
  const [first, second, ...rest] = run('uses.ts').split('\n');
  expect(first).toMatch(/^number \d+ on \d{4}-\d\d-\d\d$/);
  expect(second).toMatch(/^number \d+ on \d{4}-\d\d-\d\d$/);
  expect(rest).toEqual([
    '1 new, 1 known',
    expect.stringMatching(/^Acme: \d+ uses today, any number left, new token$/),
    expect.stringMatching(/^\d+ rotate_token string$/),
    '',
  ]);
});
