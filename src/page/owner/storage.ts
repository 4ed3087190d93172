// Stores the session in sessionStorage, which survives a reload but not closing the tab. Never stores an API key or a link's code.

export type StoredSession = {
  key: string;
  /** In milliseconds since 1970, by this computer's clock. */
  endsAt: number;
  readOnly: boolean;
  userId: number;
  /** Whether the session can list, create and revoke the user's API keys. */
  canCreateKeys: boolean;
  /** The last four characters of the API key, or null if a link started the session. */
  tail: string | null;
  /** The URL that the console links back to, or null. */
  returnUrl: string | null;
};

const ITEM = 'session';

/** The fallback for browsers that block sessionStorage. It is lost on reload. */
let inMemory: StoredSession | null = null;

function tryStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** Returns the session of this browser tab, even if it has expired. */
export const readSession = (): StoredSession | null =>
  tryStorage((storage) => JSON.parse(storage.getItem(ITEM) ?? 'null') as StoredSession | null) ?? inMemory;

export function storeSession(session: StoredSession): void {
  inMemory = session;
  tryStorage((storage) => storage.setItem(ITEM, JSON.stringify(session)));
}

export function clearSession(): void {
  inMemory = null;
  tryStorage((storage) => storage.removeItem(ITEM));
}

export const isUnexpired = ({ endsAt }: StoredSession): boolean => endsAt > Date.now();

/** Identifies a session to its owner. The list of changes shows the same `tail` for a link's session. */
export const credentialOf = ({ key, tail }: StoredSession): { kind: 'Key' | 'Link'; tail: string } =>
  tail === null ? { kind: 'Link', tail: key.slice(-4) } : { kind: 'Key', tail };
