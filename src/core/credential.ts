// The credentials (docs/api.md, "Credentials"): API keys and operator keys, which are secret, and business tokens, which are public.

/** A credential in the right form. Only the database knows whether it exists. A `code` of a console link only starts a session. */
export type Credential = {
  kind: 'key' | 'token' | 'operator' | 'code';
  text: string;
  /** The number of the database that it names. Null for an imported token or an operator key, which name none. */
  database: number | null;
  /** Computes once, on the first call. */
  hash: () => Promise<string>;
};

/** Who makes a call. */
export type CallerKind = Credential['kind'];

const RANDOM_LENGTH = 33; // 62^33 > 2^192
/** For random characters, and for the letters of databases: the position of a letter is the number of its database. */
export const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The letter that names the database, and random characters. Older credentials have no letter: they are in database 0. */
const OURS = new RegExp(`^bua_(?:sk|pk)_([0-9A-Za-z]?)[0-9A-Za-z]{${RANDOM_LENGTH}}$`);
/** Longer than the others: it is for every business. */
const OPERATOR_LENGTH = 43;
const OPERATOR = new RegExp(`^bua_op_[0-9A-Za-z]{${OPERATOR_LENGTH}}$`);
const IMPORTED = /^(?!bua_)[A-Za-z0-9._~+/=-]{24,255}$/;

/** Whether `text` can be imported as a business token from a previous system. */
export const isImportable = (text: string): boolean => IMPORTED.test(text);

/**
 * The credential in an `Authorization` header (RFC 6750 §2.1; the scheme in any case, RFC 9110 §11.1), or null unless there is
 * exactly one. Two headers arrive joined by a comma, which no credential contains.
 */
export function credentialOf(authorization: string | undefined): Credential | null {
  const text = /^bearer +([^ ]+)$/i.exec(authorization ?? '')?.[1];
  if (text === undefined) return null;
  const letter = OURS.exec(text)?.[1];
  const isOperator = OPERATOR.test(text);
  if (letter === undefined && !isOperator && !IMPORTED.test(text)) return null;
  const kind = isOperator ? 'operator' : text.startsWith('bua_sk_') ? 'key' : 'token';
  return credentialWith(kind, text, letter === undefined ? null : ALPHABET.indexOf(letter)); // 0 for no letter
}

function credentialWith(kind: Credential['kind'], text: string, database: number | null): Credential {
  let made: Promise<string> | undefined;
  return {
    kind,
    text,
    database,
    hash() {
      made ??= hashOf(text);
      return made;
    },
  };
}

/** A new API key (`bua_sk_`) or business token (`bua_pk_`) with 196 random bits, for database `number`. */
export const newCredential = (prefix: 'bua_sk_' | 'bua_pk_', number: number): string =>
  prefix + ALPHABET[number] + randomText(RANDOM_LENGTH);

/** What is after the # of a console link: like a credential of ours, it names its database, and it works once. */
const CODE = new RegExp(`^[0-9A-Za-z]{${1 + RANDOM_LENGTH}}$`);

/** The code that a text is, or null if it is not in the form of one. */
export const codeOf = (text: string): Credential | null =>
  CODE.test(text) ? credentialWith('code', text, ALPHABET.indexOf(text.charAt(0))) : null;

/** A new code with 196 random bits, for database `number`. */
export const newCode = (number: number): string => ALPHABET[number] + randomText(RANDOM_LENGTH);

/** A new operator key, with 256 random bits. */
export const newOperatorKey = (): string => `bua_op_${randomText(OPERATOR_LENGTH)}`;

/** Random characters of the alphabet. */
function randomText(length: number): string {
  let random = '';
  while (random.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 = 4 × 62: a higher byte would make the first letters of the alphabet likelier.
      if (byte < 248 && random.length < length) random += ALPHABET[byte % 62];
    }
  }
  return random;
}

/** Every byte in hex. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The SHA-256 of a text, in hex. API keys are stored this way, without a salt: the key itself is random. */
export async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  let hex = '';
  for (const byte of new Uint8Array(digest)) hex += HEX[byte];
  return hex;
}

/**
 * The 16 bytes, in hex, that the ledger stores for the id of a use. Keys and tokens have separate ids, so a page cannot use up
 * the ids of a server.
 */
export const digestOf = async (kind: CallerKind, id: string): Promise<string> =>
  (await hashOf(`${namespaceOf(kind)}:${id}`)).slice(0, 32);

/** The ids of uses that a caller shares: those of servers, or those of pages. */
export const namespaceOf = (kind: CallerKind): 'key' | 'token' => (kind === 'token' ? 'token' : 'key');
