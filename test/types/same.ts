// The published types equal the element's own types.

import type { Data, Failed, Loaded } from '../../src/page/report.ts';
import type * as served from '../../src/page/types/usage-chart.d.ts';
import type { UsageChart } from '../../src/page/usage-chart.ts';
import type { WORDS } from '../../src/page/words.ts';

type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Own<T> = Omit<
  T,
  keyof HTMLElement | `${'connected' | 'connectedMove' | 'disconnected' | 'attributeChanged'}Callback`
>;
type Word = Exclude<(typeof WORDS)[number], 'unit'>;

export const properties: Same<Own<UsageChart>, Own<served.UsageChart>> = true;
export const loaded: Same<Loaded, served.Loaded> = true;
export const data: Same<Data, served.Data> = true;
export const failed: Same<Failed, served.Failed> = true;
export const words: Same<`word-${Word}`, Extract<keyof served.UsageChartAttributes, `word-${string}`>> = true;
