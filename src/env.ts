// What every part of the Worker has at hand.
import type { Credential } from './core/credential.ts';
import type { Operation } from './core/policy.ts';
import type { Cost } from './db/batch.ts';

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

/** What is known of a request so far. */
export type Known = {
  /** When it began. */
  readonly began: Date;
  readonly clock: () => Date;
  /** The one instant by which all of its answer goes: when its body had arrived, or it began where it has none. */
  now: Date;
  /** Its body as text, once it has arrived (body.ts). */
  body: string;
  /** Names it in its answer and in the log. */
  readonly requestId: string;
  /** What it costs at the database. */
  readonly cost: Cost;
  /** What was sent as a credential, valid or not: the guard sets it, where there is one. */
  credential: { kind: Credential['kind']; last_four: string } | null;
  /** What is asked: the guard sets it, for what is within the limits. `origin` is null where a server asks. */
  call: { operation: Operation; business_id: number; origin: string | null } | null;
  /** Why it is not answered with success, where that was thrown. */
  error: Error | null;
};

/** Hono's: `c.env` is what the platform gives, and what is known. */
export type Env = { Bindings: Bindings & { known: Known } };
