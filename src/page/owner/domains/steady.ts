// What was pressed stays where it is in the window, whatever appears or disappears above it: the next press at the same point must not
// meet something else.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type Held = { element: Element; top: number };

/**
 * Holds the button of `root` that was pressed last until the next touch, key or turn of the wheel; in a list its row, which stays
 * when the button does not. Call what it returns before bringing something else into sight.
 */
export function useSteady(root: RefObject<HTMLElement | null>): () => void {
  const held = useRef<Held>(null);
  const release = () => {
    held.current = null;
  };
  useEffect(() => {
    const hold = (event: Event) => {
      const presses = !(event instanceof KeyboardEvent) || event.key === 'Enter' || event.key === ' ';
      const button = presses && event.target instanceof Element ? event.target.closest('button') : null;
      const isHere = button !== null && root.current?.contains(button) === true;
      const element = isHere ? (button.closest('li') ?? button) : null;
      held.current = element && { element, top: element.getBoundingClientRect().top };
    };
    const settle = () => {
      if (!held.current?.element.isConnected) return;
      const moved = held.current.element.getBoundingClientRect().top - held.current.top;
      if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: 'instant' });
    };
    // Its callback comes before the changes are painted.
    const observer = new MutationObserver(settle);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
    const passive = { capture: true, passive: true };
    for (const type of ['pointerdown', 'keydown']) document.addEventListener(type, hold, passive);
    for (const type of ['wheel', 'touchmove']) document.addEventListener(type, release, passive);
    return () => {
      observer.disconnect();
      for (const type of ['pointerdown', 'keydown']) document.removeEventListener(type, hold, passive);
      for (const type of ['wheel', 'touchmove']) document.removeEventListener(type, release, passive);
    };
  }, []);
  return release;
}
