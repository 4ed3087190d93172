// The Worker's entry points on a database without migrations, which `npx wrangler dev` alone does not apply.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import worker from '../src/index.ts';
import { BASE, databases, env, failingWith, homes, newBusiness } from './support.ts';

/** Sends one request. Returns the response and the lines written with console.error. */
async function served(path: string, as: string, bindings: object = databases(), method = 'GET') {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    const context = createExecutionContext();
    const request = new Request(BASE + path, { method, headers: { Authorization: `Bearer ${as}` } });
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
])('if %s, the log line shows how to apply the migrations and the response does not', async (_, breaks, mends) => {
  const { home, usage, token } = await newBusiness();
  const hint = `A table or a column is missing. If ${home.binding} had data, check first that it is the same database. Then apply the migrations: npx wrangler d1 migrations apply ${home.binding} --local for the local database, with --persist-to if wrangler dev has it; npm run deploy for the deployed one. If none is missing, this version is older than the tables.`;
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

test('if an insert names a missing column, the log line shows how to apply the migrations', async () => {
  const { home, usage, key } = await newBusiness();
  await home.d1.prepare('alter table alerts rename column attempts to elsewhere').run();
  const answers = await served(usage, key, databases(), 'POST');
  await home.d1.prepare('alter table alerts rename column elsewhere to attempts').run();
  const error = expect.stringContaining('has no column named attempts');
  expect(answers.errors).toMatchObject([{ error, hint: expect.stringContaining('A table or a column is missing.') }]);
});

test('if a table is missing, the health check logs how to apply the migrations, and other log lines do not mention them', async () => {
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

test('if a local database is locked, the log line reports the lock', async () => {
  const { home, usage, token } = await newBusiness();
  const { errors } = await served(usage, token, failingWith('D1_ERROR: database is locked: SQLITE_BUSY'));
  expect(errors).toMatchObject([{ hint: `If ${home.binding} is a local database, another process has locked it.` }]);
});
