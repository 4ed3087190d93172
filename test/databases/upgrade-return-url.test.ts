// Upgrades a deployment without return URLs but with open console links, while the previous version creates more links.
import { applyD1Migrations, createExecutionContext } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { sha256Hex } from '../../src/core/credential.ts';
import type { Bindings } from '../../src/env.ts';
import { BASE, databaseClock, env, NOW } from '../support.ts';

const D1 = env.ONE;
const CODES = ['A', 'B'].map((letter) => `0${letter.repeat(33)}`);

async function insertCode(code = ''): Promise<void> {
  const columns = 'hash, user_id, business_id, read_only, minutes, expires_at';
  const expires_at = '2026-03-15T12:02:00.000000Z';
  const insert = D1.prepare(`insert into codes (${columns}) values (?, 7, null, 1, 15, ?)`);
  await insert.bind(await sha256Hex(code), expires_at).run();
}

test('a console link that the previous version created before or during the upgrade starts a session', async () => {
  const first = env.MIGRATIONS.findIndex(({ name }) => name === '0018_return_url.sql');
  await applyD1Migrations(D1, env.MIGRATIONS.slice(0, first));
  await insertCode(CODES[0]);
  await applyD1Migrations(D1, env.MIGRATIONS);
  await insertCode(CODES[1]);
  const app = createApp(() => NOW, { log: () => {}, error: console.error }, databaseClock);
  for (const code of CODES) {
    const request = new Request(`${BASE}/api/v1/session`, { method: 'POST', body: JSON.stringify({ code }) });
    const answer = await app.fetch(request, { DB: D1 } as unknown as Bindings, createExecutionContext());
    const { data } = await answer.json<{ data: object }>();
    expect(data).toEqual({
      session_key: expect.stringMatching(/^bua_sk_0/),
      expires_at: '2026-03-15T12:15:00.000000Z',
      read_only: true,
      return_url: null,
    });
  }
  expect(await D1.prepare('select count(*) as left from codes').first('left')).toBe(0);
});
