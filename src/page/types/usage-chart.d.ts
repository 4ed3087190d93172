// Types of <usage-chart> for TypeScript, React 19 and Vue 3. Copy this file into a folder that your project's tsconfig.json includes.

export type Day = { date: string; count: number };
export type Period = { from: string; to: string; total: number; used: Day[] };
/** The `load` event's `detail`. If `compare` is set, a second event adds `before`. */
export type Loaded = Period & { before?: Period };
/** Data for the chart to draw without sending a request. Day i of `before` is compared with day i of `used`. */
export type Data = {
  used: Day[];
  before?: Day[] | undefined;
  today?: string | undefined;
  /** A daily limit, drawn as a dashed line in charts of days. */
  limit?: { count: number; label: string } | undefined;
};
/** The compared period: the completed days moved back by the fewest whole weeks that avoid an overlap, or by 52 weeks. */
export type Compare = 'previous' | 'year';
/** The `error` event's `detail`. `status` is 0 if there was no response. `message` is for developers. */
export type Failed = {
  status: number;
  message: string;
  reason: 'service' | 'attributes' | 'csp' | 'offline' | 'network';
};

type Word = 'empty' | 'error' | 'failed' | 'offline' | 'retry' | 'loading' | 'today' | 'week' | 'month' | 'before';

export type UsageChartAttributes = {
  business?: string | number | undefined;
  token?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  label?: string | undefined;
  unit?: string | undefined;
  compare?: Compare | 'off' | boolean | undefined;
  by?: 'day' | 'week' | 'month' | undefined;
  'base-url'?: string | undefined;
} & { [word in `word-${Word}`]?: string | undefined };

type Events = Omit<HTMLElementEventMap, 'load' | 'error'> & {
  load: CustomEvent<Loaded>;
  error: CustomEvent<Failed>;
};

export interface UsageChart extends HTMLElement {
  get business(): string | null;
  set business(value: string | number | null);
  token: string | null;
  from: string | null;
  to: string | null;
  baseUrl: string | null;
  label: string | null;
  unit: string | null;
  by: string | null;
  get compare(): Compare | null;
  set compare(value: Compare | 'off' | boolean | null);
  data: Data | null;
  reload(): void;
  addEventListener<K extends keyof Events>(
    type: K,
    listener: (this: UsageChart, event: Events[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'usage-chart': UsageChart;
  }
}

/** React calls `onload` and `onerror`. `onLoad` and `onError` are React's own events, which custom elements do not support. */
type ReactProps = UsageChartAttributes & {
  baseUrl?: string | undefined;
  data?: Data | null | undefined;
  onload?: ((event: CustomEvent<Loaded>) => void) | undefined;
  onerror?: ((event: CustomEvent<Failed>) => void) | undefined;
  onLoad?: never;
  onError?: never;
};

// @ts-ignore: a project without React
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      // @ts-ignore
      'usage-chart': ReactProps & DetailedHTMLProps<HTMLAttributes<UsageChart>, UsageChart>;
    }
  }
}

type VueProps = UsageChartAttributes & {
  id?: string | undefined;
  class?: unknown;
  style?: unknown;
  baseUrl?: string | undefined;
  data?: Data | null | undefined;
  onLoad?: ((event: CustomEvent<Loaded>) => void) | undefined;
  onError?: ((event: CustomEvent<Failed>) => void) | undefined;
};

// @ts-ignore: a project without Vue
declare module 'vue' {
  interface GlobalComponents {
    'usage-chart': new () => UsageChart & { $props: VueProps };
  }
}
