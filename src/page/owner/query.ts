// Reading and changing what the service has, from a component.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Failure } from './api.ts';
import { now } from './clock.ts';

/** What went wrong, also if it is a fault of this page. */
export const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(-1, `Something is wrong with this page: ${error}`);

/**
 * For calls of which only the last one counts. Each begins with what this returns, and gets whether it is still the last: no later one
 * has begun, and the component is there.
 */
export function useLatest(): () => () => boolean {
  const calls = useRef(0);
  useLayoutEffect(
    () => () => {
      calls.current = Number.NaN; // equals nothing, and stays so
    },
    [],
  );
  return () => {
    calls.current += 1;
    const own = calls.current;
    return () => calls.current === own;
  };
}

/**
 * What was read stays while it is read again. `setData` is for what the answer to a change has told: the rest is as old as before, and a
 * reading that was under way begins again.
 */
export type Query<T> = {
  data: T | null;
  failure: Failure | null;
  busy: boolean;
  /** When the data came, in milliseconds since 1970. */
  readAt: number | null;
  reload: () => void;
  setData: (data: T) => void;
};

/**
 * Reads when the component appears, and whenever one of `dependencies` changes. An answer that a later call overtook is dropped: `read`
 * gets whether its answer is still wanted.
 */
export function useQuery<T>(read: (isWanted: () => boolean) => Promise<T>, dependencies: readonly unknown[]): Query<T> {
  const [state, setState] = useState({
    data: null as T | null,
    failure: null as Failure | null,
    busy: true,
    readAt: null as number | null,
  });
  const begin = useLatest();
  const isReading = useRef(false);
  const reload = () => {
    const isLatest = begin();
    const settle = (change: Partial<typeof state>) => {
      if (!isLatest()) return;
      isReading.current = false;
      setState((last) => ({ ...last, busy: false, ...change }));
    };
    isReading.current = true;
    setState((last) => ({ ...last, failure: null, busy: true }));
    read(isLatest).then(
      (data) => settle({ data, failure: null, readAt: now() }),
      (error) => settle({ failure: failureOf(error) }),
    );
  };
  const setData = (data: T) => {
    setState((last) => ({ ...last, data }));
    if (isReading.current) reload(); // what is on its way may be older
  };
  useEffect(reload, dependencies);
  return { ...state, reload, setData };
}

/** `busy` names the change whose answer is awaited. */
type Mutation = { busy: string | null; failure: Failure | null };

/** Makes one change at a time: while one is awaited, `run` does nothing. It resolves to whether the change succeeded. */
export function useMutation() {
  const [mutation, setMutation] = useState<Mutation>({ busy: null, failure: null });
  const running = useRef(false);
  const run = useCallback(async (busy: string, work: () => Promise<void>): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setMutation({ busy, failure: null });
    try {
      await work();
      setMutation({ busy: null, failure: null });
      return true;
    } catch (error) {
      setMutation({ busy: null, failure: failureOf(error) });
      return false;
    } finally {
      running.current = false;
    }
  }, []);
  const reset = () => setMutation({ busy: null, failure: null });
  return { ...mutation, run, reset };
}
