// What the Worker is given, and what its middleware hands on.
import type { Cost } from './db/meter.ts';

export type Env = {
  Bindings: {
    /** The only store. */
    DB: D1Database;
  };
  Variables: {
    /** When the request began: every day and timestamp of its answer goes by this one instant. */
    now: Date;
    /** What the request costs at the database. */
    cost: Cost;
  };
};
