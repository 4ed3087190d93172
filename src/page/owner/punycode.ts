// Names in other scripts: the service keeps `zürich.example` as `xn--zrich-kva.example` (RFC 3492), and browsers have no decoder.
/// <reference path="./punycode-module.d.ts" />
import { decode } from 'punycode/punycode.es6.js';

const ENCODED = 'xn--';

/** A label of a domain in its own script. Null: it is not encoded, or not well. */
export function decodedLabel(label: string): string | null {
  if (!label.startsWith(ENCODED)) return null;
  try {
    const text = decode(label.slice(ENCODED.length));
    return /[^\0-\x7f]/.test(text) ? text : null; // what is ASCII needs no code
  } catch {
    return null;
  }
}

/** The domain with each of its labels in its own script. A label that cannot be read stays as it is. */
export const unicodeDomain = (domain: string): string =>
  domain
    .split('.')
    .map((label) => decodedLabel(label) ?? label)
    .join('.');
