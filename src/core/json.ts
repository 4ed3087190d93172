// Parses JSON within limits. A megabyte of brackets, numbers or members takes much longer to parse than other JSON of that size, and the
// service parses it before authenticating the sender.

export const MAX_JSON_DEPTH = 32;
/** Members and elements in total. An empty object or list counts as one. A list of 1,000 uses contains about 4,000. */
export const MAX_JSON_ENTRIES = 10_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** `[` and `{` differ only in this bit, and so do `]` and `}`. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const BYTE_ORDER_MARK = '\ufeff';

/** Tests whether a body is empty or contains only JSON's white space. `trim` would also remove other characters, such as U+FEFF. */
export const isEmptyBody = (text: string): boolean => !/[^\t\n\r ]/.test(text);

/** Counts the entries in a text, or returns null if it exceeds a limit. Reads each character once, without checking the syntax. */
export function countEntries(text: string): number | null {
  let depth = 0;
  let entries = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === COMMA) entries += 1;
    else if ((code | CURLY) === CLOSE) depth -= 1;
    else if ((code | CURLY) === OPEN) {
      depth += 1;
      entries += 1;
    }
    if (depth > MAX_JSON_DEPTH || entries > MAX_JSON_ENTRIES) return null;
  }
  return entries;
}

/** Counts the entries in a parsed value. The text contains more if an object repeats a member, because parsing keeps only the last one. */
function countEntriesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  return inside.reduce<number>((sum, entry) => sum + countEntriesIn(entry), Math.max(1, inside.length));
}

/** The parsed value, or the reason to reject the text. `repeated` means that an object contains a duplicate member. */
export type ParsedJson = { value: unknown; problem?: never } | { problem: 'too_large' | 'not_json' | 'repeated' };

/** Parses a JSON text within the limits. Ignores a byte order mark (RFC 8259 §8.1), with which some clients start their texts. */
export function parseBoundedJson(text: string): ParsedJson {
  const entries = countEntries(text);
  if (entries === null) return { problem: 'too_large' };
  try {
    const value: unknown = JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
    return countEntriesIn(value) === entries ? { value } : { problem: 'repeated' };
  } catch {
    return { problem: 'not_json' };
  }
}
