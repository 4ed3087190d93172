// Uses the console by keyboard only, and counts key presses and requests. Typing any text counts as one press.
import type { Page, Request } from 'playwright-core';

/** Returns the name of the focused element. */
const NAME = `(() => {
  const element = document.activeElement;
  const label = element.labels?.[0]?.innerText ?? '';
  return (element.getAttribute('aria-label') || label || element.innerText || element.id || element.tagName).trim();
})()`;

export function keyboardOn(page: Page) {
  const counts = { presses: 0, requests: 0 };
  const pending = new Set<Request>();
  let quietSince = 0;
  page.on('request', (request) => {
    if (!request.url().includes('/api/')) return;
    counts.requests += 1;
    pending.add(request);
    quietSince = Date.now();
  });
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  const focused = (): Promise<string> => page.evaluate(NAME);
  async function press(...keys: string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
    counts.presses += keys.length;
  }
  async function type(text: string): Promise<void> {
    await page.keyboard.type(text);
    counts.presses += 1;
  }
  /** Presses Tab, or another key, until an element with this name has the focus. */
  async function goTo(name: RegExp, key = 'Tab'): Promise<void> {
    const passed: string[] = [];
    for (let times = 0; times < 120; times++) {
      await press(key);
      const at = await focused();
      if (name.test(at)) return;
      passed.push(at.slice(0, 30));
    }
    throw new Error(`${key} does not reach ${name}, only ${passed.join(' | ')}`);
  }
  /** Waits until no request is pending and, for half a second from now on, none is sent: a page may send one a while after a key. */
  async function quiet(): Promise<void> {
    quietSince = Date.now();
    do await page.waitForTimeout(50);
    while (pending.size > 0 || Date.now() - quietSince < 500);
  }
  /** Returns the counts since the last call, and resets them. */
  function counted() {
    const { presses, requests } = counts;
    Object.assign(counts, { presses: 0, requests: 0 });
    return { presses, requests };
  }
  return { press, type, goTo, focused, quiet, counted };
}
