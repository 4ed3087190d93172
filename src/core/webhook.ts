// Which addresses may receive alerts, and how messages are signed: as Standard Webhooks has it, so that receivers verify them with its
// libraries (docs/alerts.md, https://www.standardwebhooks.com).
import { addressRule, isSafeAddress } from './address.ts';

export const MESSAGE_TYPE = 'limits.reached';
/** What a message says of each alert: the SQL that makes it and the schema that describes it have these fields. */
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

/** The rest of an error about ALERT_URL. */
export const ADDRESS_RULE = addressRule(MAX_ADDRESS_LENGTH);
/** The rest of an error about ALERT_SECRET. */
export const SECRET_RULE = `must be ${SECRET_PREFIX} and the base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes`;

/** Whether alerts may be sent to this address. */
export const isAddress = (text: string): boolean => isSafeAddress(text, MAX_ADDRESS_LENGTH);

/** The bytes of a secret, or null if the text is not one. */
export function secretOf(text: string): Uint8Array<ArrayBuffer> | null {
  if (!text.startsWith(SECRET_PREFIX)) return null;
  const base64 = text.slice(SECRET_PREFIX.length);
  const bytes = bytesOf(base64);
  if (bytes === null || bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) return null;
  return bytes;
}

/** Null for what is not base64 to the letter. `atob` alone also takes spaces, and leaves out padding. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    const binary = atob(base64);
    return btoa(binary) === base64 ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** The headers that identify and sign a message which is sent now. A receiver refuses one whose time is not about its own. */
export async function webhookHeaders(secret: Uint8Array<ArrayBuffer>, id: string, body: string, now: Date) {
  const timestamp = `${Math.floor(now.getTime() / 1000)}`;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signature = String.fromCharCode(...new Uint8Array(await crypto.subtle.sign(algorithm, key, signed)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${btoa(signature)}` };
}
