// biome-ignore-all lint/style/noRestrictedImports: every other file imports these two from here
// Hono's hooks for state and effects, without two of their faults. Hono runs an effect with the next frame: twice if its component is
// drawn again before that, and even if the component is gone by then. And a component that is gone comes back into the page when its
// state is set twice.
import {
  useCallback,
  useEffect as useHonoEffect,
  useState as useHonoState,
  useLayoutEffect,
  useRef,
} from 'hono/jsx/dom';

/** Tells whether the component has left the page. */
export function useIsGone(): () => boolean {
  const isGone = useRef(false);
  useLayoutEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  return useCallback(() => isGone.current === true, []);
}

/** As Hono's, but setting the state of a component that is gone does nothing. */
export function useState<T>(initial: T | (() => T)) {
  const [state, setState] = useHonoState<T>(initial);
  const isGone = useIsGone();
  const set = useCallback((...next: Parameters<typeof setState>) => {
    if (!isGone()) setState(...next);
  }, []);
  return [state, set] as const;
}

type Effect = Parameters<typeof useHonoEffect>[0];

/** As Hono's, but runs `effect` once for each change of `dependencies`, and not if the component is gone by the next frame. */
export function useEffect(effect: Effect, dependencies: readonly unknown[]): void {
  const isGone = useIsGone();
  const last = useRef<{ dependencies: readonly unknown[]; end: ReturnType<Effect> } | null>(null);
  useHonoEffect(() => {
    if (isGone()) return;
    if (last.current?.dependencies !== dependencies) last.current = { dependencies, end: effect() };
    return last.current?.end;
  }, dependencies);
}
