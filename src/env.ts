// What every handler has at hand.
import type { Call } from './db/permission.ts';
import type { Ask } from './guard.ts';
import type { LogEntry } from './http/log.ts';
import type { Recording } from './routes/recording.ts';

/** What the platform gives the Worker (wrangler.toml). */
export type Bindings = {
  /** The only store. */
  DB: D1Database;
  /** Requests of one client address; absent: no limit. */
  ADDRESS_LIMIT?: RateLimit;
  /** Requests with one credential; absent: no limit. */
  CREDENTIAL_LIMIT?: RateLimit;
  /** What is built for browsers and machines to load (src/tools/build.ts). */
  ASSETS: Fetcher;
};

export type Clock = () => Date;

/** Hono's: `c.env` is what the platform gives, `c.get` what the handlers in front have found. */
export type Env = {
  Bindings: Bindings;
  Variables: {
    clock: Clock;
    entry: LogEntry;
    /** Behind `wholeBody`. */
    body: string;
    /** Behind `recording`. */
    recording: Recording;
    /** Behind `guard`: who requests what, and the way to the database. */
    call: Call;
    ask: Ask;
  };
};
