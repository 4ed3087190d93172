// Descriptions of the operations on tokens.

import { SHOP } from '../description/examples.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { unknown, unknownParameter } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { NO_QUERY } from '../input.ts';
import { business, businessDetails, businessWith, detailsOf } from '../shown-business/description.ts';
import { MAX_FORMER_TOKENS } from '../shown-business/rules.ts';
import type { operations } from './operations.ts';

export const descriptions: DescriptionsOf<typeof operations> = {
  rotateToken: {
    tag: 'access',
    summary: 'Replace the business token',
    command: {
      usage: 'business rotate-token ID',
      note: 'Without --keep-old, all old tokens stop working immediately.',
    },
    description: `Issues a new token for the business. Without a body, the old token and all earlier ones stop working immediately. With
\`keep_old\`, the old token keeps working for that long, so you have time to update all pages. A business can have at most ${MAX_FORMER_TOKENS} former tokens.`,
    body: {
      description: 'If empty, the old token stops working immediately.',
      component: ['Rotation', 'How long the old token keeps working.'],
      examples: { keep_old: { keep_old: '24h' } },
    },
    success: ok('The business with its new token.', business, { keep_old: businessWith() }),
    invalid: { invalid_body: { keep: '24h' } },
    refusals: { ...unknownParameter(NO_QUERY, 'keep_old') },
  },
  stopFormerTokens: {
    tag: 'access',
    summary: 'Stop former tokens',
    command: { usage: 'business stop-former-tokens ID' },
    description: 'Stops all former tokens immediately. The current token keeps working.',
    success: ok('The business without former tokens.', businessDetails, { business: detailsOf(SHOP) }),
  },
  stopFormerToken: {
    tag: 'access',
    summary: 'Stop a former token',
    command: { usage: 'business stop-former-token ID FORMER_ID' },
    description: 'Stops one former token immediately. The current token and the other former ones keep working.',
    success: ok('The business with the other former tokens.', businessDetails, { business: detailsOf(SHOP) }),
    refusals: { unknown_former: unknown('Former id', 'the business has no former token `former_id` that works') },
  },
};
