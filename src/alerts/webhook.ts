// Validates the alert receiver's settings, and signs messages as Standard Webhooks specifies, so existing libraries can verify them
// (docs/alerts.md, https://www.standardwebhooks.com).
import { addressRule, isSafeAddress } from '../core/address.ts';
import { DAY_MS } from '../core/time.ts';

export const MESSAGE_TYPE = 'limit.reached';
/** The fields of the alert in a message, for the SQL that builds the message and the schema that describes it. */
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
const MAX_SECRETS = 2;

export type Secret = Uint8Array<ArrayBuffer>;

export const ADDRESS_RULE = addressRule(MAX_ADDRESS_LENGTH);
export const SECRET_RULE = `must be ${SECRET_PREFIX} followed by the base64 encoding of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes, or two such secrets separated by a space`;

/** Returns whether alerts may be sent to this URL. */
export const isAddress = (text: string): boolean => isSafeAddress(text, MAX_ADDRESS_LENGTH);

/** Parses one secret, or two separated by a space. Null if one is malformed. */
export function parseSecrets(text: string): Secret[] | null {
  const secrets = text.split(' ').map(parseSecret);
  return secrets.length <= MAX_SECRETS && secrets.every((secret) => secret !== null) ? secrets : null;
}

function parseSecret(text: string): Secret | null {
  if (!text.startsWith(SECRET_PREFIX)) return null;
  const bytes = decodeBase64(text.slice(SECRET_PREFIX.length));
  if (bytes === null || bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) return null;
  return bytes;
}

/** Decodes strict base64. Returns null for anything else, unlike `atob`, which also accepts spaces and missing padding. */
function decodeBase64(base64: string): Secret | null {
  try {
    const binary = atob(base64);
    return btoa(binary) === base64 ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/**
 * Returns the time that a Retry-After header asks for, in seconds or as a date (RFC 9110 §10.2.3), but at most a day later. Null without
 * one.
 */
export function retryTime(header: string | null, now: Date): Date | null {
  if (header === null) return null;
  const at = /^\d+$/.test(header) ? now.getTime() + Number(header) * 1000 : Date.parse(header);
  return Number.isNaN(at) ? null : new Date(Math.min(at, now.getTime() + DAY_MS));
}

/**
 * Returns the headers that identify a message, and sign it with each secret. `now` must be the time of sending, because receivers reject
 * other timestamps.
 */
export async function webhookHeaders(secrets: Secret[], id: string, body: string, now: Date) {
  const timestamp = `${Math.floor(now.getTime() / 1000)}`;
  const signatures = await Promise.all(secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

async function signatureOf(secret: Secret, text: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
  const signature = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(text));
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`;
}
