// What a press of a copy button does, on both pages.
const COPIED_MS = 2000;
const REFUSED_MS = 8000;

/** A page that came by plain http has no clipboard, and a browser can refuse it. */
async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * `show` gets what came of it, and nothing a little later. What could not be copied is selected in `place`, which shows it: the usual
 * keys copy it then.
 */
export function copier(show: (outcome: string) => void): (text: string, place: Element | null) => Promise<void> {
  let timer = 0;
  let latest = 0;
  return async (text, place) => {
    latest += 1;
    const press = latest;
    const copied = await isCopied(text);
    if (press !== latest) return;
    if (!copied && place?.isConnected) getSelection()?.selectAllChildren(place);
    show(copied ? 'Copied' : 'Not copied: select the text');
    clearTimeout(timer);
    timer = window.setTimeout(() => show(''), copied ? COPIED_MS : REFUSED_MS);
  };
}
