// The keyboard shortcut “/” focuses the search, from any view.
import { useEffect } from 'preact/hooks';
import type { ListMemory } from '../session.ts';

export const SEARCH_ID = 'businesses-search';

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, select, textarea'));

/** `memory` is null without a session. In other views, the shortcut opens the list, which then focuses its search. */
export function useSearchKey(memory: ListMemory | null): void {
  useEffect(() => {
    if (memory === null) return;
    const press = (event: KeyboardEvent) => {
      if (event.key !== '/') return;
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      if (isField(event.target) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      const field = document.getElementById(SEARCH_ID);
      if (field instanceof HTMLInputElement) {
        field.focus(); // selecting alone would not scroll to it
        return field.select();
      }
      memory.isSearching = true;
      location.hash = memory.href;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [memory]);
}
