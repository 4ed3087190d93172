// The page at /: the address of this service in the examples, buttons that copy them, and a live chart.
import { copier } from './copy.ts';
import type { UsageChart } from './usage-chart.ts';

const find = <E extends Element>(selector: string): E => {
  const found = document.querySelector<E>(selector);
  if (found === null) throw new Error(`index.html has no ${selector}`);
  return found;
};

for (const host of document.querySelectorAll('[data-host]')) host.textContent = location.origin;

for (const button of document.querySelectorAll<HTMLButtonElement>('.copy')) {
  button.hidden = false;
  const copy = copier((outcome) => {
    button.textContent = outcome || 'Copy';
  });
  button.addEventListener('click', () => {
    const place = button.previousElementSibling;
    void copy(place?.textContent ?? '', place);
  });
}

/** In local development the build gives it the demo business; elsewhere it has none yet. */
const chart = find<UsageChart>('#live');
const form = find<HTMLFormElement>('#show');

function showTag(): void {
  for (const name of ['business', 'token'] as const) {
    const value = chart.getAttribute(name);
    if (value === null) continue;
    for (const place of document.querySelectorAll(`[data-tag=${name}]`)) place.textContent = value;
  }
}

if (chart.hasAttribute('business')) {
  find<HTMLElement>('#demo-note').hidden = false;
  showTag();
} else {
  form.hidden = false;
}
form.addEventListener('submit', (event) => {
  event.preventDefault();
  for (const name of ['business', 'token']) {
    chart.setAttribute(name, find<HTMLInputElement>(`#show-${name}`).value.trim());
  }
  chart.hidden = false;
  showTag();
});
