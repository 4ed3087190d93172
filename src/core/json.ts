// How large a JSON text may be before it is parsed. A parser takes far longer for a megabyte of brackets or of members than for
// any other text, and it runs before the sender is known.

export const MAX_JSON_DEPTH = 32;
/** Objects, arrays and members (name and value) together. A report of 1,000 uses has some 3,000. */
export const MAX_JSON_PARTS = 20_000;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}` differ in this bit alone. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Whether a text is within both limits, by one look at each character; whether it is JSON is the parser's to say. */
export function isSmallJson(text: string): boolean {
  let depth = 0;
  let parts = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === COLON) parts += 1;
    else if ((code | CURLY) === CLOSE) depth -= 1;
    else if ((code | CURLY) === OPEN) {
      depth += 1;
      parts += 1;
    }
    if (depth > MAX_JSON_DEPTH || parts > MAX_JSON_PARTS) return false;
  }
  return true;
}
