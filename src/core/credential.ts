// Credentials (docs/api.md, "Credentials"): secret API keys and operator keys, and public business tokens.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { randomBytes } from './random.ts';

/** A well-formed credential, not yet looked up. The `code` of a console link can only start a session. */
export type Credential = {
  kind: 'key' | 'token' | 'operator' | 'code';
  text: string;
  /** The number of the database that the credential names. Null for imported tokens and operator keys, which name none. */
  database: number | null;
  /** Returns the SHA-256 in hex, computed on the first call. */
  hash: () => string;
};

export type CallerKind = Credential['kind'];

/** Masks a secret: only its last four characters remain. */
export const masked = (secret: string): string => `…${secret.slice(-4)}`;

const RANDOM_LENGTH = 33; // 62^33 > 2^192
/** The alphabet of random characters and database letters. A letter's index is its database number. */
export const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** A database letter and random characters. */
const ISSUED = new RegExp(`^bua_(?:sk|pk)_([0-9A-Za-z])[0-9A-Za-z]{${RANDOM_LENGTH}}$`);
/** Longer than other credentials, because an operator key gives access to every business. */
const OPERATOR_LENGTH = 43;
const OPERATOR = new RegExp(`^bua_op_[0-9A-Za-z]{${OPERATOR_LENGTH}}$`);
/**
 * A token that can be imported from a previous system. No text that looks like a credential of this service, in any case, is a token of
 * another system.
 */
export const IMPORTED = /^(?![Bb][Uu][Aa]_)[A-Za-z0-9._~+/=-]{24,255}$/;

/**
 * Parses an `Authorization` header (RFC 6750 §2.1). The scheme is case-insensitive (RFC 9110 §11.1). Returns null unless it contains
 * exactly one well-formed credential. If a request contains two such headers, they arrive joined by a comma, which no credential contains.
 */
export function parseCredential(authorization: string | undefined): Credential | null {
  const text = /^bearer +([^ ]+)$/i.exec(authorization ?? '')?.[1];
  if (text === undefined) return null;
  const letter = ISSUED.exec(text)?.[1];
  const isOperator = OPERATOR.test(text);
  if (letter === undefined && !isOperator && !IMPORTED.test(text)) return null;
  const kind = isOperator ? 'operator' : text.startsWith('bua_sk_') ? 'key' : 'token';
  return credentialWith(kind, text, letter === undefined ? null : ALPHABET.indexOf(letter));
}

function credentialWith(kind: Credential['kind'], text: string, database: number | null): Credential {
  let hash: string | undefined;
  return {
    kind,
    text,
    database,
    hash() {
      hash ??= sha256Hex(text);
      return hash;
    },
  };
}

/** Generates an API key (`bua_sk_`) or a business token (`bua_pk_`) with 196 random bits for database `number`. */
export const newCredential = (prefix: 'bua_sk_' | 'bua_pk_', number: number): string =>
  prefix + ALPHABET[number] + randomText(RANDOM_LENGTH);

/** The code after the # in a console link: a database letter and random characters. It works once. */
export const CODE = new RegExp(`^[0-9A-Za-z]{${1 + RANDOM_LENGTH}}$`);

/** Parses the code of a console link. Null if it is malformed. */
export const parseCode = (text: string): Credential | null =>
  CODE.test(text) ? credentialWith('code', text, ALPHABET.indexOf(text.charAt(0))) : null;

/** Generates a code with 196 random bits for database `number`. */
export const newCode = (number: number): string => ALPHABET[number] + randomText(RANDOM_LENGTH);

/** Generates an operator key with 256 random bits. */
export const newOperatorKey = (): string => `bua_op_${randomText(OPERATOR_LENGTH)}`;

function randomText(length: number): string {
  let random = '';
  while (random.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 = 4 × 62. Using higher bytes would favor the first characters of the alphabet.
      if (byte < 248 && random.length < length) random += ALPHABET[byte % 62];
    }
  }
  return random;
}

const encoder = new TextEncoder();
/**
 * Returns the SHA-256 of a text in hex. API keys are stored as this hash, without a salt, because the key itself is random. Web Crypto
 * would return a promise, which takes longer than the hash of a short text, and a list of uses contains a thousand.
 */
export const sha256Hex = (text: string): string => bytesToHex(sha256(encoder.encode(text)));

/** Returns the first 16 bytes of a text's SHA-256, in hex. */
export const shortHashOf = (text: string): string => sha256Hex(text).slice(0, 32);

/**
 * Returns the 16 bytes, in hex, that the ledger stores for a use's id. Servers and pages have separate namespaces, so a page cannot use up
 * a server's ids.
 */
export const digestOf = (kind: CallerKind, id: string): string => shortHashOf(`${namespaceOf(kind)}:${id}`);

export type Namespace = 'key' | 'token';
/** Returns the namespace of a caller's use ids: `key` for servers, `token` for pages. */
export const namespaceOf = (kind: CallerKind): Namespace => (kind === 'token' ? 'token' : 'key');

/** The maximum number of pages that are stored of a former token's use. If there are more, they are those that used it last. */
export const MAX_USED_FROM = 10;
