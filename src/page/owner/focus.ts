// Where the focus goes when what had it is gone: never to <body>, from where the keyboard begins again at the top.
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** If something within `root` has the focus and disappears, also because of what was done elsewhere, `next` gets the focus. */
export function useKeptFocus(root: RefObject<HTMLElement | null>, next: () => HTMLElement | null | undefined): void {
  const focused = document.activeElement;
  const had = root.current?.contains(focused) ? focused : null;
  useLayoutEffect(() => {
    if (had?.isConnected === false && document.activeElement === document.body) next()?.focus({ preventScroll: true });
  });
}
