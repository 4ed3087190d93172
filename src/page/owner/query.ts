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

/** `data` and `readAt` belong to the query's key. They stay set during a reload, and are null if another key's data was read last. */
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

/**
 * Reads on mount and whenever `key` or `revision` changes. Drops outdated responses. `key` names what is read, or is null to read nothing.
 * Another `revision` reads the same again.
 */
export function useQuery<T>(key: string | null, revision: string | number, read: () => Promise<T>): Query<T> {
  const asked = JSON.stringify([key, revision]);
  const [state, setState] = useState({
    asked: '',
    failure: null as Failure | null,
    busy: true,
    /** Whose `data` it is. */
    key: null as string | null,
    data: null as T | null,
    readAt: null as number | null,
  });
  const begin = useLatest();
  const isReading = useRef(false);
  const reload = (failure: Failure | null = null) => {
    const isLatest = begin();
    isReading.current = key !== null;
    setState((last) => ({ ...last, asked, failure, busy: true }));
    if (key === null) return;
    const settle = (change: Partial<typeof state>) => {
      if (!isLatest()) return;
      isReading.current = false;
      setState((last) => ({ ...last, failure: null, busy: false, ...change }));
    };
    read().then(
      (data) => settle({ key, data, readAt: now() }),
      (error) => settle({ failure: failureOf(error) }),
    );
  };
  const setData = (data: T) => {
    setState((last) => ({ ...last, key, data }));
    if (isReading.current) reload();
  };
  useEffect(reload, [asked]);
  const isCurrent = state.asked === asked;
  const isOwn = state.key === key;
  return {
    data: isOwn ? state.data : null,
    readAt: isOwn ? state.readAt : null,
    failure: isCurrent ? state.failure : null,
    busy: key !== null && (!isCurrent || state.busy),
    reload,
    setData,
  };
}

/** `busy` names the pending change. */
type Mutation = { busy: string | null; failure: Failure | null };
const IDLE: Mutation = { busy: null, failure: null };

/** Makes one change at a time. `run` does nothing while a change is pending, and resolves to whether the change succeeded. */
export function useMutation() {
  const [state, setState] = useState(IDLE);
  const begin = useLatest();
  const isRunning = useRef(false);
  async function run(busy: string, work: () => Promise<void>): Promise<boolean> {
    if (isRunning.current) return false;
    isRunning.current = true;
    const isMounted = begin();
    const settle = (change: Partial<Mutation>) => isMounted() && setState({ ...IDLE, ...change });
    settle({ busy });
    try {
      await work();
      settle({});
      return true;
    } catch (error) {
      settle({ failure: failureOf(error) });
      return false;
    } finally {
      isRunning.current = false;
    }
  }
  return { ...state, run, reset: () => setState(IDLE) };
}
