// <usage-chart business token from to base-url label unit compare>: the usage of a business as bars, on any page. It asks the
// service itself, or draws the `data` that a script gives it, and speaks the language of the page. If there is nothing to show,
// visitors are told so in a few plain words; the service's own message goes to the console and into the event.
import { dayOf } from '../core/time.ts';
import { stepOf, tableOf, tooltipOf } from './chart-parts.ts';
import { STYLE } from './chart-style.ts';
import { box, html, span } from './element.ts';
import { type Drawn, plot } from './plot.ts';
import {
  type Data,
  type Failed,
  type Loaded,
  noReport,
  originOf,
  periodOf,
  type ReportRequest,
  report,
} from './report.ts';
import { type Compare, changeOf, clamp, comparedWith, type Unit } from './scale.ts';
import { loadWords, WORDS, type Words, wordsIn } from './words.ts';

/** Each is an attribute; `baseUrl` is `base-url`. */
const REFLECTED = ['business', 'from', 'to', 'baseUrl', 'label', 'unit'] as const;
/** What is asked of the service. */
const ASKED = ['business', 'token', 'from', 'to', 'base-url'];
const SHOWN = ['label', 'dir', 'unit', ...WORDS.map((word) => `word-${word}`)];
const TOTAL_SCALE = 2.6; // 28 px and bold, against the 12 px of a label
const SERVICE = new URL(import.meta.url).origin;

const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);
const ink = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
const inkOf = (text: string) => ink.measureText(text).width;

function reflect(chart: UsageChart, attribute: string, value: unknown): void {
  if (value === null || value === undefined) chart.removeAttribute(attribute);
  else chart.setAttribute(attribute, `${value}`);
}

export interface UsageChart extends Record<Exclude<(typeof REFLECTED)[number], 'business'>, string | null> {
  get business(): string | null;
  set business(value: string | number | null);
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the loop below the class defines these properties
export class UsageChart extends HTMLElement {
  static readonly observedAttributes = [...ASKED, 'compare', 'lang', ...SHOWN];

  readonly #label = box('label');
  readonly #total = box('total');
  readonly #range = box('range');
  readonly #message = box('message');
  readonly #tip = box('tooltip');
  readonly #plot = box('plot', this.#message, this.#tip);
  readonly #table = html('div', { class: 'sr-only' });
  readonly #card = box(
    'card',
    html('div', { class: 'head' }, this.#label, this.#total, this.#range),
    this.#plot,
    this.#table,
  );
  readonly #resized = new ResizeObserver(() => this.#draw());
  readonly #translated = new MutationObserver(() => this.reload());

  #token: string | null = null;
  #data: Data | null = null;
  #asking = new AbortController();
  #frame = 0;
  #loading = false;
  #loaded: Loaded | null = null;
  #failed: Failed | null = null;
  #drawn: Drawn | null = null;
  #index = -1;
  #words!: Words;
  /** What a row of the table is. Null if the data or the words may have changed. */
  #listed: Unit | null = null;
  #isStale = true;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    root.append(this.#card);
    this.#message.role = 'status';
    this.#tip.ariaHidden = 'true';
    const plot = this.#plot;
    const point = ({ clientX }: PointerEvent) =>
      this.#mark(this.#drawn?.indexAt(clientX - plot.getBoundingClientRect().left) ?? -1);
    plot.onpointermove = plot.onpointerdown = point;
    plot.onpointerleave = plot.onblur = () => this.#mark(-1);
    plot.onkeydown = (event) => this.#press(event);
  }

  connectedCallback(): void {
    // Set by a script that ran before this module did.
    for (const name of [...REFLECTED, 'token', 'compare', 'data'] as const) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as { [key in typeof name]?: unknown })[name];
      (this as Record<typeof name, unknown>)[name] = value;
    }
    addEventListener('online', this.#online);
    this.#resized.observe(this.#plot);
    this.#translated.observe(document.documentElement, { attributeFilter: ['lang', 'dir'] });
    this.reload();
  }

  disconnectedCallback(): void {
    removeEventListener('online', this.#online);
    this.#resized.disconnect();
    this.#translated.disconnect();
    this.#asking.abort();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || (this.#data && ASKED.includes(name))) return;
    if (SHOWN.includes(name)) this.#renew();
    else this.reload();
  }

  get compare(): Compare | null {
    const value = this.getAttribute('compare');
    if (value === '' || value === 'true') return 'previous';
    return value === 'previous' || value === 'year' ? value : null;
  }
  /** The attribute keeps it as it is: frameworks pass on "false" as text, and "" where the attribute has no value. */
  set compare(value: Compare | 'off' | boolean | null) {
    reflect(this, 'compare', value === false ? null : value);
  }
  get token() {
    return this.#token ?? this.getAttribute('token');
  }
  /** Unlike the attribute, it stays out of the document. */
  set token(value: string | null) {
    this.#token = value;
    if (!this.#data) this.reload();
  }
  get data() {
    return this.#data;
  }
  /** The chart draws this and asks nobody, until it is null. */
  set data(value: Data | null) {
    this.#data = value;
    this.reload();
  }

  readonly #online = () => {
    if (this.#failed?.reason === 'offline') this.reload();
  };

  /** Asks the service again, once for all attributes that change in the same task. */
  reload(): void {
    if (!this.isConnected) return;
    this.#asking.abort();
    this.#asking = new AbortController();
    void this.#load(this.#asking.signal);
  }

  async #load(signal: AbortSignal): Promise<void> {
    await null; // the end of the task, where the last call has aborted all others
    if (signal.aborted) return;
    const data = this.#data;
    const base = originOf(this.baseUrl || SERVICE);
    this.#failed = null;
    this.#loading = true;
    this.#show();
    const words = loadWords(this.#language, base ?? SERVICE);
    if (!data && !this.business && !this.token) {
      // A script has yet to set the attributes or the data.
      this.#loaded = null;
      await words;
      if (!signal.aborted) this.#renew();
      return;
    }
    try {
      const request = data ? null : this.#request(base);
      const loaded: Loaded = periodOf(request ? await report(request, signal) : (data as Data).used);
      if (data?.before) loaded.before = periodOf(data.before);
      await words;
      if (signal.aborted) return;
      this.#put(loaded, null);
      if (!request) return;
      this.#tell('load', loaded);
      if (this.compare) await this.#compareWith({ ...request, ...comparedWith(loaded, this.compare) }, loaded, signal);
    } catch (error) {
      const failed = error as Failed;
      await words;
      if (signal.aborted) return;
      this.#put(null, failed);
      this.#complain(failed);
      this.#tell('error', failed);
    }
  }

  #request(base: string | null): ReportRequest {
    const { business, token, from, to } = this;
    if (business && token && base) return { base, business, token, from, to };
    const faults = (['business', 'token'] as const).filter((name) => !this[name]).map((name) => `${name} is missing`);
    if (!base) faults.push('base-url must be an origin, such as https://usage.example.com');
    throw noReport('attributes', faults.join('; '));
  }

  #put(loaded: Loaded | null, failed: Failed | null): void {
    this.#loaded = loaded;
    this.#failed = failed;
    this.#loading = false;
    this.#renew(); // the words of another language may have come
  }

  /** Comes after the current period, which never waits for it. A chart without it is better than none. */
  async #compareWith(request: ReportRequest, loaded: Loaded, signal: AbortSignal): Promise<void> {
    try {
      const before = periodOf(await report(request, signal));
      if (signal.aborted) return;
      loaded.before = before;
      this.#renew();
      this.#tell('load', loaded);
    } catch (error) {
      if (!signal.aborted) this.#complain(error as Failed);
    }
  }

  #tell(event: string, detail: Loaded | Failed): void {
    this.dispatchEvent(new CustomEvent(event, { detail: structuredClone(detail) }));
  }

  /** Tells the developer of the page in one line, without the token. */
  #complain({ status, message }: Failed): void {
    console.error(`<usage-chart business="${this.business}">: ${status ? `${status} ` : ''}${message}`);
  }

  /** The service counts by days in UTC. */
  get #today() {
    return this.#data?.today ?? dayOf(new Date());
  }

  get #language() {
    return this.closest<HTMLElement>('[lang]')?.lang || document.documentElement.lang || navigator.language;
  }

  /** Shows other data, or says them in other words. */
  #renew(): void {
    this.#listed = null;
    this.#show();
  }

  /** Shows the current state. */
  #show(): void {
    this.#isStale = true;
    this.#draw();
  }

  /** Draws in the next frame, once for all that changes until then. */
  #draw(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (!this.#listed) this.#words = wordsIn(this.#language, (attribute) => this.getAttribute(attribute));
      if (this.#isStale) this.#tellState(this.#words);
      this.#isStale = false;
      this.#redraw(this.#words);
    });
  }

  /** What was drawn before stays while it loads again. */
  #tellState(words: Words): void {
    const rightToLeft = this.matches(':dir(rtl)') || (words.rightToLeft && !this.closest('[dir]'));
    this.#card.dir = rightToLeft ? 'rtl' : 'ltr';
    this.#card.ariaBusy = `${this.#loading}`;
    const loaded = this.#loaded;
    const state = this.#failed ? 'refused' : this.#loading ? 'loading' : loaded?.total === 0 ? 'empty' : 'loaded';
    this.#card.dataset.state = state;
    this.#label.textContent = this.label;
    this.#message.textContent = state === 'empty' || state === 'loading' ? words.word(state) : '';
    if (this.#failed) this.#excuse(this.#failed, words);
    const plot = this.#plot;
    plot.role = loaded && 'slider'; // arrow keys move from value to value, and screen readers let them
    plot.tabIndex = loaded ? 0 : -1;
    plot.ariaLabel = loaded && [this.label, words.range(loaded.from, loaded.to)].filter(Boolean).join(' – ');
  }

  #redraw(words: Words): void {
    const loaded = this.#loaded;
    this.#drawn?.image.remove();
    this.#drawn = null;
    this.#total.replaceChildren();
    this.#range.replaceChildren();
    ink.font = `12px ${getComputedStyle(this.#plot).fontFamily}`;
    if (loaded) this.#head(loaded, words);
    const { clientWidth: width, clientHeight: height } = this.#plot;
    if (loaded && width > 0) {
      const { used, before } = loaded;
      const rightToLeft = this.#card.dir === 'rtl';
      const days = { used, before: before?.used ?? [], today: this.#today };
      const drawn = plot({ ...days, width, height, rightToLeft, inkOf }, words);
      this.#drawn = drawn;
      this.#plot.prepend(drawn.image);
      if (drawn.unit !== 'day') this.#range.children[0]?.after(' ', span('by', words.word(drawn.unit)));
      if (this.#listed !== drawn.unit)
        this.#table.replaceChildren(tableOf(drawn, this.#plot.ariaLabel as string, words, this.#today));
      this.#listed = drawn.unit;
    } else if (!loaded) this.#table.replaceChildren();
    this.#mark(this.#index);
  }

  #head({ from, to, total, used, before }: Loaded, { word, unit, number, compact, range, percent }: Words): void {
    const exact = number(total);
    const fits = inkOf(exact) * TOTAL_SCALE < this.#plot.clientWidth;
    this.#total.append(fits ? exact : compact(total), ' ', span('unit', unit(total)));
    this.#range.append(span('days', range(from, to)));
    const compared = before ?? (this.compare && comparedWith({ from, to }, this.compare));
    if (!compared) return;
    const counts = before ? `: ${number(before.total)}` : '';
    this.#range.append(' ', span('before', range(compared.from, compared.to) + counts));
    const change = before && changeOf(used, before.used, this.#today);
    if (change) this.#total.append(' ', span('change', span('sr-only', `${word('before')}: `), percent(change.change)));
  }

  /** Tells a visitor why there is no chart, with a button if trying again may help. */
  #excuse({ reason, status }: Failed, { word }: Words): void {
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

  #press(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey } = event;
    const last = (this.#drawn?.bars.length ?? 0) - 1;
    if (last < 0 || altKey || ctrlKey || metaKey) return;
    const step = stepOf(key, this.#card.dir === 'rtl' ? -1 : 1);
    if (step) this.#mark(clamp((this.#index < 0 && step < 0 ? last + 1 : this.#index) + step, last));
    else if (key === 'Escape') this.#mark(-1);
    else return;
    event.preventDefault();
  }

  /** Marks a bar, or none at -1, and shows its count beside it. */
  #mark(index: number): void {
    const drawn = this.#drawn;
    const bar = drawn?.bars[index];
    this.#index = bar ? index : -1;
    const told = bar ? tooltipOf(bar, this.#words, this.#today) : [this.#total.textContent];
    this.#plot.ariaValueNow = drawn && `${this.#index + 1}`;
    this.#plot.ariaValueMax = drawn && `${drawn.bars.length}`;
    this.#plot.ariaValueText = drawn && told.join(' – ');
    this.#tip.hidden = !bar;
    const at = drawn?.mark(this.#index);
    if (!bar || !at) return;
    this.#tip.replaceChildren(...told.map((text, i) => span(['count', 'days', 'before'][i] as string, text)));
    const { offsetWidth, offsetHeight, style } = this.#tip;
    const x = clamp(at.x - offsetWidth / 2, this.#plot.clientWidth - offsetWidth);
    const y = Math.max(at.y - offsetHeight - 8, -this.#plot.offsetTop); // inside the card
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

if (!customElements.get('usage-chart')) customElements.define('usage-chart', UsageChart);
