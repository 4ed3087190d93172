// The element, its properties and its events are typed in a project without React or Vue.
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

// @ts-expect-error: not a comparison
chart.compare = 'yes';
// @ts-expect-error: `used` is missing
chart.data = {};
// @ts-expect-error: a number is read back as text
chart.business.toFixed();
// @ts-expect-error: not a reason
chart.addEventListener('error', ({ detail }) => console.log(detail.reason === 'weather'));
// @ts-expect-error: not a property
chart.colour = 'red';
