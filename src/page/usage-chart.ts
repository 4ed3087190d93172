// <usage-chart business token from to base-url label unit compare>: draws a business's usage on any page, in that page's language. Fetches
// the report, or draws the `data` that a script sets. If there is nothing to draw, visitors see a short message. The service's own message
// is logged to the browser console and included in the `error` event.
import { addDays, dayOf, type Range } from '../core/time.ts';
import { createTable, keyStep, tooltipLines } from './chart-parts.ts';
import { STYLE } from './chart-style.ts';
import { box, html, span } from './element.ts';
import { type Drawn, plot } from './plot.ts';
import {
  type Data,
  type Failed,
  fetchReport,
  type Loaded,
  originOf,
  periodOf,
  type ReportRequest,
  requestOf,
} from './report.ts';
import {
  type Compare,
  changeIn,
  clamp,
  comparedWith,
  fullDays,
  SHOWN_DAYS,
  sum,
  summaryOf,
  UNITS,
  type Unit,
} from './scale.ts';
import { loadWords, WORDS, type Words, wordsIn } from './words.ts';

/** The properties that reflect an attribute. `baseUrl` reflects `base-url`. */
const REFLECTED = ['business', 'from', 'to', 'baseUrl', 'label', 'unit', 'by'] as const;
/** The attributes that the request depends on. */
const REQUESTED = ['business', 'token', 'from', 'to', 'base-url'];
const DISPLAYED = ['label', 'dir', 'unit', 'by', ...WORDS.map((word) => `word-${word}`)];
const TOTAL_SCALE = 2.6; // the width of bold 28 px text relative to a 12 px label
/** How long a chart without attributes waits for a script before it says that they are missing. */
const PATIENCE_MS = 3000;
const SERVICE = new URL(import.meta.url).origin;

type Summary = ReturnType<typeof summaryOf>;

function reflect(chart: UsageChart, attribute: string, value: unknown): void {
  if (value === null || value === undefined) chart.removeAttribute(attribute);
  else chart.setAttribute(attribute, `${value}`);
}

export interface UsageChart extends Record<Exclude<(typeof REFLECTED)[number], 'business'>, string | null> {
  get business(): string | null;
  set business(value: string | number | null);
}

// A server that renders pages can import this module, although it has no elements.
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the loop below the class defines these properties
export class UsageChart extends (globalThis.HTMLElement ?? Object) {
  static readonly observedAttributes = [...REQUESTED, 'compare', 'lang', ...DISPLAYED];

  readonly #label = box('label');
  readonly #total = box('total');
  readonly #range = box('range');
  readonly #message = box('message');
  readonly #tooltip = box('tooltip');
  readonly #plot = box('plot', this.#message, this.#tooltip);
  readonly #table = html('div', { class: 'sr-only' });
  readonly #card = box(
    'card',
    html('div', { class: 'head' }, this.#label, this.#total, this.#range),
    this.#plot,
    this.#table,
  );
  readonly #canvas = html('canvas', {}).getContext('2d') as CanvasRenderingContext2D;
  readonly #textWidth = (text: string) => this.#canvas.measureText(text).width;
  readonly #resizeObserver = new ResizeObserver(() => this.#scheduleDraw());
  readonly #languageObserver = new MutationObserver(() => this.reload());

  #token: string | null = null;
  #data: Data | null = null;
  #abort = new AbortController();
  #frame = 0;
  #loading = false;
  #loaded: Loaded | null = null;
  /** Whether there is nothing to compare with. */
  #hasNoBefore = false;
  #failed: Failed | null = null;
  #drawn: Drawn | null = null;
  #index = -1;
  #words!: Words;
  /** The unit of the table's rows, or null if the table is outdated. */
  #tableUnit: Unit | null = null;
  #isStale = true;

  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).append(this.#card);
    this.#message.role = 'status';
    this.#tooltip.ariaHidden = 'true';
    const plot = this.#plot;
    const point = ({ clientX }: PointerEvent) => {
      // An ancestor may scale the chart.
      const { left, width } = plot.getBoundingClientRect();
      this.#mark(this.#drawn?.indexAt(((clientX - left) * plot.clientWidth) / width) ?? -1);
    };
    plot.onpointermove = plot.onpointerdown = point;
    plot.onpointerleave = plot.onblur = () => this.#mark(-1);
    plot.onkeydown = (event) => this.#onKeyDown(event);
  }

  connectedCallback(): void {
    // Upgrades properties that a script set before this module ran.
    for (const name of [...REFLECTED, 'token', 'compare', 'data'] as const) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as { [key in typeof name]?: unknown })[name];
      (this as Record<typeof name, unknown>)[name] = value;
    }
    this.#adoptStyle();
    addEventListener('online', this.#retryOnline);
    this.#resizeObserver.observe(this.#plot);
    this.#languageObserver.observe(this.ownerDocument.documentElement, { attributeFilter: ['lang', 'dir'] });
    this.reload();
  }

  /** Called by `moveBefore` in place of the other two: keeps what is drawn, in the language of its new place. */
  connectedMoveCallback(): void {
    void loadWords(this.#language, originOf(this.baseUrl || SERVICE) ?? SERVICE).then(() => this.#invalidate());
  }

  disconnectedCallback(): void {
    removeEventListener('online', this.#retryOnline);
    this.#resizeObserver.disconnect();
    this.#languageObserver.disconnect();
    this.#abort.abort();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || (this.#data && REQUESTED.includes(name))) return;
    if (DISPLAYED.includes(name)) this.#invalidate();
    else this.reload();
  }

  get #window() {
    return this.ownerDocument.defaultView ?? window;
  }

  /** A style sheet belongs to one document, and a chart that moves to another loses it. */
  #adoptStyle(): void {
    const root = this.shadowRoot as ShadowRoot;
    if (root.adoptedStyleSheets.length > 0) return;
    const sheet = new this.#window.CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
  }

  get compare(): Compare | null {
    const value = this.getAttribute('compare');
    if (value === '' || value === 'true') return 'previous';
    return value === 'previous' || value === 'year' ? value : null;
  }
  /** Reflects a string unchanged, because frameworks pass "false" as text, and "" for an attribute without a value. */
  set compare(value: Compare | 'off' | boolean | null) {
    reflect(this, 'compare', value === false ? null : value);
  }
  get token() {
    return this.#token ?? this.getAttribute('token');
  }
  /** Unlike the attribute, the property keeps the token out of the document. */
  set token(value: string | null) {
    this.#token = value;
    if (!this.#data) this.reload();
  }
  get data() {
    return this.#data;
  }
  /** Draws this data without a request. */
  set data(value: Data | null) {
    this.#data = value;
    this.reload();
  }

  readonly #retryOnline = () => {
    if (this.#failed?.reason === 'offline') this.reload();
  };

  /** Fetches the report, once for all attributes that change in the same task. */
  reload(): void {
    if (!this.isConnected) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    void this.#load(this.#abort.signal);
  }

  async #load(signal: AbortSignal): Promise<void> {
    await null; // later calls in this task run first, and abort this one
    if (signal.aborted) return;
    const data = this.#data;
    const base = originOf(this.baseUrl || SERVICE);
    this.#failed = null;
    this.#hasNoBefore = false;
    this.#loading = true;
    this.#show();
    const words = loadWords(this.#language, base ?? SERVICE);
    if (!data && !this.business && !this.token) {
      // A script may set the attributes or the data later.
      this.#loaded = null;
      await words;
      if (!signal.aborted) this.#invalidate();
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
      if (signal.aborted) return;
    }
    try {
      const request = data ? null : requestOf(this, base);
      let used = request ? await fetchReport(request, signal) : (data as Data).used;
      // The service's report has more days than the chart shows by default, which are those of the console.
      if (request && !request.from && !request.to) used = used.slice(-1 - SHOWN_DAYS);
      // A day that has just begun would look like a drop.
      if (request && used.length > 1 && used.at(-1)?.date === this.#today && used.at(-1)?.count === 0) used.pop();
      const loaded: Loaded = periodOf(used);
      if (data?.before) loaded.before = periodOf(data.before);
      await words;
      if (signal.aborted) return;
      this.#settle(loaded, null);
      if (!request) return;
      this.#emit('load', loaded);
      const full = fullDays(loaded, this.#today);
      if (this.compare && full) await this.#compareWith(request, comparedWith(full, this.compare), loaded, signal);
    } catch (error) {
      const failed = error as Failed;
      await words;
      if (signal.aborted) return;
      this.#settle(null, failed);
      this.#logError(failed);
      this.#emit('error', failed);
    }
  }

  #settle(loaded: Loaded | null, failed: Failed | null): void {
    this.#loaded = loaded;
    this.#failed = failed;
    this.#loading = false;
    this.#invalidate(); // the words of another language may have been loaded
  }

  /**
   * Adds the comparison after the current period is drawn. If that fails, the chart shows no comparison, and neither if there were no uses in
   * the week up to the first compared day: the business may have begun later.
   */
  async #compareWith(request: ReportRequest, { from, to }: Range, loaded: Loaded, signal: AbortSignal): Promise<void> {
    try {
      const days = await fetchReport({ ...request, from: addDays(from, -7), to }, signal);
      if (signal.aborted) return;
      this.#hasNoBefore = sum(days.slice(0, 8)) === 0;
      if (this.#hasNoBefore) return this.#invalidate();
      loaded.before = periodOf(days.slice(7));
      this.#invalidate();
      this.#emit('load', loaded);
    } catch (error) {
      if (!signal.aborted) this.#logError(error as Failed);
    }
  }

  #emit(event: string, detail: Loaded | Failed): void {
    this.dispatchEvent(new CustomEvent(event, { detail: structuredClone(detail) }));
  }

  /** Logs one line for the page's developer, without the token. */
  #logError({ status, message }: Failed): void {
    console.error(`<usage-chart business="${this.business}">: ${status ? `${status} ` : ''}${message}`);
  }

  /** The service counts uses by UTC day. */
  get #today() {
    return this.#data?.today ?? dayOf(new Date());
  }

  get #language() {
    return this.closest<HTMLElement>('[lang]')?.lang || this.ownerDocument.documentElement.lang || navigator.language;
  }

  /** Redraws everything after the data or the wording changes. */
  #invalidate(): void {
    this.#tableUnit = null;
    this.#show();
  }

  /** Redraws after the state changes. */
  #show(): void {
    this.#isStale = true;
    this.#scheduleDraw();
  }

  /** Draws in the next frame, once for all changes made before that frame. */
  #scheduleDraw(): void {
    this.#frame ||= this.#window.requestAnimationFrame(() => {
      this.#frame = 0;
      if (!this.#tableUnit) this.#words = wordsIn(this.#language, (attribute) => this.getAttribute(attribute));
      const summary = summaryOf(this.#loaded?.used ?? [], this.#loaded?.before?.used ?? [], this.#today);
      if (this.#isStale) this.#showState(this.#words, summary);
      this.#isStale = false;
      this.#draw(this.#words, summary);
    });
  }

  /** Leaves the previous drawing in place while loading. */
  #showState(words: Words, { earlier }: Summary): void {
    const rightToLeft = this.matches(':dir(rtl)') || (words.rightToLeft && !this.closest('[dir]'));
    this.#card.dir = rightToLeft ? 'rtl' : 'ltr';
    this.#card.ariaBusy = `${this.#loading}`;
    const loaded = this.#loaded;
    const isEmpty = loaded?.total === 0 && earlier === 0; // otherwise, the message would cover the compared days
    const state = this.#failed ? 'refused' : this.#loading ? 'loading' : isEmpty ? 'empty' : 'loaded';
    this.#card.dataset.state = state;
    this.#label.textContent = this.label;
    this.#message.textContent = state === 'empty' || state === 'loading' ? words.word(state) : '';
    if (this.#failed) this.#showFailure(this.#failed, words);
    const plot = this.#plot;
    plot.role = loaded && 'slider'; // arrow keys move between values, and screen readers pass these keys on to a slider
    plot.tabIndex = loaded ? 0 : -1;
    plot.ariaLabel = loaded && [this.label, words.range(loaded.from, loaded.to)].filter(Boolean).join(' – ');
  }

  #draw(words: Words, summary: Summary): void {
    const loaded = this.#loaded;
    this.#drawn?.image.remove();
    this.#drawn = null;
    this.#total.replaceChildren();
    this.#range.replaceChildren();
    this.#canvas.font = `12px ${getComputedStyle(this.#plot).fontFamily}`;
    if (loaded) this.#drawHead(loaded, summary, words);
    const width = this.#plot.clientWidth;
    if (loaded && width > 0) {
      const rightToLeft = this.#card.dir === 'rtl';
      const days = { used: loaded.used, before: summary.compared, today: this.#today };
      const by = UNITS.find((unit) => unit === this.by) ?? 'day';
      const limit = this.#data?.limit;
      const given = { ...days, by, limit, width, rightToLeft, textWidth: this.#textWidth };
      const draw = () => plot({ ...given, height: this.#plot.clientHeight }, words);
      let drawn = draw();
      if (drawn.unit !== 'day') {
        this.#range.children[0]?.after(' ', span('by', words.word(drawn.unit)));
        drawn = draw(); // the head may have wrapped onto another line
      }
      this.#drawn = drawn;
      this.#plot.prepend(drawn.image);
      if (this.#tableUnit !== drawn.unit)
        this.#table.replaceChildren(createTable(drawn, this.#plot.ariaLabel as string, words, this.#today));
      this.#tableUnit = drawn.unit;
    } else if (!loaded) this.#table.replaceChildren();
    this.#mark(this.#index);
  }

  /** The total, the percentage and the compared total cover the same days, so that they agree. */
  #drawHead(loaded: Loaded, { total, soFar, compared, earlier }: Summary, words: Words): void {
    const { word, number, range } = words;
    const days = fullDays(loaded, this.#today);
    const shown = days ? total : soFar;
    const exact = number(shown);
    const fits = this.#textWidth(exact) * TOTAL_SCALE < this.#plot.clientWidth;
    this.#total.append(fits ? exact : words.compact(shown), ' ', span('unit', words.unit(shown)));
    this.#range.append(span('days', range(loaded.from, (days ?? loaded).to)));
    const [first, end] = [compared[0]?.date, compared.at(-1)?.date];
    const compare = this.#hasNoBefore ? null : this.compare;
    const expected = first && end ? { from: first, to: end } : days && compare && comparedWith(days, compare);
    const counts = first ? `: ${number(earlier)} (${words.days(compared.length)})` : '';
    if (expected)
      this.#range.append(' ', span('before', `${word('before')} ${range(expected.from, expected.to)}${counts}`));
    const change = changeIn(total, earlier, words);
    if (change) this.#total.append(' ', span('change', change));
    if (soFar > 0)
      this.#total.append(' ', span('so-far', `${days ? `+${number(soFar)} ` : ''}${words.now} ${word('today')}`));
  }

  /** Shows visitors why there is no chart, with a button if a retry may help. */
  #showFailure({ reason, status }: Failed, { word }: Words): void {
    const refused = /attributes|csp/.test(reason) || (status >= 400 && status < 500 && status !== 429);
    this.#message.textContent = word(refused ? 'error' : reason === 'offline' ? reason : 'failed');
    if (refused) return;
    const retry = html('button', { type: 'button', part: 'retry' }, word('retry'));
    retry.onclick = () => {
      this.#plot.focus(); // the button is about to disappear
      this.reload();
    };
    this.#message.append(retry);
  }

  #onKeyDown(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey } = event;
    const last = (this.#drawn?.bars.length ?? 0) - 1;
    if (last < 0 || altKey || ctrlKey || metaKey) return;
    const step = keyStep(key, this.#card.dir === 'rtl' ? -1 : 1);
    if (step) this.#mark(clamp((this.#index < 0 && step < 0 ? last + 1 : this.#index) + step, last));
    else if (key === 'Escape') this.#mark(-1);
    else return;
    event.preventDefault();
  }

  /** Marks a bar and shows its tooltip, or clears the mark if the index is -1. */
  #mark(index: number): void {
    const drawn = this.#drawn;
    const bar = drawn?.bars[index];
    this.#index = bar ? index : -1;
    const lines = bar ? tooltipLines(bar, this.#words, this.#today) : [this.#total.textContent];
    this.#plot.ariaValueNow = drawn && `${this.#index + 1}`;
    this.#plot.ariaValueMax = drawn && `${drawn.bars.length}`;
    this.#plot.ariaValueText = drawn && lines.join(' – ');
    this.#tooltip.hidden = !bar;
    const at = drawn?.mark(this.#index);
    if (!bar || !at) return;
    this.#tooltip.replaceChildren(...lines.map((text, i) => span(['count', 'days', 'before'][i] as string, text)));
    const { offsetWidth, offsetHeight, style } = this.#tooltip;
    const x = clamp(at.x - offsetWidth / 2, this.#plot.clientWidth - offsetWidth);
    const y = Math.max(at.y - offsetHeight - 8, -this.#plot.offsetTop); // keeps the tooltip inside the card
    style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}

for (const name of REFLECTED) {
  const attribute = name === 'baseUrl' ? 'base-url' : name;
  Object.defineProperty(UsageChart.prototype, name, {
    get(this: UsageChart) {
      return this.getAttribute(attribute);
    },
    set(this: UsageChart, value: unknown) {
      reflect(this, attribute, value);
    },
  });
}

const registry = globalThis.customElements;
if (!registry?.get('usage-chart')) registry?.define('usage-chart', UsageChart);
