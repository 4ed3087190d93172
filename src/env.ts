// What the Worker is given, and what its middleware hands on.
import type { Context } from 'hono';
import type { Credential } from './core/credential.ts';
import type { Operation } from './core/policy.ts';
import type { Cost } from './db/meter.ts';

export type Env = {
  Bindings: {
    /** The only store. */
    DB: D1Database;
    /** Requests of one client address; absent: no limit. */
    ADDRESS_LIMIT?: RateLimit;
    /** Requests with one credential; absent: no limit. */
    CREDENTIAL_LIMIT?: RateLimit;
    /** What is built for browsers and machines to load (src/admin/build.ts). */
    ASSETS: Fetcher;
  };
  Variables: {
    /** When the request began: every day and timestamp of its answer goes by this one instant. */
    now: Date;
    /** Names the request in its answer and in the log. */
    requestId: string;
    /** What the request costs at the database. */
    cost: Cost;
    /** What is asked, and with what credential, valid or not. The guard sets it: before, and without one, it is missing. */
    call: { operation: Operation; kind: Credential['kind']; last_four: string; business_id: number } | undefined;
  };
};

/** What is known of a request so far. */
export type Known = Pick<Context<Env>, 'get'>;
