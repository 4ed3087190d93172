// What a POST to usage records. The guard has already decided which operation it is.
import type { FieldErrors } from '../core/conflict.ts';
import { digestOf } from '../core/credential.ts';
import type { ParsedJson } from '../core/json.ts';
import type { ListedUse } from '../core/limits.ts';
import { dayOf } from '../core/time.ts';
import { dayOfUse } from '../core/use.ts';
import type { IdentifiedUse } from '../db/usage.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { invalidField, invalidInput, requireJson } from '../http/input.ts';
import { AT_RULE, usesBody } from '../wire/requests.ts';

const HEADER_RULE = 'must not come with a list of uses: each has its own id';

/** The uses in a list, each id once, with its index, day and quantity where it comes first; and how many are listed. */
export async function identifiedUses(
  c: ContextOf<Guarded>,
  json: ParsedJson,
): Promise<{ uses: (IdentifiedUse & ListedUse & { index: number })[]; listed: number }> {
  if (c.req.header('Idempotency-Key') !== undefined) throw await invalidField(c, 'Idempotency-Key', HEADER_RULE);
  const { uses } = await requireJson(c, json, usesBody);
  const { credential, now } = c.get('call');
  const errors: FieldErrors = {};
  const first = new Map<string, ListedUse & { index: number }>();
  for (const [index, { id, at, quantity = 1 }] of uses.entries()) {
    const day = at === undefined ? dayOf(now) : dayOfUse(at, now);
    if (day === null) errors[`uses.${index}.at`] = [`uses.${index}.at ${AT_RULE}`];
    else if (!first.has(id)) first.set(id, { index, day, quantity, isDated: at !== undefined });
  }
  if (Object.keys(errors).length > 0) throw await invalidInput(c, errors);
  const identified = Array.from(first, async ([id, use]) => ({ digest: await digestOf(credential.kind, id), ...use }));
  return { uses: await Promise.all(identified), listed: uses.length };
}
