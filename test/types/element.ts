// A project without React and Vue: the element, its properties and its events are typed.
import type { Loaded } from '../../src/page/types/usage-chart.d.ts';

const chart = document.createElement('usage-chart');
chart.business = '1';
chart.business = 1;
const business: string | null = chart.business;
console.log(business);
chart.compare = true;
chart.compare = 'year';
const compared: 'previous' | 'year' | null = chart.compare;
console.log(compared);
chart.data = { used: [{ date: '2026-03-01', count: 1 }] };
chart.data = { used: [], before: [] };
chart.data = null;
chart.baseUrl = null;
chart.reload();
chart.addEventListener('load', ({ detail }) => {
  const { total, before }: Loaded = detail;
  console.log(total.toFixed(), before?.used[0]?.count);
});
chart.addEventListener('error', ({ detail }) => console.log(detail.status, detail.reason === 'csp'));
chart.addEventListener('click', ({ clientX }) => console.log(clientX));
document.querySelector('usage-chart')?.reload();

// @ts-expect-error: there is no such comparison
chart.compare = 'yes';
// @ts-expect-error: it has days
chart.data = {};
// @ts-expect-error: it is text, or a number that is set as text
chart.business.toFixed();
// @ts-expect-error: there is no such reason
chart.addEventListener('error', ({ detail }) => console.log(detail.reason === 'weather'));
// @ts-expect-error: there is no such property
chart.colour = 'red';
