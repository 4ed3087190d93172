// docs/examples/deploy.yml: its commands run, with the real wrangler, against a fake Cloudflare account.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { newOperatorKey } from '../../src/core/credential.ts';
import { readConfiguration } from '../../src/tools/configuration.ts';
import { ROOT } from '../cli/support.ts';
import { Account, MIGRATIONS } from './cloudflare.ts';
import { projectWith } from './dev.ts';

type Step = { uses?: string; run?: string; env?: Record<string, string> };
type Job = { needs?: string; if?: string; environment?: string; env?: Record<string, string>; steps: Step[] };
const workflow = parse(readFileSync(join(ROOT, 'docs/examples/deploy.yml'), 'utf8')) as { jobs: Record<string, Job> };
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const commandsOf = (job: string) => workflow.jobs[job]?.steps.flatMap(({ run }) => run ?? []) ?? [];

/** wrangler.toml with its block for staging in effect, and with an id for each database. */
function tomlWith(production: string, staging: string): string {
  const [own, commented = ''] = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8').split(/^(?=# \[\[env\.staging\.d1)/m);
  const withId = (toml: string | undefined, id: string) =>
    `${toml}`.replace(/^database_name = .*$/m, `$&\ndatabase_id = "${id}"`);
  return withId(own, production) + withId(commented.replaceAll(/^# ?/gm, ''), staging);
}

test('staging in wrangler.toml has the bindings of production, and shares no database and no count of a rate limit', () => {
  const file = join(projectWith('wrangler.toml', tomlWith('id-1', 'id-2')), 'wrangler.toml');
  const [production, staging] = [undefined, 'staging'].map(
    (env) => readConfiguration(file, env) as unknown as Bindings,
  );
  type Bindings = {
    databases: { binding: string }[];
    ratelimits: { namespace_id: string }[];
    version_metadata: object;
  };
  const named = (bindings: Bindings | undefined) => ({
    databases: bindings?.databases.map(({ binding }) => binding),
    ratelimits: bindings?.ratelimits.map(({ namespace_id: _, ...limit }) => JSON.stringify(limit)).sort(),
    version_metadata: bindings?.version_metadata,
  });
  expect(named(staging)).toEqual(named(production));
  const shared = [production, staging].flatMap(
    (bindings) => bindings?.ratelimits.map((limit) => limit.namespace_id) ?? [],
  );
  expect(new Set(shared).size).toBe(10);
});

test('the workflow checks everything, then deploys to staging and verifies it, then production', () => {
  const { jobs } = workflow;
  expect(Object.entries(jobs).map(([name, { needs, environment }]) => [name, needs, environment])).toEqual([
    ['check', undefined, undefined],
    ['staging', 'check', 'staging'],
    ['production', 'staging', 'production'],
  ]);
  expect(jobs.staging?.if).toBe("github.event_name == 'push'"); // production needs staging
  for (const name of Object.keys(jobs)) {
    expect(commandsOf(name)[0]).toBe('npm ci');
    for (const [, script = ''] of commandsOf(name)
      .join('\n')
      .matchAll(/npm run (?:-s )?([\w:]+)/g))
      expect(scripts).toHaveProperty(script);
  }
});

const LATER =
  'Nothing was changed. If Cloudflare has an incident (https://www.cloudflarestatus.com), run npm run deploy again after it.\n';
const UNAVAILABLE = {
  ends: `wrangler d1 execute DB failed. fetch failed\n${LATER}`,
  hangs: `wrangler d1 execute DB: no response within 60 seconds. ${LATER}`,
};

test('the commands of the workflow deploy to staging and to production, and verify only staging', {
  tags: 'slow',
  timeout: 300_000,
}, async () => {
  const account = new Account();
  const { url, close } = await account.serve();
  const [production, staging] = [account.create('production'), account.create('staging')];
  const cwd = projectWith('wrangler.toml', tomlWith(production, staging));
  cpSync(join(ROOT, 'docs'), join(cwd, 'docs'), { recursive: true });
  const asked: string[] = [];
  const service = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers.authorization ?? 'without a key'}`);
    response.writeHead(url === '/api/v1/health' ? 200 : 404).end('{}');
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const key = newOperatorKey();
  const environment = {
    ...{ CLOUDFLARE_API_TOKEN: 'token', CLOUDFLARE_ACCOUNT_ID: account.id, CLOUDFLARE_API_BASE_URL: url, CI: 'true' },
    ...{ URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`, OPERATOR_KEY: key },
  };
  async function run(command: string) {
    const child = spawn('bash', ['-c', command], { cwd, env: { ...process.env, ...environment } });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, stdout, stderr };
  }
  const [, deployStaging = '', verify = ''] = commandsOf('staging');
  for (const outage of ['ends', 'hangs'] as const) {
    account.outage = outage;
    expect(await run(deployStaging)).toMatchObject({ code: 1, stderr: UNAVAILABLE[outage] });
  }
  account.outage = null;
  expect(await run(deployStaging)).toMatchObject({ code: 0, stderr: '' });
  expect(account.applied(staging)).toEqual(MIGRATIONS);
  expect([...account.workers]).toEqual([['business-usage-access-staging', { DB: staging }]]);
  expect(await run(verify)).toEqual({
    code: 1,
    stdout: '',
    stderr: `${environment.URL} is not this service: it responded to GET /api/v1/business with 404.\n`,
  });
  const [, deployProduction = '', health = ''] = commandsOf('production');
  expect(await run(deployProduction)).toMatchObject({ code: 0, stderr: '' });
  expect(account.workers.get('business-usage-access')).toEqual({ DB: production });
  expect(await run(health)).toMatchObject({ code: 0, stdout: '{}' });
  expect(asked).toEqual([`GET /api/v1/business?limit=1 Bearer ${key}`, 'GET /api/v1/health without a key']);
  close();
  service.close();
});
