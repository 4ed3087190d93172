// <usage-chart business token from to base-url label unit compare>: the usage of a business as bars, on any page. It asks the
// service itself, and speaks the language of the page. If there is nothing to show, visitors are told so in a few plain words;
// the service's own message goes to the console and into the event.
import { addDays } from '../core/time.ts';
import { daysOf, tableOf, today } from './chart-parts.ts';
import { STYLE } from './chart-style.ts';
import { box, html, span } from './element.ts';
import { type Drawn, plot } from './plot.ts';
import { type Failed, noReport, type ReportRequest, report } from './report.ts';
import { clamp, type Day, sum } from './scale.ts';
import { loadWords, WORDS, type Words, wordsIn } from './words.ts';

/** Each is an attribute; `baseUrl` is `base-url`. */
const REFLECTED = ['business', 'from', 'to', 'baseUrl', 'label', 'unit'] as const;
const ASKED = ['business', 'token', 'from', 'to', 'base-url', 'compare', 'lang'];
const SHOWN = ['label', 'dir', 'unit', ...WORDS.map((word) => `word-${word}`)];
const SERVICE = new URL(import.meta.url).origin;

type Period = { from: string; to: string; total: number; used: Day[] };
/** The detail of the event `load`. `before` is set if the period before is compared. */
export type Loaded = Period & { before?: Period };

const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);

const periodOf = (used: Day[]): Period => ({
  from: (used[0] as Day).date,
  to: (used.at(-1) as Day).date,
  total: sum(used),
  used,
});

/** Null if it is anything else than an origin, with or without a slash behind it. */
function originOf(url: string): string | null {
  try {
    const { origin, href } = new URL(url);
    return href === `${origin}/` ? origin : null;
  } catch {
    return null;
  }
}

const daysBefore = ({ from, used }: Period) => ({ from: addDays(from, -used.length), to: addDays(from, -1) });

function reflect(chart: UsageChart, attribute: string, value: string | null | undefined): void {
  if (value === null || value === undefined) chart.removeAttribute(attribute);
  else chart.setAttribute(attribute, value);
}

export interface UsageChart extends Record<Exclude<(typeof REFLECTED)[number], 'business'>, string | null> {
  get business(): string | null;
  set business(value: string | number | null);
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the loop below the class defines these properties
export class UsageChart extends HTMLElement {
  static readonly observedAttributes = [...ASKED, ...SHOWN];

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
  #asking = new AbortController();
  #scheduled = false;
  #loading = false;
  #loaded: Loaded | null = null;
  #failed: Failed | null = null;
  #drawn: Drawn | null = null;
  #index: number | null = null;
  #words!: Words;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    root.append(this.#card);
    this.#message.role = 'status';
    this.#tip.ariaHidden = 'true';
    const plot = this.#plot;
    const point = ({ clientX }: PointerEvent) =>
      this.#mark(this.#drawn?.indexAt(clientX - plot.getBoundingClientRect().left) ?? null);
    plot.onpointermove = plot.onpointerdown = point;
    plot.onpointerleave = plot.onblur = () => this.#mark(null);
    plot.onkeydown = (event) => this.#press(event);
  }

  connectedCallback(): void {
    // Set by a script that ran before this module did.
    for (const name of [...REFLECTED, 'token', 'compare'] as const) {
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
    if (before === after || !this.#words) return;
    if (ASKED.includes(name)) this.reload();
    else this.#show();
  }

  get compare() {
    return (this.getAttribute('compare') ?? 'false') !== 'false';
  }
  /** Frameworks can pass `"false"` on as text: the attribute keeps it as it is. */
  set compare(value: boolean) {
    reflect(this, 'compare', value ? `${value}` : null);
  }
  get token() {
    return this.#token ?? this.getAttribute('token');
  }
  /** Unlike the attribute, it stays out of the document: the console puts an API key here. */
  set token(value: string | null) {
    this.#token = value;
    this.reload();
  }

  readonly #online = () => {
    if (this.#failed?.reason === 'offline') this.reload();
  };

  /** Asks the service again, once for all attributes that change in the same task. */
  reload(): void {
    if (this.#scheduled || !this.isConnected) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (this.isConnected) void this.#load();
    });
  }

  async #load(): Promise<void> {
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { business, token, from, to } = this;
    const base = originOf(this.baseUrl || SERVICE);
    this.#failed = null;
    this.#loading = true;
    this.#show();
    const words = loadWords(this.#language, base ?? SERVICE);
    try {
      if (!business || !token || !base) {
        const faults = [
          !business && 'business is missing',
          !token && 'token is missing',
          !base && 'base-url must be an origin, such as https://usage.example.com',
        ];
        throw noReport('attributes', faults.filter(Boolean).join('; '));
      }
      const request = { base, business, token, from, to };
      const loaded = periodOf(await report(request, signal));
      await words;
      if (signal.aborted) return;
      this.#loaded = loaded;
      this.#loading = false;
      this.#show();
      if (this.compare) await this.#compareWith(request, loaded, signal);
      if (!signal.aborted) this.#tell('load', structuredClone(loaded));
    } catch (error) {
      await words;
      if (signal.aborted) return;
      this.#loading = false;
      this.#loaded = null;
      const failed = error as Failed;
      this.#failed = failed;
      this.#show();
      // A hidden chart without attributes is waiting for a script to set them.
      if (failed.reason !== 'attributes' || this.checkVisibility()) this.#complain(failed);
      this.#tell('error', failed);
    }
  }

  /** The period before. A chart without it is better than none. */
  async #compareWith(request: ReportRequest, loaded: Loaded, signal: AbortSignal): Promise<void> {
    const { from, to } = daysBefore(loaded);
    try {
      const before = await report({ ...request, from, to }, signal);
      if (signal.aborted) return;
      loaded.before = periodOf(before);
      this.#show();
    } catch (error) {
      if (!signal.aborted) this.#complain(error as Failed);
    }
  }

  #tell(event: string, detail: Loaded | Failed): void {
    this.dispatchEvent(new CustomEvent(event, { detail }));
  }

  /** Tells the developer of the page in one line, without the token. */
  #complain({ status, message }: Failed): void {
    console.error(`<usage-chart business="${this.business}">: ${status ? `${status} ` : ''}${message}`);
  }

  get #language() {
    return this.closest<HTMLElement>('[lang]')?.lang || document.documentElement.lang || navigator.language;
  }

  /** Shows the current state. What was drawn before stays while it loads again. */
  #show(): void {
    const words = wordsIn(this.#language, (attribute) => this.getAttribute(attribute));
    const { word, range } = words;
    this.#words = words;
    const rightToLeft = this.matches(':dir(rtl)') || (words.rightToLeft && !this.closest('[dir]'));
    this.#card.dir = rightToLeft ? 'rtl' : 'ltr';
    this.#card.ariaBusy = `${this.#loading}`;
    const loaded = this.#loaded;
    const state = this.#failed ? 'refused' : this.#loading ? 'loading' : loaded?.total === 0 ? 'empty' : 'loaded';
    this.#card.dataset.state = state;
    this.#card.classList.toggle('first', !loaded);
    this.#label.textContent = this.label;
    this.#message.textContent = state === 'empty' || state === 'loading' ? word(state) : '';
    if (this.#failed) this.#excuse(this.#failed);

    const plot = this.#plot;
    plot.role = loaded && 'slider'; // arrow keys move from value to value, and screen readers let them
    plot.tabIndex = loaded ? 0 : -1;
    plot.ariaLabel = loaded && [this.label, range(loaded.from, loaded.to)].filter(Boolean).join(' – ');
    if (loaded) this.#head(loaded);
    else {
      this.#total.replaceChildren();
      this.#range.replaceChildren();
    }
    this.#draw();
  }

  #head(loaded: Loaded): void {
    const { word, unit, number, range, percent } = this.#words;
    const { from, to, total, before } = loaded;
    this.#total.replaceChildren(number(total), ' ', span('unit', unit(total)));
    this.#total.classList.toggle('long', total >= 1e9);
    this.#range.replaceChildren(span('days', range(from, to)), ' ', span('by'));
    if (!this.compare) return;
    const days = daysBefore(loaded);
    const counts = before ? `: ${number(before.total)}` : '';
    this.#range.append(' ', span('before', range(days.from, days.to) + counts));
    if (!before?.total) return;
    this.#total.append(' ', span('change', span('sr-only', `${word('before')}: `), percent(total / before.total - 1)));
  }

  /** Tells a visitor why there is no chart, with a button if trying again may help. */
  #excuse({ reason, status }: Failed): void {
    const { word } = this.#words;
    const refused = reason === 'attributes' || reason === 'csp' || (status >= 400 && status < 500 && status !== 429);
    this.#message.textContent = word(refused ? 'error' : reason === 'offline' ? reason : 'failed');
    if (refused) return;
    const retry = html('button', { type: 'button', part: 'retry' }, word('retry'));
    retry.onclick = () => {
      this.#plot.focus(); // the button is about to disappear
      this.reload();
    };
    this.#message.append(retry);
  }

  #draw(): void {
    this.#drawn?.image.remove();
    this.#drawn = null;
    this.#table.replaceChildren();
    const { clientWidth: width, clientHeight: height } = this.#plot;
    const loaded = this.#loaded;
    if (loaded && width > 0) {
      const before = (this.compare && loaded.before?.used) || [];
      const ink = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
      ink.font = `12px ${getComputedStyle(this.#plot).fontFamily}`;
      const inkOf = (text: string) => ink.measureText(text).width;
      const place = { width, height, rightToLeft: this.#card.dir === 'rtl', inkOf };
      const drawn = plot({ used: loaded.used, before, today: today() }, place, this.#words);
      this.#drawn = drawn;
      this.#plot.prepend(drawn.image);
      const by = this.#range.children[1] as HTMLElement;
      by.textContent = drawn.unit === 'day' ? '' : this.#words.word(drawn.unit);
      this.#table.append(tableOf(drawn, this.#plot.ariaLabel as string, this.#words));
    }
    this.#mark(this.#index);
  }

  #press(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey } = event;
    const last = (this.#drawn?.bars.length ?? 0) - 1;
    if (last < 0 || altKey || ctrlKey || metaKey) return;
    const onward = this.#card.dir === 'rtl' ? -1 : 1;
    const steps: Record<string, number> = {
      ArrowLeft: -onward,
      ArrowRight: onward,
      ArrowDown: -1,
      ArrowUp: 1,
      PageUp: -7,
      PageDown: 7,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[key];
    if (step) this.#mark(clamp((this.#index ?? (step < 0 ? last + 1 : -1)) + step, last));
    else if (key === 'Escape') this.#mark(null);
    else return;
    event.preventDefault();
  }

  /** Marks a bar, and shows its count beside it. */
  #mark(to: number | null): void {
    const bar = this.#drawn?.bars[to ?? -1];
    const index = bar ? to : null;
    this.#index = index;
    const at = this.#drawn?.mark(index) ?? null;
    const { counted } = this.#words;
    const told = bar ? [counted(bar.count), daysOf(bar, this.#words)] : [this.#total.textContent];
    if (bar?.before) told.push(`${daysOf(bar.before, this.#words)}: ${counted(bar.before.count)}`);
    this.#plot.ariaValueNow = at && `${(index as number) + 1}`;
    this.#plot.ariaValueMax = at && `${this.#drawn?.bars.length}`;
    this.#plot.ariaValueText = at && told.join(' – ');
    this.#tip.hidden = !bar;
    if (!bar || !at) return;
    this.#tip.replaceChildren(...told.map((text, i) => span(['count', 'days', 'before'][i] as string, text)));
    const { offsetWidth, offsetHeight, style } = this.#tip;
    const x = clamp(at.x - offsetWidth / 2, this.#plot.clientWidth - offsetWidth);
    style.transform = `translate(${Math.round(x)}px, ${Math.round(at.y - offsetHeight - 8)}px)`;
  }
}

for (const name of REFLECTED) {
  const attribute = name === 'baseUrl' ? 'base-url' : name;
  Object.defineProperty(UsageChart.prototype, name, {
    get(this: UsageChart) {
      return this.getAttribute(attribute);
    },
    set(this: UsageChart, value: string | null | undefined) {
      reflect(this, attribute, value);
    },
  });
}

if (!customElements.get('usage-chart')) customElements.define('usage-chart', UsageChart);
