// Types shared by all handlers.
import type { Context, Input } from 'hono';
import type { CallerKind } from './core/credential.ts';
import type { Binding } from './core/database.ts';
import type { OperatorSecret } from './core/operator.ts';
import type { Ask, BoundDatabases, Cost } from './db/batch.ts';
import type { Call } from './db/call.ts';
import type { RecentRefusals } from './memory/recent-refusals.ts';
import type { UnstoredRefusals } from './memory/unstored-refusals.ts';

/** The rate limiters for requests (per client address, per credential, and dear ones) and for stored origins (per origin and per business). */
export type RateLimiter =
  | 'ADDRESS_LIMIT'
  | 'CREDENTIAL_LIMIT'
  | 'DEAR_LIMIT'
  | 'REFUSED_ORIGIN_LIMIT'
  | 'REFUSED_BUSINESS_LIMIT';

/** The Worker's bindings (wrangler.toml). */
export type Bindings = {
  /** The first database. The others are DB_1 to DB_61 (core/database.ts). */
  DB: D1Database;
  /** The Worker that receives alerts. If absent, alerts are sent to ALERT_URL. */
  ALERTS?: Fetcher;
  /** The URL that receives alerts (alerts/webhook.ts). If neither this nor ALERTS is set, nothing is sent. */
  ALERT_URL?: string;
  /** Signs alerts: one secret, or two separated by a space while one replaces the other (alerts/webhook.ts). */
  ALERT_SECRET?: string;
  /** `1` admits only operator keys (docs/operating.md, "Operator only"). */
  OPERATOR_ONLY?: string;
  /** The service's name in the console (http/console-page.ts). If absent or empty, "Business Usage and Access". */
  SERVICE_NAME?: string;
  /** Static files (src/tools/build.ts). */
  ASSETS: Fetcher;
  /** The Worker's version. Absent in tests. */
  VERSION?: { id: string };
} & { [limiter in RateLimiter]?: RateLimit } & { [binding in Binding]?: D1Database } & {
  /** An operator key, stored as its role and hash, for example full:9f86… (core/operator.ts). */
  [name in OperatorSecret]?: string;
};

export type Clock = () => Date;

/** The contents of a request's log line, collected while the request is served. */
export type LogEntry = {
  /** Also sent in the response. */
  readonly request_id: string;
  readonly d1: Cost;
  /** The credential that was sent, valid or not. */
  credential: { kind: CallerKind; last_four: string } | null;
  /** The database that was queried, or null. */
  database: Binding | null;
  /** Null if no operation was determined, for example because the request contained no credential. `origin` is null for servers. */
  call: { operation: string; business_id: number | null; user_id: number | null; origin: string | null } | null;
  /** The rate limiter that refused the request, or null. */
  limiter: RateLimiter | null;
  /** The error that caused the response, or null. */
  error: Error | null;
};

/** Writes log lines (to `console` in the Worker). `error` is for failures of the service. */
export type Log = Record<'log' | 'error', (line: object) => void>;

/** For Hono: `c.env` comes from the platform, `c.get` from earlier handlers in the chain. */
export type Env = {
  Bindings: Bindings;
  Variables: {
    clock: Clock;
    databaseClock: Clock;
    log: Log;
    logEntry: LogEntry;
    recentRefusals: RecentRefusals;
    unstoredRefusals: UnstoredRefusals;
  };
};

/**
 * The variables that the guard sets. `database` is the number of the database that `ask` queries. `databases` are those that the call can
 * query: every one for an operator, otherwise only that one. `isPermitted` is true once a database has permitted the call.
 */
export type Guarded = Env & {
  Variables: { call: Call; database: number; ask: Ask; databases: BoundDatabases; isPermitted: boolean };
};

/** A read-only handler context. Hono's type matches only handlers with exactly the same variables. */
// biome-ignore lint/suspicious/noExplicitAny: Hono's own default for a path
export interface ContextOf<E extends Env, P extends string = any, I extends Input = Input>
  extends Pick<Context<E, P, I>, 'req' | 'env' | 'executionCtx'> {
  get<Name extends keyof E['Variables']>(name: Name): E['Variables'][Name];
}
