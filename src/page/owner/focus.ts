// Where the focus goes when what had it is gone: never to <body>, from where the keyboard begins again at the top.
import { type RefObject, useLayoutEffect } from 'hono/jsx/dom';

/** If something within `root` has the focus and disappears, also because of what was done elsewhere, `next` gets the focus. */
export function useKeptFocus(root: RefObject<HTMLElement | null>, next: () => HTMLElement | null | undefined): void {
  const hadFocus = root.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (hadFocus && document.activeElement === document.body) next()?.focus({ preventScroll: true });
  });
}
