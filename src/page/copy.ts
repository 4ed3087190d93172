// What a press of a copy button does, on both pages.
const SHOWN_MS = 2000;

/** `show` gets what came of it, and nothing a little later. */
export function copier(show: (outcome: string) => void): (text: string) => Promise<void> {
  let timer = 0;
  return async (text) => {
    await navigator.clipboard.writeText(text).then(
      () => show('Copied'),
      () => show('Not copied: select the text'),
    );
    clearTimeout(timer);
    timer = window.setTimeout(() => show(''), SHOWN_MS);
  };
}
