// Validates the alert receiver's settings, and signs messages as Standard Webhooks specifies, so existing libraries can verify them
// (docs/alerts.md, https://www.standardwebhooks.com).
import { addressRule, isSafeAddress } from './address.ts';

export const MESSAGE_TYPE = 'limits.reached';
/** The fields of each alert in a message, for the SQL that builds the message and the schema that describes it. */
export type AlertField =
  | 'id'
  | 'business_id'
  | 'user_id'
  | 'period'
  | 'starts_on'
  | 'ends_on'
  | 'limit'
  | 'threshold'
  | 'used'
  | 'at';

const MAX_ADDRESS_LENGTH = 2048;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
const SECRET_PREFIX = 'whsec_';

export const ADDRESS_RULE = addressRule(MAX_ADDRESS_LENGTH);
export const SECRET_RULE = `must be ${SECRET_PREFIX} followed by the base64 encoding of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes`;

/** Returns whether alerts may be sent to this URL. */
export const isAddress = (text: string): boolean => isSafeAddress(text, MAX_ADDRESS_LENGTH);

/** Parses a secret. Null if it is malformed. */
export function parseSecret(text: string): Uint8Array<ArrayBuffer> | null {
  if (!text.startsWith(SECRET_PREFIX)) return null;
  const bytes = decodeBase64(text.slice(SECRET_PREFIX.length));
  if (bytes === null || bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) return null;
  return bytes;
}

/** Decodes strict base64. Returns null for anything else, unlike `atob`, which also accepts spaces and missing padding. */
function decodeBase64(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    const binary = atob(base64);
    return btoa(binary) === base64 ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** Returns the headers that identify and sign a message. `now` must be the time of sending, because receivers reject other timestamps. */
export async function webhookHeaders(secret: Uint8Array<ArrayBuffer>, id: string, body: string, now: Date) {
  const timestamp = `${Math.floor(now.getTime() / 1000)}`;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signature = String.fromCharCode(...new Uint8Array(await crypto.subtle.sign(algorithm, key, signed)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${btoa(signature)}` };
}
