// Why the service refused to create a key, in the console's words.
import { EXCESS_RULES, MAX_KEYS } from '../../../keys/rules.ts';
import { Failure } from '../api.ts';
import { failureOf } from '../query.ts';

/** By field, and by the service's error. */
const WORDS: Record<string, string> = {
  [`keys ${EXCESS_RULES.working}`]: `${MAX_KEYS} keys that you created still work, which is the maximum. Revoke one first.`,
  [`keys ${EXCESS_RULES.today}`]: `You created ${MAX_KEYS} keys today, which is the maximum. The next day begins at midnight UTC.`,
  business_id: 'This business is no longer yours. Choose another one.',
  expires_on: 'A new day has begun in UTC. Choose the last day again.',
  name: 'The name must not contain control characters.',
};

export function refusedCreation(error: unknown): Failure {
  const failure = failureOf(error);
  const [field = '', errors] = Object.entries(failure.errors)[0] ?? [];
  const words = WORDS[errors?.[0] ?? ''] ?? WORDS[field];
  return words === undefined ? failure : new Failure(failure.status, words);
}
