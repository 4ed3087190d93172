// What a POST to usage records, according to its body and its Idempotency-Key. Read in two steps: the kind before the guard, which
// needs it to know the operation, and the uses after it.
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import * as z from 'zod/mini';
import { digestOf } from '../core/credential.ts';
import type { Operation } from '../core/policy.ts';
import { dayOf } from '../core/time.ts';
import { dayOfUse, idempotencyKeyOf, MAX_USES_PER_CALL, USE_ID } from '../core/use.ts';
import type { IdentifiedUse } from '../db/usage.ts';
import type { Env } from '../env.ts';
import { invalidField, invalidInput, readJson } from '../http/input.ts';

/** One use, now; one use with an id, which counts once; or a list of uses with ids. */
export type Recording = { kind: 'one' } | { kind: 'identified'; header: string } | { kind: 'many' };

/** No two runs of spaces are adjacent in it; otherwise a megabyte of spaces would take minutes. */
const EMPTY = /^\s*(?:\{\s*\}\s*|\[\s*\]\s*)?$/;

/** Sets `recording`. An empty body is one use, whatever its content type. */
export const recording = createMiddleware<Env>(async function recording(c, next) {
  const header = c.req.header('Idempotency-Key');
  if (!EMPTY.test(c.get('body'))) c.set('recording', { kind: 'many' });
  else c.set('recording', header === undefined ? { kind: 'one' } : { kind: 'identified', header });
  await next();
});

/** For the guard, which runs before the uses are read. */
export const operationOf = (c: Context<Env>): Operation =>
  c.get('recording').kind === 'many' ? 'record_uses' : 'record_use';

export const ID_RULE = 'must be 1 to 255 characters of printable ASCII without spaces';
const QUOTED_RULE = 'must be one quoted string, such as "order-1", if it starts with a quote; the text inside';
const useId = z.string(ID_RULE).check(z.regex(USE_ID, ID_RULE));
/** Only for the OpenAPI description. Quoting an id and escaping each character doubles its length and adds two. */
export const identifiedHeader = z.object({
  'Idempotency-Key': z.string().check(z.regex(/^[\x21-\x7e]{1,512}$/)),
});

const BODY_RULE = 'must be empty for one use, or a JSON object such as {"uses":[{"id":"order-1"}]}';
const USES_RULE = `must be a list of 1 to ${MAX_USES_PER_CALL} uses, such as [{"id":"order-1","at":"2026-01-31T12:00:00Z"}]`;
const AT_RULE = 'must be an instant such as 2026-01-31T12:00:00Z, within the last 35 days and at most 5 minutes ahead';
const HEADER_RULE = 'must not come with a list of uses: each has its own id';
const use = z.object({ id: useId, at: z.optional(z.string(AT_RULE)) }, 'must be an object such as {"id":"order-1"}');
// The length is checked first: a million wrong entries are one error, not a million.
const list = z
  .array(z.unknown(), USES_RULE)
  .check(z.minLength(1, USES_RULE), z.maxLength(MAX_USES_PER_CALL, USES_RULE));
export const usesBody = z.pipe(
  z.looseObject({}, BODY_RULE).check(z.refine((body) => 'uses' in body, BODY_RULE)),
  z.object({ uses: z.pipe(list, z.array(use)) }),
);

/** The digest of the id in an Idempotency-Key. */
export async function digestOfHeader(c: Context<Env>, header: string): Promise<string> {
  const id = idempotencyKeyOf(header);
  if (id === null) {
    throw await invalidField(c, 'Idempotency-Key', header.startsWith('"') ? `${QUOTED_RULE} ${ID_RULE}` : ID_RULE);
  }
  return digestOf(c.get('call').credential.kind, id);
}

/** The uses in a list, each id once, on the day where it comes first; and how many are listed. */
export async function identifiedUses(c: Context<Env>): Promise<{ uses: IdentifiedUse[]; listed: number }> {
  if (c.req.header('Idempotency-Key') !== undefined) throw await invalidField(c, 'Idempotency-Key', HEADER_RULE);
  const { uses } = await readJson(c, usesBody);
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
