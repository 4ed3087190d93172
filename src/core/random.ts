// The only source of random values. The simulator (test/sim) replaces `crypto` and repeats a run from its seed.

export const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

/** A random UUID. */
export const randomId = (): string => crypto.randomUUID();
