// Decodes punycode (RFC 3492). The service stores `zürich.example` as `xn--zrich-kva.example`, and browsers provide no decoder.
/// <reference path="./punycode-module.d.ts" />
import { decode } from 'punycode/punycode.es6.js';

const ENCODED = 'xn--';

/** Returns null if the label is not valid punycode. */
export function decodeLabel(label: string): string | null {
  if (!label.startsWith(ENCODED)) return null;
  try {
    const text = decode(label.slice(ENCODED.length));
    return /[^\0-\x7f]/.test(text) ? text : null; // ASCII needs no encoding
  } catch {
    return null;
  }
}

/** Decodes each label of a domain. Leaves a label unchanged if it is not valid punycode. */
export const unicodeDomain = (domain: string): string =>
  domain
    .split('.')
    .map((label) => decodeLabel(label) ?? label)
    .join('.');
