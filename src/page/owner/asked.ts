// Asking the service from a component: what it shows while an answer is awaited, and after one that failed.
import { useCallback, useEffect, useRef, useState } from 'hono/jsx/dom';
import { Failure } from './api.ts';

const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(-1, `Something is wrong with this page: ${error}`);

/** What was read. While it is read again, what was read before stays. `put` is for what another answer has told. */
export type Asked<T> = {
  data: T | null;
  failure: Failure | null;
  busy: boolean;
  again: () => void;
  put: (data: T) => void;
};

/** Asks when the component appears, and whenever one of `causes` changes. Answers that come too late are dropped. */
export function useAsked<T>(ask: () => Promise<T>, causes: readonly unknown[], known: T | null = null): Asked<T> {
  const [state, setState] = useState({ data: known, failure: null as Failure | null, busy: true });
  const turn = useRef(0);
  const again = () => {
    turn.current = (turn.current ?? 0) + 1;
    const own = turn.current;
    setState((last) => ({ ...last, failure: null, busy: true }));
    ask().then(
      (data) => own === turn.current && setState({ data, failure: null, busy: false }),
      (error) => own === turn.current && setState((last) => ({ ...last, failure: failureOf(error), busy: false })),
    );
  };
  const put = (data: T) => {
    turn.current = (turn.current ?? 0) + 1;
    setState({ data, failure: null, busy: false });
  };
  useEffect(() => {
    again();
    return () => {
      turn.current = (turn.current ?? 0) + 1; // never a number that a call on its way has
    };
  }, causes);
  return { ...state, again, put };
}

/** A change that is asked for. `busy` is what is being done. */
export type Doing = { busy: string | null; failure: Failure | null };

/** Does one thing at a time: while an answer is awaited, another press does nothing. Resolves to whether it succeeded. */
export function useDoing() {
  const [doing, setDoing] = useState<Doing>({ busy: null, failure: null });
  const running = useRef(false);
  const start = useCallback(async (what: string, work: () => Promise<void>): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setDoing({ busy: what, failure: null });
    try {
      await work();
      setDoing({ busy: null, failure: null });
      return true;
    } catch (error) {
      setDoing({ busy: null, failure: failureOf(error) });
      return false;
    } finally {
      running.current = false;
    }
  }, []);
  const forget = () => setDoing({ busy: null, failure: null });
  return { ...doing, start, forget };
}
