// The page at /: the chart of a business by its token, the tag to paste, and the owner's part.
import { element, showDays, typedInto } from './dom.ts';
import { startOwner } from './owner.ts';
import type { UsageChart } from './usage-chart.ts';

for (const host of document.querySelectorAll('[data-host]')) host.textContent = location.origin;

for (const snippet of document.querySelectorAll('pre')) {
  const copy = document.createElement('button');
  copy.type = 'button';
  copy.textContent = 'Copy';
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(snippet.textContent);
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 2000);
  });
  const frame = document.createElement('div');
  frame.className = 'snippet';
  snippet.replaceWith(frame);
  frame.append(snippet, copy);
}

/** The chart that the build has put here: of the demo business in local development, else of none yet. */
const chart = element<UsageChart>('live');
const business = element<HTMLInputElement>('show-business');
const token = element<HTMLInputElement>('show-token');

function showTag(): void {
  for (const name of ['business', 'token'] as const) {
    const value = chart.getAttribute(name);
    const place = document.querySelector(`[data-tag=${name}]`);
    if (value !== null && place !== null) place.textContent = value;
  }
}

if (chart.hasAttribute('business')) {
  element('demo-note').hidden = false;
  business.value = chart.getAttribute('business') ?? '';
  token.value = chart.getAttribute('token') ?? '';
  showTag();
}
const form = element<HTMLFormElement>('show');
form.hidden = false;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  chart.setAttribute('business', typedInto('show-business'));
  chart.setAttribute('token', typedInto('show-token'));
  showDays(chart, 'show');
  chart.hidden = false;
  showTag();
});

startOwner();
