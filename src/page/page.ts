// The page at /: puts the service's origin into the examples, shows their copy buttons, and draws a live chart.
import { createCopier } from './copy.ts';
import type { Failed } from './report.ts';
import type { UsageChart } from './usage-chart.ts';

const find = <E extends Element>(selector: string): E => document.querySelector<E>(selector) as E;

for (const host of document.querySelectorAll('[data-host]')) host.textContent = location.origin;

for (const button of document.querySelectorAll<HTMLButtonElement>('.copy')) {
  button.hidden = false;
  const copy = createCopier((outcome) => {
    button.textContent = outcome || 'Copy';
  });
  button.addEventListener('click', () => {
    const snippet = button.previousElementSibling;
    void copy(snippet?.textContent ?? '', snippet);
  });
}

/** Shows the demo business in local development (src/tools/build.ts). */
const chart = find<UsageChart>('#live');
const form = find<HTMLFormElement>('#show');

function showTag(): void {
  for (const name of ['business', 'token'] as const) {
    const value = chart.getAttribute(name);
    if (value === null) continue;
    for (const place of document.querySelectorAll(`[data-tag=${name}]`)) place.textContent = value;
  }
}

form.hidden = chart.hasAttribute('business');
showTag();
form.addEventListener('submit', (event) => {
  event.preventDefault();
  for (const name of ['business', 'token']) {
    chart.setAttribute(name, find<HTMLInputElement>(`#show-${name}`).value.trim());
  }
  chart.hidden = false;
});
chart.addEventListener('load', showTag);
// A tag that the chart rejects must not be pasted, least of all with a secret key.
chart.addEventListener('error', (event: Event) => {
  if ((event as CustomEvent<Failed>).detail.reason !== 'attributes') showTag();
});
