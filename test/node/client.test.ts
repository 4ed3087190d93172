// A client whose types are generated from openapi.json can be installed in an empty folder, it compiles, and its calls succeed. The
// client is docs/examples/client.ts.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { newFolder, served } from './state.ts';

const CLIENT = resolve(import.meta.dirname, '../client');
let url: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  const { ofClient, ...service } = await served();
  url = service.url;
  env = { ...process.env, API: `${url}/api/v1`, API_KEY: ofClient.key, SHOP: `${ofClient.businesses[0]?.id}` };
});
const run = (script: string, ...args: string[]) =>
  execFileSync(process.execPath, [resolve(CLIENT, script), ...args], {
    cwd: CLIENT,
    env,
    stdio: 'pipe',
    encoding: 'utf8',
  });

/** Returns the code blocks of the section "A typed client", in order. */
function printed(): string[] {
  const document = readFileSync(resolve(CLIENT, '../../docs/embedding.md'), 'utf8');
  const [, section = ''] = /^## A typed client\n(.*?)^## /ms.exec(document) ?? [];
  return Array.from(section.matchAll(/^```\w+\n(.*?)^```$/gms), ([, code = '']) => code);
}

test('the commands in docs/embedding.md work in an empty folder', { timeout: 180_000 }, () => {
  const [install = '', start = '', ...more] = printed();
  expect(more).toEqual([]);
  const folder = newFolder();
  const terminal = { ...env, npm_config_prefer_offline: 'true' }; // uses npm's cache
  const shell = (lines: string) =>
    execFileSync('bash', ['-ec', lines], { cwd: folder, env: terminal, stdio: 'pipe', encoding: 'utf8' });
  shell(install);
  copyFileSync(resolve(CLIENT, '../../docs/examples/client.ts'), join(folder, 'client.ts'));
  expect(shell(start)).toMatch(/^\d{4}-\d\d-\d\d: 1\n1 new, 1 known\n2 in the last 30 days\n$/);
});

test('types generated from openapi.json reject calls that the service does not offer', () => {
  run('node_modules/openapi-typescript/bin/cli.js', `${url}/api/v1/openapi.json`, '-o', 'usage.d.ts');
  run('../../node_modules/typescript/bin/tsc', '-p', '.');
});
