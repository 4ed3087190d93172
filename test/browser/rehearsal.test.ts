// The console in a run of npm run dev -- --now, in a browser with the machine's own clock.
import { expect, test } from 'vitest';
import { freePort } from '../node/server.ts';
import { exportedIn, projectWith, stoppedOnceReady } from '../tools/dev.ts';
import { eventually, visitsOfFile } from './chromium.ts';

const { newPage } = visitsOfFile(/^Failed to load resource/);

test('the console has the clock of a rehearsed month-end: its days, its session and what is planned for the next month', {
  timeout: 180_000,
}, async () => {
  const cwd = projectWith('.dev.vars', '');
  async function inspect(output: string) {
    const { API, OPERATOR_KEY, SHOP } = exportedIn(output);
    const [link = ''] = /^http:\/\/127\.0\.0\.1:\d+$/m.exec(output) ?? [];
    const change = await fetch(`${API}/business/${SHOP}`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${OPERATOR_KEY}` },
      body: JSON.stringify({ monthly_limit: 5000, limits_from: 'next_month' }),
    });
    expect(change.status).toBe(200);

    const page = await newPage({});
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign out' }).waitFor(); // a session that ends in 2030 has not ended
    await page.evaluate(`location.hash = '#/${SHOP}'`);
    await page.getByRole('combobox').first().selectOption('Custom range');
    await eventually(() => page.getByLabel('To', { exact: true }).inputValue()).toBe('2030-11-30');
    await eventually(() => page.locator('body').innerText()).toContain('From Dec 1, 2030: monthly limit 5,000.');
  }
  await stoppedOnceReady({ cwd, inspect }, '--port', `${await freePort()}`, '--now', '2030-11-30T23:30:00Z');
});
