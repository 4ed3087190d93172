// Which API keys the console shows as working, and what it says about their end.
import { expect, test } from 'vitest';
import { endWords, isWorking } from '../../src/page/owner/keys/key-words.ts';

type Key = Parameters<typeof isWorking>[0];

test.each([
  [null, null, true, 'Never'],
  [null, '2026-11-27', true, 'Nov 27, 2026'],
  [null, '2026-11-26', false, 'Expired after Nov 26, 2026'],
  ['2026-11-20T10:00:00.000000Z', '2026-11-26', false, 'Revoked Nov 20, 2026'],
])('a key that was revoked at %s and expires on %s works: %s', (revoked_at, expires_on, works, words) => {
  const key = { revoked_at, expires_on } as Key;
  expect([isWorking(key, '2026-11-27'), endWords(key, '2026-11-27')]).toEqual([works, words]);
});
