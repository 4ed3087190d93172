// The Worker as the platform calls it, where the migrations were not applied: `npx wrangler dev` alone does not apply them.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import worker from '../src/index.ts';
import { BASE, databases, env, failingWith, homes, newBusiness } from './support.ts';

/** One request, and what it writes to the console. */
async function served(path: string, token: string, bindings: object = databases()) {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    const context = createExecutionContext();
    const request = new Request(BASE + path, { headers: { Authorization: `Bearer ${token}` } });
    const answer = await worker.fetch(request, { ...env, ...bindings }, context);
    await waitOnExecutionContext(context);
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      headers: [...answer.headers].join(),
      errors: errors.mock.calls.map(([line]) => JSON.parse(line)),
    };
  } finally {
    errors.mockRestore();
  }
}

test.each([
  ['a table is missing', 'alter table businesses rename to elsewhere', 'alter table elsewhere rename to businesses'],
  [
    'a column is missing',
    'alter table businesses rename column status to elsewhere',
    'alter table businesses rename column elsewhere to status',
  ],
])('where %s, the line in the log says how to apply the migrations, and no response does', async (_, breaks, mends) => {
  const { home, usage, token } = await newBusiness();
  const hint = `A table or a column is missing. Apply the migrations: npx wrangler d1 migrations apply ${home.binding} --local for the local database, with --persist-to if wrangler dev has it; npm run deploy for the deployed one.`;
  await home.d1.prepare(breaks).run();
  try {
    const { errors, headers, ...answer } = await served(usage, token);
    expect(answer).toEqual({ status: 500, text: '{"message":"Server Error"}' });
    expect(errors).toMatchObject([{ status: 500, error: expect.stringContaining('no such'), hint }]);
    expect(headers).not.toMatch(/migrations|no such/);
  } finally {
    await home.d1.prepare(mends).run();
  }
  expect(await served(usage, token)).toMatchObject({ status: 200, errors: [] });
});

test('health says so, too, and other failures say nothing of migrations', async () => {
  const [{ d1 }] = homes;
  await d1.prepare('alter table businesses rename to elsewhere').run();
  const missing = await served('/api/v1/health', '');
  await d1.prepare('alter table elsewhere rename to businesses').run();
  expect(missing).toMatchObject({ status: 503, text: '{"message":"Service Unavailable"}' });
  expect(missing.errors).toMatchObject([{ status: 503, hint: expect.stringContaining(' apply DB --local') }]);
  const { usage, token } = await newBusiness();
  const { status, errors } = await served(usage, token, failingWith('D1_ERROR: disk I/O error'));
  expect({ status, errors }).toMatchObject({ status: 500, errors: [{ status: 500 }] });
  expect(errors[0]).not.toHaveProperty('hint');
});

test('where a local database is locked, the line in the log says so', async () => {
  const { home, usage, token } = await newBusiness();
  const { errors } = await served(usage, token, failingWith('D1_ERROR: database is locked: SQLITE_BUSY'));
  expect(errors).toMatchObject([{ hint: `If ${home.binding} is a local database, another process has locked it.` }]);
});
