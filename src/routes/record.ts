// POST /api/v1/business/usage/{business_id}: records one use now, or reports many.
import { Hono, type MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import { digestOf } from '../core/credential.ts';
import { dayOf } from '../core/time.ts';
import { dayOfUse, idempotencyKeyOf, MAX_USES_PER_CALL, USE_ID } from '../core/use.ts';
import { countUse, countUses, type IdentifiedUse, rememberUse, rememberUses, useBefore } from '../db/usage.ts';
import type { Env, Known } from '../env.ts';
import { guard } from '../guard.ts';
import { wholeBody } from '../http/body.ts';
import { InvalidInput } from '../http/errors.ts';
import { input } from '../http/input.ts';
import { json } from '../http/response.ts';

export const ID_RULE = 'must be 1 to 255 characters of printable ASCII without spaces';
const QUOTED_RULE = 'must be one whole string, such as "order-1", where it starts with a quote; the text in it';
const useId = z.string(ID_RULE).check(z.regex(USE_ID, ID_RULE));
/** In quotes, and with each character escaped, an id has twice its length and two. */
const headerId = z.string(ID_RULE).check(z.regex(/^[\x21-\x7e]{1,512}$/, ID_RULE));
export const identifiedHeader = z.object({ 'Idempotency-Key': headerId });

const BODY_RULE = 'must be empty for one use, or a JSON object such as {"uses":[{"id":"order-1"}]}';
const USES_RULE = `must be a list of 1 to ${MAX_USES_PER_CALL} uses, such as [{"id":"order-1","at":"2026-01-31T12:00:00Z"}]`;
const AT_RULE = 'must be an instant such as 2026-01-31T12:00:00Z, within the last 35 days and at most 5 minutes ahead';
const use = z.object({ id: useId, at: z.optional(z.string(AT_RULE)) }, 'must be an object such as {"id":"order-1"}');
const list = z
  .array(z.unknown(), USES_RULE)
  .check(z.minLength(1, USES_RULE), z.maxLength(MAX_USES_PER_CALL, USES_RULE));
export const usesBody = z.pipe(
  z.looseObject({}, BODY_RULE).check(z.refine((body) => 'uses' in body, BODY_RULE)),
  z.object({ uses: z.pipe(list, z.array(use)) }),
);

function digest(id: string, { credential }: Known): Promise<string> {
  if (credential === null) throw new Error('a use without a credential');
  return digestOf(credential.kind, id);
}

/** The use as the ledger knows it. */
async function identifiedUse(headers: z.output<typeof identifiedHeader>, known: Known): Promise<IdentifiedUse> {
  const header = headers['Idempotency-Key'];
  const id = idempotencyKeyOf(header);
  if (id === null) {
    const rule = header.startsWith('"') ? `${QUOTED_RULE} ${ID_RULE}` : ID_RULE;
    throw new InvalidInput({ 'Idempotency-Key': [`Idempotency-Key ${rule}`] });
  }
  return { digest: await digest(id, known), day: dayOf(known.now) };
}

/** Each id once, on the day of its first entry. */
async function identifiedUses({ uses }: z.output<typeof usesBody>, known: Known) {
  const now = known.now;
  const errors: Record<string, string[]> = {};
  const days = new Map<string, string>();
  for (const [index, { id, at }] of uses.entries()) {
    const day = at === undefined ? dayOf(now) : dayOfUse(at, now);
    if (day === null) errors[`uses.${index}.at`] = [`uses.${index}.at ${AT_RULE}`];
    else if (!days.has(id)) days.set(id, day);
  }
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
  const identified: IdentifiedUse[] = await Promise.all(
    Array.from(days, async ([id, day]) => ({ digest: await digest(id, known), day })),
  );
  return { identified, reported: uses.length };
}

/** No two runs of spaces touch in it: where they did, a megabyte of spaces took minutes. */
const EMPTY = /^\s*(?:\{\s*\}\s*|\[\s*\]\s*)?$/;

/** Whether a body says nothing: then the call is one use, whatever its type. */
const isOneUse = ({ body }: Known) => EMPTY.test(body);

const identified = input('header', identifiedHeader, identifiedUse);
const bulk = input('json', usesBody, identifiedUses);
type Recording = {
  in: { header: Partial<z.input<typeof identifiedHeader>> };
  /** Neither, where it is one use without an id. */
  out: { header: IdentifiedUse | undefined; json: Awaited<ReturnType<typeof identifiedUses>> | undefined };
};
const recording: MiddlewareHandler<Env, string, Recording> = (c, next) => {
  const hasId = c.req.header('Idempotency-Key') !== undefined;
  if (c.env.known.call?.operation === 'record_use') return hasId ? identified(c as never, next) : next();
  if (hasId) {
    const message = 'Idempotency-Key must not come with a list of uses: each has its own id';
    throw new InvalidInput({ 'Idempotency-Key': [message] });
  }
  return bulk(c as never, next);
};

export const record = new Hono<Env>().post(
  '/:business_id',
  wholeBody,
  guard(
    (known) => (isOneUse(known) ? 'record_use' : 'report_uses'),
    recording,
    (scope, valid) => {
      const reported = valid('json');
      if (reported) {
        const { identified } = reported;
        return {
          counted: countUses(scope, identified),
          remembered: rememberUses(scope, identified),
        };
      }
      const use = valid('header');
      if (use === undefined) return { counted: countUse(scope) };
      return {
        grant: useBefore(scope, use.digest),
        counted: countUse(scope, use),
        remembered: rememberUse(scope, use),
      };
    },
  ),
  (c) => {
    const rows = c.get('rows');
    const reported = c.req.valid('json');
    if (reported) {
      const recorded = rows.remembered?.length ?? 0;
      return json(c.env.known, { status: true, data: { recorded, duplicates: reported.reported - recorded } });
    }
    const use = rows.counted[0] ?? rows.grant?.[0];
    if (use === undefined || !('date' in use) || use.date === null) throw new Error('a granted use was not counted');
    return json(c.env.known, { status: true, data: { date: use.date, count: use.count } });
  },
);
