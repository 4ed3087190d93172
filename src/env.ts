// What the Worker is given, and what its middleware hands on.
import type { Credential } from './core/credential.ts';
import type { Cost } from './db/meter.ts';

export type Env = {
  Bindings: {
    /** The only store. */
    DB: D1Database;
    /** What is built for browsers and machines to load (src/admin/build.ts). */
    ASSETS: Fetcher;
  };
  Variables: {
    /** When the request began: every day and timestamp of its answer goes by this one instant. */
    now: Date;
    /** The kind of credential that came with it. */
    kind: Credential['kind'];
    /** What the request costs at the database. */
    cost: Cost;
  };
};
