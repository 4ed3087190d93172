// <usage-chart business token from to base-url>: the usage of a business as daily bars, on any page. It asks the service by
// itself, and says in the service's own words why there is nothing to show.
import { STYLE } from './chart-style.ts';
import { type Plot, plot, wordsIn } from './plot.ts';
import type { Day } from './scale.ts';

const ATTRIBUTES = ['business', 'token', 'from', 'to', 'base-url'] as const;
const PROPERTIES = ['business', 'token', 'from', 'to', 'baseUrl'] as const;
const TIMEOUT_MS = 30_000;
const SERVICE = new URL(import.meta.url).origin;

const UNREACHABLE = 'The usage could not be loaded: the service cannot be reached.';
const ODD_ANSWER = 'The usage could not be loaded: the response of the service was unexpected.';
const INCOMPLETE = 'This chart needs the attributes business and token.';

/** What the event `load` tells. */
export type Loaded = { from: string; to: string; total: number; used: Day[] };
/** What the event `error` tells. `status` is 0 where no answer came. */
export type Failed = { status: number; message: string };

const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);

function html<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function usage(base: string, business: string, token: string, query: URLSearchParams, signal: AbortSignal) {
  const url = `${base}/api/v1/business/usage/${encodeURIComponent(business)}${query.size > 0 ? `?${query}` : ''}`;
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' };
  const answer = await fetch(url, { headers, credentials: 'omit', signal }).catch(() => {
    throw new Refusal(0, UNREACHABLE);
  });
  const body = await answer.json().catch(() => null);
  if (answer.ok && Array.isArray(body?.data?.used) && body.data.used.length > 0) return body.data.used as Day[];
  const said = typeof body?.message === 'string' && !answer.ok;
  throw new Refusal(answer.status, said ? body.message : ODD_ANSWER);
}

export class UsageChart extends HTMLElement {
  static readonly observedAttributes = ATTRIBUTES;

  readonly #total = html('p', { class: 'total', part: 'total' });
  readonly #range = html('p', { class: 'range', part: 'range' });
  readonly #tip = html('div', { class: 'tip', part: 'tooltip', 'aria-hidden': 'true', hidden: '' });
  readonly #message = html('div', { class: 'message', part: 'message', role: 'status' });
  readonly #plot = html('div', { class: 'plot', part: 'plot' }, this.#message, this.#tip);
  readonly #marked = html('p', { class: 'unseen', 'aria-live': 'polite' });
  readonly #table = html('div', { class: 'unseen' });
  readonly #card = html(
    'div',
    { class: 'card', part: 'card' },
    html('header', {}, this.#total, this.#range),
    this.#plot,
    this.#marked,
    this.#table,
  );
  readonly #resized = new ResizeObserver(() => this.#draw());

  #token: string | null = null;
  #asking: AbortController | null = null;
  #scheduled = false;
  #used: Day[] = [];
  #drawn: Plot | null = null;
  #index: number | null = null;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    root.append(this.#card);
    this.#plot.addEventListener('pointermove', (event) => this.#point(event));
    this.#plot.addEventListener('pointerdown', (event) => this.#point(event));
    this.#plot.addEventListener('pointerleave', () => this.#mark(null));
    this.#plot.addEventListener('blur', () => this.#mark(null));
    this.#plot.addEventListener('keydown', (event) => this.#press(event));
  }

  connectedCallback(): void {
    // Set by a script that ran before this module did.
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as { [key in typeof name]?: unknown })[name];
      this[name] = value;
    }
    this.#resized.observe(this.#plot);
    this.#schedule();
  }

  disconnectedCallback(): void {
    this.#resized.disconnect();
    this.#asking?.abort();
  }

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (before !== after) this.#schedule();
  }

  get business() {
    return this.getAttribute('business');
  }
  set business(value: string | null) {
    this.#reflect('business', value);
  }
  get from() {
    return this.getAttribute('from');
  }
  set from(value: string | null) {
    this.#reflect('from', value);
  }
  get to() {
    return this.getAttribute('to');
  }
  set to(value: string | null) {
    this.#reflect('to', value);
  }
  get baseUrl() {
    return this.getAttribute('base-url');
  }
  set baseUrl(value: string | null) {
    this.#reflect('base-url', value);
  }
  get token() {
    return this.#token ?? this.getAttribute('token');
  }
  /** Unlike the attribute it stays out of the document: an owner's page puts an API key here. */
  set token(value: string | null) {
    this.#token = value;
    this.#schedule();
  }

  #reflect(name: (typeof ATTRIBUTES)[number], value: string | null): void {
    if (value === null || value === undefined) this.removeAttribute(name);
    else this.setAttribute(name, value);
  }

  /** Asks the service again. */
  reload(): void {
    this.#schedule();
  }

  /** Attributes that are changed one after the other are one change. */
  #schedule(): void {
    if (this.#scheduled || !this.isConnected) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (this.isConnected) void this.#load();
    });
  }

  async #load(): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    const { business, token } = this;
    if (!business || !token) return this.#show('incomplete', INCOMPLETE);
    this.#show('loading', 'Loading…');
    const query = new URLSearchParams();
    for (const name of ['from', 'to'] as const) if (this[name]) query.set(name, this[name]);
    const base = (this.baseUrl ?? SERVICE).replace(/\/+$/, '');
    try {
      const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const used = await usage(base, business, token, query, signal);
      if (asking.signal.aborted) return;
      this.#loaded(used);
    } catch (error) {
      if (asking.signal.aborted) return;
      const { status, message } = error instanceof Refusal ? error : new Refusal(0, ODD_ANSWER);
      this.#refused(status, message);
    }
  }

  #loaded(used: Day[]): void {
    const words = this.#words();
    const total = used.reduce((sum, { count }) => sum + count, 0);
    const from = used[0]?.date ?? '';
    const to = used.at(-1)?.date ?? '';
    const range = words.range(from, to);
    this.#used = used;
    this.#total.replaceChildren(words.number(total), ' ', html('span', {}, total === 1 ? 'use' : 'uses'));
    this.#range.replaceChildren(range);
    this.#table.replaceChildren(this.#tabled(used, total, range));
    this.#show(
      total === 0 ? 'empty' : 'loaded',
      total === 0 ? `No usage ${used.length === 1 ? 'on this day' : `in these ${used.length} days`}.` : '',
    );
    this.#plot.tabIndex = 0;
    this.#plot.setAttribute('role', 'group');
    this.#plot.setAttribute('aria-roledescription', 'bar chart');
    this.#plot.setAttribute('aria-label', `${words.uses(total)}, ${range}. Arrow keys move from day to day.`);
    this.#draw();
    const detail: Loaded = { from, to, total, used: structuredClone(used) };
    this.dispatchEvent(new CustomEvent('load', { detail }));
  }

  #refused(status: number, message: string): void {
    this.#show('refused', message);
    // What another try can change: no answer, too many calls, a fault of the service.
    if (status === 0 || status === 429 || status >= 500) {
      const again = html('button', { type: 'button', part: 'retry' }, 'Try again');
      again.addEventListener('click', () => this.reload());
      this.#message.append(again);
    }
    const detail: Failed = { status, message };
    this.dispatchEvent(new CustomEvent('error', { detail }));
  }

  /** While it loads, what was drawn before stays. In any other state but `loaded` and `empty` there is no chart. */
  #show(state: 'loading' | 'loaded' | 'empty' | 'refused' | 'incomplete', message: string): void {
    this.#card.dataset.state = state;
    this.#card.setAttribute('aria-busy', `${state === 'loading'}`);
    this.#message.replaceChildren(...(message === '' ? [] : [html('p', {}, message)]));
    this.#mark(null);
    if (state !== 'refused' && state !== 'incomplete') return;
    this.#used = [];
    this.#draw();
    for (const part of [this.#total, this.#range, this.#table]) part.replaceChildren();
    for (const name of ['tabindex', 'role', 'aria-roledescription', 'aria-label']) this.#plot.removeAttribute(name);
  }

  #tabled(used: Day[], total: number, range: string): HTMLTableElement {
    const { longDay, number } = this.#words();
    const row = (name: string, count: number) =>
      html('tr', {}, html('th', { scope: 'row' }, name), html('td', {}, number(count)));
    const head = html('tr', {}, html('th', { scope: 'col' }, 'Day'), html('th', { scope: 'col' }, 'Uses'));
    return html(
      'table',
      {},
      html('caption', {}, `Uses per day, ${range}`),
      html('thead', {}, head),
      html('tbody', {}, ...used.map(({ date, count }) => row(longDay(date), count))),
      html('tfoot', {}, row('Total', total)),
    );
  }

  #words() {
    const language = this.closest<HTMLElement>('[lang]')?.lang || 'en';
    try {
      return wordsIn(language);
    } catch {
      return wordsIn('en');
    }
  }

  #draw(): void {
    this.#drawn?.image.remove();
    this.#drawn = null;
    const { clientWidth, clientHeight } = this.#plot;
    if (this.#used.length === 0 || clientWidth === 0) return;
    this.#drawn = plot(this.#used, clientWidth, clientHeight, this.#words());
    this.#plot.prepend(this.#drawn.image);
    this.#mark(this.#index);
  }

  #point(event: PointerEvent): void {
    if (this.#drawn === null) return;
    this.#mark(this.#drawn.indexAt(event.clientX - this.#plot.getBoundingClientRect().left));
  }

  #press(event: KeyboardEvent): void {
    const last = this.#used.length - 1;
    if (last < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const from = this.#index;
    const to: Record<string, number | null> = {
      ArrowLeft: Math.max(0, (from ?? last + 1) - 1),
      ArrowRight: Math.min(last, (from ?? -1) + 1),
      PageUp: Math.max(0, (from ?? last + 7) - 7),
      PageDown: Math.min(last, (from ?? -7) + 7),
      Home: 0,
      End: last,
      Escape: null,
    };
    const index = to[event.key];
    if (index === undefined) return;
    event.preventDefault();
    this.#mark(index);
    const day = index === null ? undefined : this.#used[index];
    const words = this.#words();
    this.#marked.textContent = day ? `${words.longDay(day.date)}: ${words.uses(day.count)}` : '';
  }

  /** Marks a day and tells its count beside it. */
  #mark(index: number | null): void {
    this.#index = index;
    const at = this.#drawn?.mark(index);
    const day = index === null ? undefined : this.#used[index];
    this.#tip.hidden = day === undefined || at === undefined;
    if (day === undefined || at === undefined) return;
    const words = this.#words();
    this.#tip.replaceChildren(html('b', {}, words.uses(day.count)), html('span', {}, words.longDay(day.date)));
    const { offsetWidth, offsetHeight } = this.#tip;
    const x = Math.min(Math.max(0, at.x - offsetWidth / 2), this.#plot.clientWidth - offsetWidth);
    const y = at.y - offsetHeight - 8;
    this.#tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'usage-chart': UsageChart;
  }
}

if (customElements.get('usage-chart') === undefined) customElements.define('usage-chart', UsageChart);
