// biome-ignore-all lint/style/noRestrictedImports: what every other file has from here
// Hono's hooks for state and for effects, without what goes wrong there once a component is gone, or is drawn again early: an effect is
// run with the next frame, twice if its component was drawn again before, and also if that is gone by then; and a component that is gone
// comes back into the page if its state is set twice.
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

/** As Hono's. To set the state of a component that is gone does nothing. */
export function useState<T>(initial: T | (() => T)) {
  const [state, setState] = useHonoState<T>(initial);
  const isGone = useIsGone();
  const set = useCallback((...next: Parameters<typeof setState>) => {
    if (!isGone()) setState(...next);
  }, []);
  return [state, set] as const;
}

type Effect = Parameters<typeof useHonoEffect>[0];

/** As Hono's: runs `effect` with the next frame, and whenever one of `dependencies` has changed. Once, and only if the component is there. */
export function useEffect(effect: Effect, dependencies: readonly unknown[]): void {
  const isGone = useIsGone();
  const last = useRef<{ dependencies: readonly unknown[]; end: ReturnType<Effect> } | null>(null);
  useHonoEffect(() => {
    if (isGone()) return;
    if (last.current?.dependencies !== dependencies) last.current = { dependencies, end: effect() };
    return last.current?.end;
  }, dependencies);
}
