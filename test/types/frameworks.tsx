// The element's attributes and events in React 19 and in Vue 3 templates.
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
declare const range: { from?: string; to?: string };
export const given = <usage-chart data={{ used: [{ date: '2026-03-01', count: 1 }] }} compare="year" />;
export const partial = <usage-chart business="1" token="bua_pk_" compare={false} from={range.from} to={range.to} />;
// @ts-expect-error: React never calls onLoad
export const silent = <usage-chart business={1} onLoad={() => {}} />;
// @ts-expect-error: React never calls onError
export const silentToo = <usage-chart business={1} onError={() => {}} />;
// @ts-expect-error: not a comparison
export const text = <usage-chart business={1} compare="decade" />;
// @ts-expect-error: not an attribute
export const wrong = <usage-chart colour="red" />;

type Vue = InstanceType<GlobalComponents['usage-chart']>['$props'];
export const vue: Vue = {
  business: 1,
  token: 'bua_pk_',
  compare: 'previous',
  data: null,
  'word-empty': 'No orders yet.',
  class: ['wide'],
  onLoad: ({ detail }) => console.log(detail.total),
};
export const vuePartial: Vue = { business: '1', from: range.from, onError: ({ detail }) => console.log(detail.reason) };
// @ts-expect-error: not a comparison
export const odd: Vue = { compare: 'yes' };
export const element: UsageChart | null = document.querySelector('usage-chart');
