// The element of this folder, by its name. Other projects take types/usage-chart.d.ts.
import type { UsageChart } from './usage-chart.ts';

declare global {
  interface HTMLElementTagNameMap {
    'usage-chart': UsageChart;
  }
}
