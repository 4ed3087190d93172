// Keeps rows and buttons in place while lists change, so the next click hits the intended target.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Returns every row listed since the view opened, by key, in the order of first appearance. */
export function useStableRows<T>(listed: readonly T[], keyOf: (row: T) => string): Map<string, T> {
  const { current: rows } = useRef(new Map<string, T>());
  for (const row of listed) rows.set(keyOf(row), row); // setting an existing key keeps its position
  return rows;
}

/**
 * Keeps the last pressed button in `root` at the same vertical position in the window until the next pointer, key, wheel or touch input. If
 * the button is in a list, keeps its row in place instead, because the row outlives the button. Returns a function that ends this. Call
 * that function before scrolling deliberately.
 */
export function useScrollAnchor(root: RefObject<HTMLElement | null>): () => void {
  const anchor = useRef<{ element: Element; top: number }>(null);
  const release = () => {
    anchor.current = null;
  };
  useEffect(() => {
    const hold = (event: Event) => {
      const presses = !(event instanceof KeyboardEvent) || event.key === 'Enter' || event.key === ' ';
      const button = presses && event.target instanceof Element ? event.target.closest('button') : null;
      const element = root.current?.contains(button) ? (button?.closest('li') ?? button) : null;
      anchor.current = element && { element, top: element.getBoundingClientRect().top };
    };
    const settle = () => {
      if (!anchor.current?.element.isConnected) return;
      const moved = anchor.current.element.getBoundingClientRect().top - anchor.current.top;
      if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: 'instant' });
    };
    const observer = new MutationObserver(settle); // called before the changes are painted
    observer.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
    const stop = new AbortController();
    const options = { capture: true, passive: true, signal: stop.signal };
    for (const type of ['pointerdown', 'keydown']) document.addEventListener(type, hold, options);
    for (const type of ['wheel', 'touchmove']) document.addEventListener(type, release, options);
    return () => {
      observer.disconnect();
      stop.abort();
    };
  }, []);
  return release;
}
