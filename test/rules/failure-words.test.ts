// What the console says after a failed change: whether it may have been made depends on how far the request got.
import { beforeAll, expect, test } from 'vitest';

type Failure = {
  status: number;
  message: string;
  seconds: number | null;
  code: string | null;
  errors: object;
  isUnsent: boolean;
};
let changeFailureWords: (failure: Failure) => string;
beforeAll(async () => {
  // A computed path hides the module from the compiler: it needs the DOM types, which the tests do not have.
  ({ changeFailureWords } = await import(['../../src/page/owner', 'words.ts'].join('/')));
});

const ANYWAY = ' The change may have been made anyway. Check “Changes”.';
const CHECK = 'Check your connection, then try again.';
const FAILED = 'The service failed to respond. Try again. If this keeps happening, contact the service operator.';
test.each<[state: string, failure: Pick<Failure, 'status'> & Partial<Failure>, words: string]>([
  [
    'was offline before it sent the request',
    { status: 0, message: 'You are offline.', isUnsent: true },
    `You are offline. ${CHECK}`,
  ],
  [
    'went offline before the response',
    { status: 0, message: 'You are offline.' },
    `You are offline. ${CHECK}${ANYWAY}`,
  ],
  [
    'timed out',
    { status: 0, message: 'The service did not respond.' },
    `The service did not respond. ${CHECK}${ANYWAY}`,
  ],
  [
    'got half a response',
    { status: 0, message: 'The response from the service was cut off.' },
    `The response from the service was cut off. ${CHECK}${ANYWAY}`,
  ],
  ['got 500', { status: 500, code: 'server_error' }, `${FAILED}${ANYWAY}`],
  ['got 502 from a server between', { status: 502 }, `${FAILED}${ANYWAY}`],
  ['got 503 from a server between', { status: 503 }, `${FAILED}${ANYWAY}`],
  ['got 504 from a server between', { status: 504 }, `${FAILED}${ANYWAY}`],
  ['got 524 from Cloudflare', { status: 524 }, `${FAILED}${ANYWAY}`],
  [
    'got 503',
    { status: 503, code: 'unavailable', seconds: 5 },
    'The service cannot reach its database right now. Try again in 5 seconds.',
  ],
  ['got 429', { status: 429, code: 'rate_limited', seconds: 1 }, 'Too many requests. Try again in 1 second.'],
  ['got 422', { status: 422, code: 'invalid_input', message: 'name is taken' }, 'Name is taken.'],
])('a change that %s', (_, failure, words) => {
  const all: Failure = { message: '', seconds: null, code: null, errors: {}, isUnsent: false, ...failure };
  expect(changeFailureWords(all)).toBe(words);
});
