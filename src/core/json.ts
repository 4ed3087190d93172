// Parses a JSON text within limits. Parsing a megabyte of brackets, numbers or members takes far longer than parsing any other megabyte,
// and it happens before we know the sender.

export const MAX_JSON_DEPTH = 32;
/** Members and elements together; an empty object or list counts as one. A list of 1,000 uses has about 4,000. */
export const MAX_JSON_ENTRIES = 10_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** `[` and `{` differ only in this bit, and so do `]` and `}`. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * The number of entries in a text, or null if it is not within both limits. It reads each character once and does not check that the
 * text is JSON.
 */
export function entriesIn(text: string): number | null {
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

/** The same of a parsed value. It is less than in its text if an object has a member twice: the last one counts. */
function countEntriesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  return inside.reduce<number>((sum, entry) => sum + countEntriesIn(entry), Math.max(1, inside.length));
}

/** What a text contains; or why it is not read: it is beyond the limits, no JSON, or has a member twice in one object. */
export type ParsedJson = { value: unknown; problem?: never } | { problem: 'too_large' | 'not_json' | 'repeated' };

/** Parses a text, unless it is beyond the limits. */
export function jsonOf(text: string): ParsedJson {
  const entries = entriesIn(text);
  if (entries === null) return { problem: 'too_large' };
  try {
    const value: unknown = JSON.parse(text);
    return countEntriesIn(value) === entries ? { value } : { problem: 'repeated' };
  } catch {
    return { problem: 'not_json' };
  }
}
