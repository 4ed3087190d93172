// Validates lists of uses to record or lower.
import type * as z from 'zod/mini';
import type { FieldErrors } from '../core/conflict.ts';
import { digestOf } from '../core/credential.ts';
import type { ParsedJson } from '../core/json.ts';
import type { ListedUse } from '../core/limits.ts';
import { dayOfUse } from '../core/use.ts';
import type { LoweredUse } from '../db/lowering.ts';
import type { IdentifiedUse } from '../db/usage.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { invalidField, invalidInput, requireJson } from '../http/input.ts';
import { type loweringBody, usesBody } from '../wire/requests.ts';

const HEADER_RULE = 'must not be sent with a list of uses: each use has its own id';

/** Dedupes a list of uses by id, keeping each id's first occurrence. `listed` is the length of the whole list. */
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
    const { day, problem } = dayOfUse(at, now);
    if (problem !== undefined) errors[`uses.${index}.at`] = [`uses.${index}.at ${problem}`];
    else if (!first.has(id)) first.set(id, { index, day, quantity, isDated: at !== undefined });
  }
  if (Object.keys(errors).length > 0) throw await invalidInput(c, errors);
  const identified = Array.from(first, async ([id, use]) => ({ digest: await digestOf(credential.kind, id), ...use }));
  return { uses: await Promise.all(identified), listed: uses.length };
}

/** Returns the uses to be lowered. Throws if an id is repeated, because its quantity would be ambiguous. */
export async function loweredUses(
  c: ContextOf<Guarded>,
  { uses }: z.output<typeof loweringBody>,
): Promise<LoweredUse[]> {
  const errors: FieldErrors = {};
  const first = new Map<string, number>();
  for (const [index, { id }] of uses.entries()) {
    const before = first.get(id);
    if (before === undefined) first.set(id, index);
    else errors[`uses.${index}.id`] = [`uses.${index}.id must not repeat uses.${before}`];
  }
  if (Object.keys(errors).length > 0) throw await invalidInput(c, errors);
  const { kind } = c.get('call').credential;
  return Promise.all(uses.map(async ({ id, quantity }) => ({ digest: await digestOf(kind, id), quantity })));
}
