// Where the focus goes when what had it is gone: never to <body>, from where the keyboard begins again at the top.
import { type RefObject, useLayoutEffect, useRef } from 'hono/jsx/dom';

/** If something within `root` has the focus and disappears, also because of what was done elsewhere, `next` gets the focus. */
export function useKeptFocus(root: RefObject<HTMLElement | null>, next: () => HTMLElement | null | undefined): void {
  const had = useRef<Element>(null);
  const isDrawn = useRef(true);
  // It can be drawn several times before the effect is run. Before the first, whoever is at <body> has gone there.
  const focused = document.activeElement;
  if (root.current?.contains(focused)) had.current = focused;
  else if (isDrawn.current) had.current = null;
  isDrawn.current = false;
  // A layout effect runs while the page is being drawn, and a microtask when that is done, before the next frame.
  useLayoutEffect(() =>
    queueMicrotask(() => {
      isDrawn.current = true;
      const isGone = had.current?.isConnected === false; // otherwise a click elsewhere took the focus
      if (isGone && document.activeElement === document.body) next()?.focus({ preventScroll: true });
    }),
  );
}
