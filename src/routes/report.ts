// GET /api/v1/business/usage/{business_id}: the usage report.
import { Hono } from 'hono';
import * as z from 'zod/mini';
import { dayOf, daysIn, fillRange, isDay, MAX_RANGE_DAYS, type Range, rangeOf } from '../core/time.ts';
import { usageInRange } from '../db/usage.ts';
import type { Env, Known } from '../env.ts';
import { guard } from '../guard.ts';
import { InvalidInput } from '../http/errors.ts';
import { input } from '../http/input.ts';
import { json } from '../http/response.ts';

export const DAY_RULE = 'must be a day from 1970-01-01 to 9999-12-31, written YYYY-MM-DD';
const day = z.optional(z.string(`${DAY_RULE}, and given once`).check(z.refine(isDay, DAY_RULE)));
export const rangeQuery = z.object({ from: day, to: day });

function resolveRange(asked: z.output<typeof rangeQuery>, known: Known): Range {
  const range = rangeOf(asked, dayOf(known.now));
  const ends = `to (${range.to}${asked.to === undefined ? ', today' : ''})`;
  if (range.from > range.to) throw new InvalidInput({ from: [`from must not be after ${ends}`] });
  if (daysIn(range) > MAX_RANGE_DAYS) {
    throw new InvalidInput({ from: [`from must be at most ${MAX_RANGE_DAYS - 1} days before ${ends}`] });
  }
  return range;
}

export const report = new Hono<Env>().get(
  '/:business_id',
  guard('read_usage', input('query', rangeQuery, resolveRange), (scope, valid) => ({
    grant: usageInRange(scope, valid('query')),
  })),
  (c) => {
    const [usage] = c.get('rows').grant;
    if (usage === undefined) throw new Error('a granted report has no row');
    const counts: Record<string, number> = JSON.parse(usage.days);
    return json(c.env.known, { status: true, data: { used: fillRange(c.req.valid('query'), counts) } });
  },
);
