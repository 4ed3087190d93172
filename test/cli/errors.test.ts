import { expect, test } from 'vitest';
import { reasonOf, UsageError } from '../../src/cli/errors.ts';

test.each<[string, unknown, string]>([
  ['its message', new UsageError('key list needs --user 7'), 'key list needs --user 7'],
  ['the first line of several', new Error('Command failed\n    at main.ts:1:1\n\nmore'), 'Command failed'],
  [
    'the innermost cause, which has no parameters',
    new Error('Failed query: select ?\nparams: secret', {
      cause: new Error('D1_ERROR: database is locked', { cause: new Error('database is locked: SQLITE_BUSY') }),
    }),
    'database is locked: SQLITE_BUSY',
  ],
  ['its own message where the cause has none', new Error('fetch failed', { cause: null }), 'fetch failed'],
  ['its own message where the cause is no error', new Error('no session', { cause: { error: 401 } }), 'no session'],
  ['its name where it has no message', new AggregateError([new Error('x')]), 'AggregateError'],
  ['what was thrown where that is no error', 'ECONNREFUSED\nx', 'ECONNREFUSED'],
  ['undefined, if need be', undefined, 'undefined'],
])('the reason of an error is %s', (_, error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});
