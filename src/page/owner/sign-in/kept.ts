// What a tab keeps of a session, so that a reload goes on with it. sessionStorage ends with the tab. An API key or a code is never in it.

/** A session as the console knows it. */
export type KeptSession = {
  key: string;
  /** When it ends, in milliseconds since 1970 as this computer's clock counts them. */
  endsAt: number;
  readOnly: boolean;
  /** The last four characters of the API key that began it. Null: a link began it. */
  tail: string | null;
  /** Where a link in the header leads back to. Missing in a tab from before there was one. */
  returnUrl?: string | null;
};

const ITEM = 'session';

/** For whoever blocks the storage of a site, and signs in again after a reload. */
let inMemory: KeptSession | null = null;

function tryStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** The session of this tab, also if it has ended since. */
export const keptSession = (): KeptSession | null =>
  tryStorage((storage) => JSON.parse(storage.getItem(ITEM) ?? 'null') as KeptSession | null) ?? inMemory;

export function keepSession(session: KeptSession): void {
  inMemory = session;
  tryStorage((storage) => storage.setItem(ITEM, JSON.stringify(session)));
}

export function forgetSession(): void {
  inMemory = null;
  tryStorage((storage) => storage.removeItem(ITEM));
}

export const isRunning = ({ endsAt }: KeptSession): boolean => endsAt > Date.now();

/** What tells a session from others: the changes name a session of a link by the same characters. */
export const namedBy = ({ key, tail }: KeptSession): { kind: 'Key' | 'Link'; tail: string } =>
  tail === null ? { kind: 'Link', tail: key.slice(-4) } : { kind: 'Key', tail };
