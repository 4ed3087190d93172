// The attributes and events of the element in React 19, and as the templates of Vue 3 see them.
import type { GlobalComponents } from 'vue';
import type { UsageChart } from '../../src/page/types/usage-chart.d.ts';

export const react = (
  <usage-chart
    business={1}
    token="bua_pk_"
    label="Orders"
    unit="order|orders"
    compare
    word-empty="No orders yet."
    className="wide"
    lang="de"
    ref={(chart) => chart?.reload()}
    onload={({ detail }) => console.log(detail.total)}
    onerror={({ detail }) => console.log(detail.message)}
  />
);
// @ts-expect-error: no such attribute
export const wrong = <usage-chart colour="red" />;

type Vue = InstanceType<GlobalComponents['usage-chart']>['$props'];
export const vue: Vue = {
  business: 1,
  token: 'bua_pk_',
  compare: true,
  'word-empty': 'No orders yet.',
  class: ['wide'],
  onLoad: ({ detail }) => console.log(detail.total),
};
// @ts-expect-error: it is a boolean
export const odd: Vue = { compare: 'yes' };
export const element: UsageChart | null = document.querySelector('usage-chart');
