// The element and its events are typed in a project without React or Vue. same.ts compares the types of its properties.
import type { Loaded } from '../../src/page/types/usage-chart.d.ts';

const chart = document.createElement('usage-chart');
chart.business = 1;
chart.reload();
chart.addEventListener('load', ({ detail }) => {
  const { total, before }: Loaded = detail;
  console.log(total.toFixed(), before?.used[0]?.count);
});
chart.addEventListener('error', ({ detail }) => console.log(detail.status, detail.reason === 'csp'));
chart.addEventListener('click', ({ clientX }) => console.log(clientX));
document.querySelector('usage-chart')?.reload();

// @ts-expect-error: not a reason
chart.addEventListener('error', ({ detail }) => console.log(detail.reason === 'weather'));
// @ts-expect-error: not a property
chart.colour = 'red';
