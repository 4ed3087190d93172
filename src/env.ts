// The types that every handler shares.
import type { Context } from 'hono';
import type { CallerKind } from './core/credential.ts';
import type { Binding } from './core/database.ts';
import type { OperatorSecret } from './core/operator.ts';
import type { Operation } from './core/policy.ts';
import type { Ask, BoundDatabases, Cost } from './db/batch.ts';
import type { Call } from './db/call.ts';

/** What limits requests by client address and by credential, how often a refused origin is remembered, and how many of a business are. */
export type RateLimiter = 'ADDRESS_LIMIT' | 'CREDENTIAL_LIMIT' | 'REFUSED_ORIGIN_LIMIT' | 'REFUSED_BUSINESS_LIMIT';

/** The bindings of the Worker (wrangler.toml). */
export type Bindings = {
  /** The first database. The others are DB_1 to DB_61 (core/database.ts). */
  DB: D1Database;
  /** The Worker that receives alerts. Absent: whoever is at ALERT_URL. */
  ALERTS?: Fetcher;
  /** The address that receives alerts (core/webhook.ts). If neither this nor ALERTS is set, nothing is sent. */
  ALERT_URL?: string;
  /** Signs what is sent (core/webhook.ts). */
  ALERT_SECRET?: string;
  /** `1` admits only operator keys (docs/operating.md, "Operator only"). */
  OPERATOR_ONLY?: string;
  /** What the console is called (http/console-page.ts). Absent or empty: Business Usage and Access. */
  SERVICE_NAME?: string;
  /** Static files (src/tools/build.ts). */
  ASSETS: Fetcher;
  /** Which version of the Worker this is. Absent: an unknown one (tests). */
  VERSION?: { id: string };
} & { [limiter in RateLimiter]?: RateLimit } & { [binding in Binding]?: D1Database } & {
  /** The operator's keys: a role and a hash, such as full:9f86… (core/operator.ts). */
  [name in OperatorSecret]?: string;
};

export type Clock = () => Date;

/** What the log line of a request will say, collected while it is served. */
export type LogEntry = {
  /** Also in the response. */
  readonly request_id: string;
  readonly d1: Cost;
  /** The credential that was sent, valid or not. */
  credential: { kind: CallerKind; last_four: string } | null;
  /** The database that was asked. Null if none was. */
  database: Binding | null;
  /** Null before the operation is known: without a credential, or over the rate limit of an address. `origin` is null for a server. */
  call: { operation: Operation; business_id: number | null; user_id?: number | null; origin: string | null } | null;
  /** The rate limit that it is over. */
  limiter: RateLimiter | null;
  /** Why it failed. */
  error: Error | null;
};

/** Where lines go: `console` in the Worker. `error` is for our own failures. */
export type Log = Record<'log' | 'error', (line: object) => void>;

/** For Hono: `c.env` comes from the platform, `c.get` from earlier handlers in the chain. */
export type Env = { Bindings: Bindings; Variables: { clock: Clock; log: Log; logEntry: LogEntry } };

/** Starts work in the database that the call asked, once the response is on its way. `name` is for the log, if the work fails. */
type Later = (name: string, work: (d1: D1Database) => Promise<void>) => void;

/** What a handler has after the guard. `database` is the number of the one that `ask` uses. Only operators get `databases`. */
export type Guarded = Env & {
  Variables: { call: Call; database: number; ask: Ask; later: Later; databases: BoundDatabases };
};

/** The context of a handler, to read from. (Hono's own type fits only handlers that set the very same variables.) */
export interface ContextOf<E extends Env> extends Pick<Context<E>, 'req' | 'env' | 'executionCtx'> {
  get<Name extends keyof E['Variables']>(name: Name): E['Variables'][Name];
}
