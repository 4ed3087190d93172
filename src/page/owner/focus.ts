// Keeps the focus from moving to <body> when the focused element disappears. Otherwise, keyboard navigation would restart at the top of the
// page.
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Focuses the result of `next` when a render removes the focused element from `root`. */
export function useFocusFallback(
  root: RefObject<HTMLElement | null>,
  next: () => HTMLElement | null | undefined,
): void {
  const focused = document.activeElement;
  const had = root.current?.contains(focused) ? focused : null;
  useLayoutEffect(() => {
    if (had?.isConnected === false && document.activeElement === document.body) next()?.focus({ preventScroll: true });
  });
}
