// What a POST to usage records: the ids and days of its uses. The guard has already decided which kind it is.
import { digestOf } from '../core/credential.ts';
import { dayOf } from '../core/time.ts';
import { dayOfUse } from '../core/use.ts';
import type { IdentifiedUse } from '../db/usage.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { invalidField, invalidInput, readJson } from '../http/input.ts';
import { AT_RULE, usesBody } from '../wire/requests.ts';

const HEADER_RULE = 'must not come with a list of uses: each has its own id';

/** The uses in a list, each id once, on the day where it comes first; and how many are listed. */
export async function identifiedUses(
  c: ContextOf<Guarded>,
  text: string,
): Promise<{ uses: IdentifiedUse[]; listed: number }> {
  if (c.req.header('Idempotency-Key') !== undefined) throw await invalidField(c, 'Idempotency-Key', HEADER_RULE);
  const { uses } = await readJson(c, text, usesBody);
  const { credential, now } = c.get('call');
  const errors: Record<string, string[]> = {};
  const days = new Map<string, string>();
  for (const [index, { id, at }] of uses.entries()) {
    const day = at === undefined ? dayOf(now) : dayOfUse(at, now);
    if (day === null) errors[`uses.${index}.at`] = [`uses.${index}.at ${AT_RULE}`];
    else if (!days.has(id)) days.set(id, day);
  }
  if (Object.keys(errors).length > 0) throw await invalidInput(c, errors);
  const identified = Array.from(days, async ([id, day]) => ({ digest: await digestOf(credential.kind, id), day }));
  return { uses: await Promise.all(identified), listed: uses.length };
}
