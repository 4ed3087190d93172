// Reading and changing what the service has, from a component.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Failure } from './api.ts';
import { now } from './clock.ts';

/** What went wrong, also if it is a fault of this page. */
export const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(-1, `Something is wrong with this page: ${error}`);

type IsWanted = () => boolean;

/**
 * For calls of which only the last one counts. Each begins with what this returns, and gets whether it is still the last: no later one
 * has begun, and the component is there.
 */
export function useLatest(): () => IsWanted {
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
  /** When the data came, in milliseconds since 1970. Null: nothing was read yet. */
  readAt: number | null;
  /** Reads again. `failure` is what is told until the answer comes. */
  reload: (failure?: Failure | null) => void;
  setData: (data: T) => void;
};

/** Gets whether its answer is still wanted, and what is there. Null: that will do, and nothing is read. */
type Read<T> = (isWanted: IsWanted, data: T | null) => Promise<T> | null;

/**
 * Reads when the component appears, and whenever `key` changes. An answer that a later call overtook is dropped. `listed` is shown until
 * the first answer.
 */
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
    if (isReading.current) reload(); // what is on its way may be older
  };
  useEffect(reload, [key]);
  const { data, readAt } = state;
  const isCurrent = state.key === key;
  return { data, failure: isCurrent ? state.failure : null, busy: !isCurrent || state.busy, readAt, reload, setData };
}

/** `busy` names the change whose answer is awaited. */
type Mutation = { busy: string | null; failure: Failure | null };
const IDLE: Mutation = { busy: null, failure: null };

/**
 * Makes one change at a time: while one is awaited, `run` does nothing. It resolves to whether the change succeeded. With another
 * `subject` it begins anew, and the answer about the one before is not wanted.
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
