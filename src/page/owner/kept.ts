// What a tab keeps of a session, so that a reload goes on with it. sessionStorage ends with the tab. An API key or a code is never in it.

/** A session as the console knows it. */
export type KeptSession = {
  key: string;
  /** When it ends, in milliseconds since 1970 as this computer's clock counts them. */
  endsAt: number;
  readOnly: boolean;
  /** The last four characters of the API key that began it. Null: a link began it. */
  tail: string | null;
};

const ITEM = 'session';

/** Whoever blocks the storage of a site signs in again after a reload. */
function tryStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** The session of this tab, also if it has ended since. */
export const keptSession = (): KeptSession | null =>
  tryStorage((storage) => JSON.parse(storage.getItem(ITEM) ?? 'null') as KeptSession | null);

export const keepSession = (session: KeptSession): void =>
  void tryStorage((storage) => storage.setItem(ITEM, JSON.stringify(session)));

export const forgetSession = (): void => void tryStorage((storage) => storage.removeItem(ITEM));
