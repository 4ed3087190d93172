// The types that every handler shares.
import type { Binding } from './core/database.ts';
import type { Call } from './db/permission.ts';
import type { Ask } from './guard.ts';
import type { Log, LogEntry } from './http/log.ts';
import type { Recording } from './routes/recording.ts';

/** The bindings of the Worker (wrangler.toml). */
export type Bindings = {
  /** The first database. The others are DB_1 to DB_61 (core/database.ts). */
  DB: D1Database;
  /** Limits requests by client address. Absent: no limit. */
  ADDRESS_LIMIT?: RateLimit;
  /** Limits requests by credential. Absent: no limit. */
  CREDENTIAL_LIMIT?: RateLimit;
  /** Limits how often a refused origin is remembered. Absent: no limit. */
  REFUSED_ORIGIN_LIMIT?: RateLimit;
  /** Limits how many refused origins of a business are remembered. Absent: no limit. */
  REFUSED_BUSINESS_LIMIT?: RateLimit;
  /** Static files (src/tools/build.ts). */
  ASSETS: Fetcher;
} & { [binding in Binding]?: D1Database };

export type Clock = () => Date;

/** For Hono: `c.env` comes from the platform, `c.get` from earlier handlers in the chain. */
export type Env = {
  Bindings: Bindings;
  Variables: {
    clock: Clock;
    log: Log;
    entry: LogEntry;
    /** Set by `wholeBody`. */
    body: string;
    /** Set by `recording`. */
    recording: Recording;
    /** Set by `guard`. */
    call: Call;
    ask: Ask;
  };
};
