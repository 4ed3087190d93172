// Where the focus goes when what had it is gone: never to <body>, from where the keyboard begins again at the top.
import { type RefObject, useEffect, useRef } from 'hono/jsx/dom';

/** If something within `root` has the focus and disappears, also because of what was done elsewhere, `next` gets the focus. */
export function useKeptFocus(root: RefObject<HTMLElement | null>, next: () => HTMLElement | null | undefined): void {
  const hadFocus = useRef(false);
  const isDrawn = useRef(true);
  // It can be drawn several times before the effect is run. Before the first, whoever is at <body> has gone there.
  if (root.current?.contains(document.activeElement)) hadFocus.current = true;
  else if (isDrawn.current) hadFocus.current = false;
  isDrawn.current = false;
  useEffect(() => {
    isDrawn.current = true;
    if (hadFocus.current && document.activeElement === document.body) next()?.focus({ preventScroll: true });
  });
}
