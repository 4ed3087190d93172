// The types of <usage-chart> in this project. Other projects use types/usage-chart.d.ts.
import type { ClassAttributes } from 'preact';
import type { UsageChart } from './usage-chart.ts';

declare global {
  interface HTMLElementTagNameMap {
    'usage-chart': UsageChart;
  }
}

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'usage-chart': ClassAttributes<UsageChart> & { by: string };
    }
  }
}
