// What the operator may write into the fields of a business or a key (docs/api.md, "Create a business"), and what the service may be
// called: the rules, and each in words.

/** The longest text of a field, in characters. */
const MAX_LENGTH = 255;
/** With a direction of its own (UAX #9), one name looks like another. Marks, such as U+200F, are allowed: Hebrew and Arabic use them. */
const MISLEADING = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
/** The Braille pattern without dots is a symbol, and shows nothing. */
const VISIBLE = /[^\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

const lineRule = (maxLength: number): string =>
  `must have no control characters or overrides of direction, and be a line of 1 to ${maxLength} characters with visible text`;
export const LINE_RULE = lineRule(MAX_LENGTH);
export const isLine = (text: string): boolean =>
  text.length <= MAX_LENGTH && VISIBLE.test(text) && !MISLEADING.test(text);

const MAX_SERVICE_NAME_LENGTH = 60;
/** The rest of an error about SERVICE_NAME. */
export const SERVICE_NAME_RULE = lineRule(MAX_SERVICE_NAME_LENGTH);
/** A variable in wrangler.toml can be anything that JSON has. */
export const isServiceName = (name: unknown): boolean =>
  typeof name === 'string' && name.length <= MAX_SERVICE_NAME_LENGTH && isLine(name);

const MAX_URL_LENGTH = 2048;
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

/** A business has at most this many thresholds of alerts, of at most this many percent. */
export const MAX_THRESHOLDS = 5;
export const MAX_PERCENT = 1000;
export const PERCENT_RULE = `must be a whole percentage from 1 to ${MAX_PERCENT}, such as 80`;
export const ALERT_AT_RULE = `must be a list of 1 to ${MAX_THRESHOLDS} percentages, ascending, such as [50,80,100]`;
export const isAscending = (list: number[]): boolean => list.every((value, index) => value > (list[index - 1] ?? 0));

/** The most that a limit can be. 0 is a limit, too. */
export const MAX_LIMIT = 1e12;

export const TOKEN_RULE = 'must be 24 to 255 characters from A-Z a-z 0-9 . _ ~ + / = - and must not start with bua_';
