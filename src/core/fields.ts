// Validates names: of businesses, keys, people and the service. Each rule completes an error message that starts with the field's name.

export const MAX_LINE_LENGTH = 255;
/**
 * Direction overrides (UAX #9) can make one name look like another. Direction marks, such as U+200F, are allowed because Hebrew and Arabic
 * text uses them.
 */
export const MISLEADING = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
/** U+2800, the blank Braille pattern, counts as a symbol but is invisible. */
const VISIBLE = /[^\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

export const lineRule = (maxLength: number): string =>
  `must be one line of 1 to ${maxLength} characters with visible text, and without control characters or direction overrides`;
export const isLine = (text: string, maxLength: number): boolean =>
  text.length <= maxLength && VISIBLE.test(text) && !MISLEADING.test(text);

const MAX_SERVICE_NAME_LENGTH = 60;
export const SERVICE_NAME_RULE = lineRule(MAX_SERVICE_NAME_LENGTH);
/** Accepts any type, because variables in wrangler.toml can be any JSON value. */
export const isServiceName = (name: unknown): boolean =>
  typeof name === 'string' && isLine(name, MAX_SERVICE_NAME_LENGTH);
