// Hooks that read and change data in the service.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Failure } from './api.ts';
import { now } from './clock.ts';

/** Wraps an error that is not a Failure, which means that it comes from the page itself. */
export const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(-1, `Something went wrong on this page: ${error}`);

type IsWanted = () => boolean;

/**
 * Returns a function to call before each request. Each call returns a check for that request. The check returns true while the request is
 * the latest one and the component is mounted.
 */
export function useLatest(): () => IsWanted {
  const calls = useRef(0);
  useLayoutEffect(
    () => () => {
      calls.current = Number.NaN; // NaN never equals the number of a call, even after += 1
    },
    [],
  );
  return () => {
    calls.current += 1;
    const call = calls.current;
    return () => calls.current === call;
  };
}

/** `data` stays set during a reload. */
export type Query<T> = {
  data: T | null;
  failure: Failure | null;
  busy: boolean;
  /** The time when the data was read, in milliseconds since 1970. */
  readAt: number | null;
  /** Reads again. Shows `failure` until the response arrives. */
  reload: (failure?: Failure | null) => void;
  /** Stores a change's response. Leaves `readAt` unchanged, and restarts a pending read, because its response may be older. */
  setData: (data: T) => void;
};

/** Returns null to keep `data`. */
type Read<T> = (isWanted: IsWanted, data: T | null) => Promise<T> | null;

/** Reads on mount and whenever `key` changes. Drops outdated responses. `data` is `listed` until the first response. */
export function useQuery<T>(key: string, read: Read<T>, listed: T | null = null): Query<T> {
  const [state, setState] = useState({
    key: '',
    data: listed,
    failure: null as Failure | null,
    busy: true,
    readAt: null as number | null,
  });
  const begin = useLatest();
  const isReading = useRef(false);
  const reload = (failure: Failure | null = null) => {
    const isLatest = begin();
    const settle = (change: Partial<typeof state>) => {
      if (!isLatest()) return;
      isReading.current = false;
      setState((last) => ({ ...last, failure: null, busy: false, ...change }));
    };
    const answer = read(isLatest, state.data);
    isReading.current = answer !== null;
    setState((last) => ({ ...last, key, failure, busy: answer !== null }));
    answer?.then(
      (data) => settle({ data, readAt: now() }),
      (error) => settle({ failure: failureOf(error) }),
    );
  };
  const setData = (data: T) => {
    setState((last) => ({ ...last, data }));
    if (isReading.current) reload();
  };
  useEffect(reload, [key]);
  const { data, readAt } = state;
  const isCurrent = state.key === key;
  return { data, failure: isCurrent ? state.failure : null, busy: !isCurrent || state.busy, readAt, reload, setData };
}

/** `busy` names the pending change. */
type Mutation = { busy: string | null; failure: Failure | null };
const IDLE: Mutation = { busy: null, failure: null };

/**
 * Makes one change at a time. `run` does nothing while a change is pending, and resolves to whether the change succeeded. When `subject`
 * changes, resets the state and drops the response for the previous subject.
 */
export function useMutation(subject = '') {
  const [state, setState] = useState({ subject, ...IDLE });
  const begin = useLatest();
  const shown = useRef(subject);
  shown.current = subject;
  const running = useRef<string | null>(null);
  async function run(busy: string, work: (isWanted: IsWanted) => Promise<void>): Promise<boolean> {
    if (running.current === subject) return false;
    running.current = subject;
    const isLatest = begin();
    const settle = (change: Partial<Mutation>) => isLatest() && setState({ subject, ...IDLE, ...change });
    settle({ busy });
    try {
      await work(() => isLatest() && shown.current === subject);
      settle({});
      return true;
    } catch (error) {
      settle({ failure: failureOf(error) });
      return false;
    } finally {
      if (isLatest()) running.current = null;
    }
  }
  const reset = () => setState({ subject, ...IDLE });
  const { busy, failure } = state.subject === subject ? state : IDLE;
  return { busy, failure, run, reset };
}
