// Checks lists of uses to record or lower, and prepares them for the database.
import type * as z from 'zod/mini';
import type { FieldErrors } from '../core/conflict.ts';
import { digestOf } from '../core/credential.ts';
import type { ListedUse } from '../core/limits.ts';
import { dayOf } from '../core/time.ts';
import { dayOfUse, timeProblem } from '../core/use.ts';
import type { LoweredUse } from '../db/lowering.ts';
import type { IdentifiedUse } from '../db/usage.ts';
import type { ContextOf, Guarded } from '../env.ts';
import type { loweringBody, usesBody } from '../wire/requests.ts';

/** Returns the errors of uses that cannot be recorded now. */
export function usesErrors(
  { uses = [] }: { uses?: ({ at?: string | undefined } | undefined)[] | undefined },
  now: Date,
) {
  const errors: FieldErrors = {};
  for (const [index, use] of uses.entries()) {
    const problem = use?.at === undefined ? null : timeProblem(use.at, now);
    if (problem !== null) errors[`uses.${index}.at`] = [`uses.${index}.at ${problem}`];
  }
  return errors;
}

/** Dedupes a list of uses by id, keeping each id's first occurrence. */
export async function identifiedUses(
  c: ContextOf<Guarded>,
  { uses }: z.output<typeof usesBody>,
): Promise<(IdentifiedUse & ListedUse & { index: number })[]> {
  const { credential, now } = c.get('call');
  const first = new Map<string, ListedUse & { index: number }>();
  for (const [index, { id, at, quantity = 1 }] of uses.entries()) {
    const day = at === undefined ? dayOf(now) : dayOfUse(at);
    if (!first.has(id)) first.set(id, { index, day, quantity, isDated: at !== undefined });
  }
  return Promise.all(Array.from(first, async ([id, use]) => ({ digest: await digestOf(credential.kind, id), ...use })));
}

/** Returns the errors of repeated ids, whose quantity would be ambiguous. */
export function loweringErrors({ uses = [] }: { uses?: ({ id?: string | undefined } | undefined)[] | undefined }) {
  const errors: FieldErrors = {};
  const first = new Map<string, number>();
  for (const [index, use] of uses.entries()) {
    if (use?.id === undefined) continue;
    const before = first.get(use.id);
    if (before === undefined) first.set(use.id, index);
    else errors[`uses.${index}.id`] = [`uses.${index}.id must not repeat uses.${before}`];
  }
  return errors;
}

export async function loweredUses(
  c: ContextOf<Guarded>,
  { uses }: z.output<typeof loweringBody>,
): Promise<LoweredUse[]> {
  const { kind } = c.get('call').credential;
  return Promise.all(uses.map(async ({ id, quantity }) => ({ digest: await digestOf(kind, id), quantity })));
}
