// Validates the fields of businesses and keys (docs/api.md, "Create a business") and the service's name. Each rule completes an error
// message that starts with the field's name.

export const MAX_LINE_LENGTH = 255;
/**
 * Direction overrides (UAX #9) can make one name look like another. Direction marks, such as U+200F, are allowed because Hebrew and Arabic
 * text uses them.
 */
const MISLEADING = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
/** U+2800, the blank Braille pattern, counts as a symbol but is invisible. */
const VISIBLE = /[^\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

const lineRule = (maxLength: number): string =>
  `must be one line of 1 to ${maxLength} characters with visible text, and without control characters or direction overrides`;
export const LINE_RULE = lineRule(MAX_LINE_LENGTH);
export const isLine = (text: string, maxLength = MAX_LINE_LENGTH): boolean =>
  text.length <= maxLength && VISIBLE.test(text) && !MISLEADING.test(text);

const MAX_SERVICE_NAME_LENGTH = 60;
export const SERVICE_NAME_RULE = lineRule(MAX_SERVICE_NAME_LENGTH);
/** Accepts any type, because variables in wrangler.toml can be any JSON value. */
export const isServiceName = (name: unknown): boolean =>
  typeof name === 'string' && isLine(name, MAX_SERVICE_NAME_LENGTH);

/** For the person whom a console link names in the list of changes. */
export const MAX_ACTOR_NAME_LENGTH = 64;
export const ACTOR_NAME_RULE = lineRule(MAX_ACTOR_NAME_LENGTH);

export const MAX_URL_LENGTH = 2048;
export const URL_RULE = `must be an http or https URL of at most ${MAX_URL_LENGTH} characters`;
export const isUrl = (text: string): boolean =>
  text.length <= MAX_URL_LENGTH &&
  !MISLEADING.test(text) &&
  /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) &&
  URL.canParse(text);

export const STATUSES = ['active', 'suspended', 'closed'] as const;
export const STATUS_RULE = 'must be active, suspended or closed';

export const MAX_BILLING_DAY = 28;
export const BILLING_DAY_RULE = `must be a day of the month from 1 to ${MAX_BILLING_DAY}`;

/** Per business. Each threshold is at most MAX_PERCENT. */
export const MAX_THRESHOLDS = 5;
export const MAX_PERCENT = 1000;
export const PERCENT_RULE = `must be a whole percentage from 1 to ${MAX_PERCENT}, such as 80`;
export const ALERT_AT_RULE = `must be a list of 1 to ${MAX_THRESHOLDS} percentages in ascending order, such as [50,80,100]`;
export const isAscending = (list: number[]): boolean => list.every((value, index) => value > (list[index - 1] ?? 0));

/** The highest limit. The lowest is 0. */
export const MAX_LIMIT = 1e12;

export const TOKEN_RULE =
  'must be 24 to 255 characters from A-Z a-z 0-9 . _ ~ + / = - and must not start with bua_ in upper or lower case';
