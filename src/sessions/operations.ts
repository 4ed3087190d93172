// Console sessions, and the links that open them.
import * as z from 'zod/mini';
import { CODE } from '../core/credential.ts';
import { FULL_OPERATOR, LINK_ROLES, READERS } from '../core/policy.ts';
import { CONTROL, described, HTTP, lineOf, positiveInteger, strict, wholeNumber } from '../input.ts';
import { define } from '../operation.ts';
import { isReturnUrl, MAX_LINK_MINUTES, MAX_RETURN_URL_LENGTH, RETURN_URL_RULE, wideLinkErrors } from './rules.ts';

/** For the person whom the link names in the list of changes. */
const MAX_ACTOR_NAME_LENGTH = 64;
const LINK_ROLE_RULE = `must be ${LINK_ROLES.join(' or ')}`;
const returnUrl = described(z.string(RETURN_URL_RULE).check(z.refine(isReturnUrl, RETURN_URL_RULE)), {
  maxLength: MAX_RETURN_URL_LENGTH,
  pattern: `^${HTTP}://[^\\s/?#@\\\\]+(?:[/?#\\\\][^\\s${CONTROL}]*)?$`,
});

export const consoleLinkBody = strict(
  {
    business_id: z.optional(positiveInteger),
    role: z.optional(z.enum(LINK_ROLES, LINK_ROLE_RULE)),
    minutes: z.optional(wholeNumber(1, MAX_LINK_MINUTES)),
    return_url: z.optional(z.nullable(returnUrl)),
    as: z.optional(lineOf(MAX_ACTOR_NAME_LENGTH)),
    can_create_keys: z.optional(z.boolean('must be true or false')),
  },
  'must be empty, or a JSON object such as {"role":"read","minutes":15}',
);

const CODE_RULE = 'must be a JSON object with the code of a console link, such as {"code":"…"}';
export const codeBody = strict({ code: z.string(CODE_RULE).check(z.regex(CODE, CODE_RULE)) }, CODE_RULE);

export const operations = define({
  createConsoleLink: {
    ...FULL_OPERATOR,
    route: 'POST /user/:user_id/console-link',
    name: 'create_console_link',
    does: 'create console links',
    retry: 'never',
    body: z.optional(consoleLinkBody),
    check: wideLinkErrors,
  },
  // A session may not start another. Otherwise, a copied session key could start a session that outlives it.
  startSession: {
    ...READERS,
    operators: [],
    whileInactive: true,
    route: 'POST /session',
    name: 'start_session',
    does: 'start sessions',
    session: 'none',
    retry: 'never',
    code: codeBody,
  },
  endSession: {
    ...READERS,
    operators: [],
    whileInactive: true,
    retry: 'always',
    route: 'DELETE /session',
    name: 'end_session',
    does: 'end sessions',
    session: 'only',
  },
});
