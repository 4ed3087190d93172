// Somebody who uses the console by keyboard alone, and counts the presses and the requests. Text that is typed counts as one press.
import type { Page, Request } from 'playwright-core';

/** What the element with the focus is called. */
const NAME = `(() => {
  const element = document.activeElement;
  const label = element.labels?.[0]?.innerText ?? '';
  return (element.getAttribute('aria-label') || label || element.innerText || element.id || element.tagName).trim();
})()`;

export function keyboardOn(page: Page) {
  const counts = { presses: 0, requests: 0 };
  const underWay = new Set<Request>();
  let askedAt = 0;
  page.on('request', (request) => {
    if (!request.url().includes('/api/')) return;
    counts.requests += 1;
    underWay.add(request);
    askedAt = Date.now();
  });
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  const focused = (): Promise<string> => page.evaluate(NAME);
  async function press(...keys: string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
    counts.presses += keys.length;
  }
  async function type(text: string): Promise<void> {
    await page.keyboard.type(text);
    counts.presses += 1;
  }
  /** Presses Tab, or another key, until what has the focus has this name. */
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
  /** Waits until every request is answered, and there was none for half a second. */
  async function quiet(): Promise<void> {
    do await page.waitForTimeout(50);
    while (underWay.size > 0 || Date.now() - askedAt < 500);
  }
  /** What was counted since the last time, and begins to count anew. */
  function counted() {
    const { presses, requests } = counts;
    Object.assign(counts, { presses: 0, requests: 0 });
    return { presses, requests };
  }
  return { press, type, goTo, focused, quiet, counted };
}
