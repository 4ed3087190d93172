// What can go wrong between the service and its databases, and how a Worker can end.

/** The longest that a request waits for its database. With a token, it waits for 3 seconds (simulation.ts). */
const DEADLINE_MS = 10_000;

/**
 * What happens to one call of a database:
 * - `refused`: does not run. D1 says so.
 * - `lost_before`, `lost_after`: the connection is lost before the call runs or after it committed.
 * - `silent_before`, `silent_after`: no answer, ever. The call does not run, or commits.
 * - `late`: starts at the deadline or after it, by `ms`. It must do nothing.
 * - `slow`: commits, but answers `ms` after the deadline.
 * - `delayed`: starts and answers `ms` after it was sent.
 * - `ahead`: runs while the database's clock is `ms` beyond the deadline. It must do nothing.
 * - `killed`: commits, but the Worker ends before it learns so. The caller gets no answer.
 * - `broken`: fails with an error that D1 does not document as an outage.
 *
 * `ends` hits no call: the Worker ends as soon as it has answered, so work after the response is lost.
 */
export const FAULTS = [
  'refused',
  'lost_before',
  'lost_after',
  'silent_before',
  'silent_after',
  'late',
  'slow',
  'delayed',
  'ahead',
  'killed',
  'broken',
  'ends',
] as const;
export type FaultKind = (typeof FAULTS)[number];

/** Hits the `at`-th call (from 0) of the next step, in any database unless `database` names one. */
export type Fault = { kind: FaultKind; at: number; database?: number; ms?: number };

const REFUSED = 'D1_ERROR: D1 DB is overloaded. Too many requests queued.';
const LOST = 'Network connection lost.';
const BROKEN = 'D1_ERROR: no such table: api_keys: SQLITE_ERROR';

/** What a fault needs from the world: virtual time, the databases' clocks, and the end of the Worker that made the call. */
type Means = {
  sleep: (ms: number) => Promise<void>;
  /** Sets the clock of the databases forward until it is called again. */
  setAhead: (ms: number) => void;
  kill: () => void;
};

const never = () => new Promise<never>(() => {});

/** Runs a call with a fault. */
export async function failing<T>({ kind, ms = 0 }: Fault, run: () => T, { sleep, setAhead, kill }: Means): Promise<T> {
  switch (kind) {
    case 'ends':
      return run();
    case 'refused':
      throw new Error(REFUSED);
    case 'broken':
      throw new Error(BROKEN);
    case 'lost_before':
      throw new Error(LOST);
    case 'lost_after':
      run();
      throw new Error(LOST);
    case 'silent_before':
      return never();
    case 'silent_after':
      run();
      return never();
    case 'late':
      await sleep(DEADLINE_MS + ms);
      return run();
    case 'slow': {
      const result = run();
      await sleep(DEADLINE_MS + ms);
      return result;
    }
    case 'delayed':
      await sleep(ms);
      return run();
    case 'ahead':
      setAhead(DEADLINE_MS + ms);
      try {
        return run();
      } finally {
        setAhead(0);
      }
    case 'killed':
      run();
      kill();
      return never();
  }
}
