// The copy buttons of both pages.
const COPIED_MS = 2000;
const FAILED_MS = 8000;

/** Copies text. Returns false if the page was loaded over plain http, where the clipboard is unavailable, or if the browser refuses. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns a function that copies text. It calls `show` with the outcome, and later with an empty string. If copying fails, it selects the
 * content of `source`, so the user can copy it with the keyboard.
 */
export function createCopier(show: (outcome: string) => void): (text: string, source: Element | null) => Promise<void> {
  let timer = 0;
  let latest = 0;
  return async (text, source) => {
    const press = ++latest;
    const copied = await copyText(text);
    if (press !== latest) return;
    if (!copied && source?.isConnected) getSelection()?.selectAllChildren(source);
    show(copied ? 'Copied' : 'Not copied. Text selected.');
    clearTimeout(timer);
    timer = window.setTimeout(() => show(''), copied ? COPIED_MS : FAILED_MS);
  };
}
