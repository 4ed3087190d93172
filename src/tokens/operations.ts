// The token of a business, and former tokens that still work.
import * as z from 'zod/mini';
import { CHANGERS } from '../core/policy.ts';
import { strict } from '../input.ts';
import { define } from '../operation.ts';
import { DURATION } from './rules.ts';

const KEEP_RULE = 'must be a whole number of hours or days, from 1h to 30d, such as 24h';
const ROTATION_RULE = 'must be empty, or a JSON object with keep_old only, such as {"keep_old":"24h"}';
const rotationBody = strict(
  { keep_old: z.optional(z.string(KEEP_RULE).check(z.regex(DURATION, KEEP_RULE))) },
  ROTATION_RULE,
);

const STOP = {
  ...CHANGERS,
  whileInactive: true,
  retry: 'always',
  name: 'stop_former_tokens',
  does: 'stop former tokens',
} as const;

export const operations = define({
  rotateToken: {
    ...CHANGERS,
    whileInactive: true,
    route: 'POST /business/:business_id/token',
    name: 'rotate_token',
    does: 'rotate tokens',
    retry: 'never',
    body: z.optional(rotationBody),
  },
  stopFormerTokens: { ...STOP, route: 'DELETE /business/:business_id/token/former' },
  stopFormerToken: { ...STOP, route: 'DELETE /business/:business_id/token/former/:former_id' },
});
