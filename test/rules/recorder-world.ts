// A model of a browser with tabs, a device with a clock, a network and the service, in which the recorder runs as it is served. It follows
// docs/embedding.md and docs/api.md, and knows nothing of the recorder's code.
import { resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { RECORDER_BROWSERS, targetOf } from '../../src/tools/browsers.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
const SERVICE = 'https://usage.example';
const START = Date.parse('2026-03-10T12:00:00Z');
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Returns the minified code of a recorder, as a function of the names that a page provides. */
export function codeOf(path = 'src/page/usage-recorder.ts'): string {
  const { outputFiles } = buildSync({
    entryPoints: [resolve(import.meta.dirname, '../..', path)],
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'usage',
    define: { 'import.meta.url': JSON.stringify(`${SERVICE}/v1/usage-recorder.js`) },
    target: targetOf(RECORDER_BROWSERS),
    write: false,
  });
  return `${outputFiles[0]?.text} return usage.recorder;`;
}

/** What happens to a request. */
export const FATES = [
  ...[
    'pass',
    'request lost',
    'answer lost',
    'never answered',
    'page of a proxy',
    'portal',
    'other JSON',
    'server error',
  ],
  ...['counted, then 503', '503', '429'],
] as const;
export type Fate = string;
export const STORAGES = ['works', 'full', 'busy', 'absent', 'cannot remove'] as const;
export type StorageState = (typeof STORAGES)[number];

type Settled = { value?: unknown; error?: unknown };
export type WorldUse = {
  id: string;
  happened: number;
  /** How far the clock was ahead. */
  ahead: number;
  tab: Tab;
  /** It was stored, and nobody has cleared the storage since. */
  isDurable: boolean;
  settled: Settled | undefined;
};
export type Tab = {
  token: string;
  isOpen: boolean;
  isVisible: boolean;
  requests: number;
  /** Calls of `record`, and ids that others stored before or meanwhile. */
  calls: number;
  found: Set<string>;
  /** Events that a page answers by trying again. Opening it is the first one. */
  wakes: number;
  /** Answers of the service that ended a request as they should. All other requests failed. */
  answers: Record<'counted' | 'misdated' | 'refused', number>;
  /** Answers that asked to wait. */
  asks: number;
  opened: number;
  closed: number | undefined;
  record: (id?: unknown) => Promise<unknown>;
  emit: (event: string) => void;
};
/** Requests on their way belong to nobody, because they arrive although the page closes. `isLost` loses their answer. */
type Timer = { due: number; tab: Tab; act: (isLost?: boolean) => void };

const drain = () => new Promise<void>((next) => setImmediate(next));

export class World {
  /** The true time, that of the service. */
  now = START;
  ahead = 0;
  ticks = 0;
  isOnline = true;
  fates: Fate[] = [];
  storageState: StorageState = 'works';
  token = 'token-0';
  readonly tabs: Tab[] = [];
  readonly uses: WorldUse[] = [];
  readonly counted: { id: string; day: string; at: number }[] = [];
  private readonly stored = new Map<string, string>();
  private readonly timers = new Set<Timer>();
  private readonly remembered = new Map<string, { day: string; on: number }>();
  private chance = 1;
  private readonly start: (...names: unknown[]) => unknown;
  readonly url = `${SERVICE}/api/v1/business/usage/1`;

  constructor(code: string, seed = 1) {
    this.chance = seed;
    const names = [
      'globalThis',
      'document',
      'navigator',
      'localStorage',
      'Date',
      'performance',
      'fetch',
      'setTimeout',
      'clearTimeout',
      'Math',
    ];
    this.start = new Function(...names, code) as World['start'];
  }

  random(): number {
    this.chance = (this.chance * 48271) % 2147483647;
    return this.chance / 2147483647;
  }
  get clock(): number {
    return this.now + this.ahead;
  }
  get keys(): string[] {
    return [...this.stored.keys()];
  }
  put(key: string, value: string): void {
    this.stored.set(key, value);
  }

  /** What the service does with a request that arrives. */
  private serve(token: string, id: string, at: string | undefined): [number, string, object] {
    if (token !== this.token) return [401, 'unauthenticated', { message: 'Unauthenticated.' }];
    const time = at === undefined ? this.now : Date.parse(at);
    if (!(time >= this.now - DAY && time <= this.now + 5 * MINUTE))
      return [422, 'invalid_input', { message: 'at', errors: { at: ['at must be'] } }];
    const today = Math.floor(this.now / DAY);
    const known = this.remembered.get(id);
    if (known !== undefined && today <= known.on + 2)
      return [200, '', { status: true, data: { date: known.day, count: 1, duplicate: true } }];
    const day = dayOf(time);
    this.remembered.set(id, { day, on: today });
    this.counted.push({ id, day, at: this.now });
    return [200, '', { status: true, data: { date: day, count: this.counted.length } }];
  }

  private fetchFor(tab: Tab) {
    return (_: string, init: RequestInit & { headers: Record<string, string> }) => {
      tab.requests++;
      const fate = this.isOnline ? (this.fates.shift() ?? 'pass') : 'request lost';
      const token = `${init.headers.Authorization}`.slice('Bearer '.length);
      const id = `${init.headers['Idempotency-Key']}`;
      const at = typeof init.body === 'string' ? JSON.parse(init.body).at : undefined;
      const answer = (status: number, code: string, body: unknown, more = {}) =>
        new Response(typeof body === 'string' ? body : JSON.stringify(body), {
          status,
          headers: { ...(code !== '' && { 'Error-Code': code }), ...more },
        });
      const ask = (status: number, code: string, seconds: number) => {
        tab.asks++;
        return answer(status, code, { message: '' }, { 'Retry-After': `${seconds}` });
      };
      let ended: keyof Tab['answers'] | undefined;
      const result = (): Response | undefined => {
        if (fate === 'request lost') return undefined;
        if (fate === 'page of a proxy')
          return answer([403, 404, 401, 405, 413, 431, 502][Math.floor(this.random() * 7)] ?? 403, '', '<html>');
        if (fate === 'portal') return answer(200, '', '<html>Sign in');
        if (fate === 'other JSON') return answer(200, '', { data: { ok: true } });
        if (fate === 'server error') return answer(500, 'server_error', { message: 'Server Error' });
        if (fate === '503') return ask(503, 'unavailable', 60);
        if (fate === '429') return ask(429, 'rate_limited', 10);
        const [status, code, body] = this.serve(token, id, at);
        if (fate === 'answer lost') return undefined;
        if (fate === 'counted, then 503') return ask(503, 'unavailable', 10);
        ended = status === 200 ? 'counted' : status === 422 ? 'misdated' : 'refused';
        return answer(status, code, body);
      };
      return new Promise<Response>((resolve, reject) => {
        if (fate === 'never answered') {
          this.serve(token, id, at);
          init.signal?.addEventListener('abort', () => reject(new TypeError('aborted')));
          return;
        }
        const delay = fate === 'request lost' ? 1 : 20 + Math.floor(this.random() * 3000);
        this.timers.add({
          due: this.ticks + delay,
          tab: NOBODY,
          act: (isLost) => {
            const response = result();
            if (!tab.isOpen) return;
            if (isLost || response === undefined) return reject(new TypeError('failed'));
            if (ended !== undefined) tab.answers[ended]++;
            resolve(response);
          },
        });
      });
    };
  }

  private storageFor(tab: Tab) {
    const use = <T>(may: StorageState[], act: () => T): T => {
      if (this.storageState === 'works' || may.includes(this.storageState)) return act();
      throw new Error(this.storageState);
    };
    const storage = {
      getItem: (key: string) => use(['full', 'cannot remove'], () => this.stored.get(key) ?? null),
      setItem: (key: string, value: string) =>
        use(['cannot remove', 'busy'], () => {
          this.stored.set(key, value);
          for (const other of this.tabs) if (other !== tab) other.found.add(key);
        }),
      removeItem: (key: string) => use(['full', 'busy'], () => void this.stored.delete(key)),
    };
    return new Proxy(storage, {
      ownKeys: () => use(['full', 'cannot remove', 'busy'], () => this.keys),
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    });
  }

  /** Opens a page with recorders. */
  async open(token = this.token, recorders = 1): Promise<Tab> {
    const listeners = new Map<string, (() => void)[]>();
    const emit = (event: string) => {
      tab.wakes++;
      for (const act of [...(listeners.get(event) ?? [])]) act();
    };
    const listen = (event: string, act: () => void) => listeners.set(event, [...(listeners.get(event) ?? []), act]);
    const tab = {
      ...{ token, isOpen: true, isVisible: true, requests: 0, calls: 0, wakes: 1, asks: 0, opened: this.ticks },
      ...{ answers: { counted: 0, misdated: 0, refused: 0 }, found: new Set(this.keys), emit },
    } as Tab;
    const [world, ticksAtStart] = [this, this.ticks];
    const document = {
      get visibilityState() {
        return tab.isVisible ? 'visible' : 'hidden';
      },
      addEventListener: listen,
    };
    const navigator = {
      get onLine() {
        return world.isOnline;
      },
    };
    class Clock extends Date {
      static override now = () => world.clock;
    }
    const timeout = (act: () => void, ms: number) => {
      const timer = { due: this.ticks + ms, tab, act };
      if (tab.isOpen) this.timers.add(timer);
      return timer;
    };
    const chance = Object.assign(Object.create(Math), { random: () => this.random() });
    const recorder = this.start(
      { addEventListener: listen, navigator },
      document,
      navigator,
      this.storageFor(tab),
      Clock,
      { now: () => this.ticks - ticksAtStart },
      this.fetchFor(tab),
      timeout,
      (timer: Timer) => void this.timers.delete(timer),
      chance,
    ) as (options: object) => Tab['record'];
    const records = Array.from({ length: recorders }, () => recorder({ business: 1, token }));
    tab.record = (id) => (records[tab.calls++ % recorders] as Tab['record'])(id);
    this.tabs.push(tab);
    await drain();
    tab.emit('pageshow');
    await drain();
    return tab;
  }

  /** Records a use in a page. */
  async use(tab: Tab, id = `use-${this.uses.length}`): Promise<WorldUse> {
    const use: WorldUse = { id, happened: this.now, ahead: this.ahead, tab, isDurable: false, settled: undefined };
    this.uses.push(use);
    tab.record(id).then(
      (value) => (use.settled = { value }),
      (error) => (use.settled = { error }),
    );
    use.isDurable = this.keys.length <= 100 && ['works', 'cannot remove', 'busy'].includes(this.storageState);
    await drain();
    return use;
  }

  private loseAnswers(): void {
    for (const timer of this.timers)
      if (timer.tab === NOBODY) {
        this.timers.delete(timer);
        timer.act(true);
      }
  }
  close(tab: Tab): void {
    tab.isOpen = false;
    tab.closed ??= this.ticks;
    for (const timer of this.timers) if (timer.tab === tab) this.timers.delete(timer);
  }
  /** Switches the device off. Answers on the way are lost. `isStopped` if its clock stands still meanwhile. */
  off(ms: number, isStopped: boolean): void {
    for (const tab of this.tabs) this.close(tab);
    this.loseAnswers();
    this.timers.clear();
    this.now += ms;
    if (isStopped) this.ahead -= ms;
  }
  async show(tab: Tab, isVisible: boolean): Promise<void> {
    tab.isVisible = isVisible;
    tab.emit('visibilitychange');
    await drain();
  }
  /** The device sleeps. Its pages are hidden before. Answers on the way are lost, and ticks stand still. */
  async sleep(ms: number): Promise<void> {
    const open = this.tabs.filter(({ isOpen }) => isOpen);
    for (const tab of open) await this.show(tab, false);
    this.loseAnswers();
    this.now += ms;
    for (const tab of open) await this.show(tab, true);
  }
  async online(isOnline: boolean): Promise<void> {
    this.isOnline = isOnline;
    for (const tab of this.tabs) if (tab.isOpen) tab.emit(isOnline ? 'online' : 'offline');
    await drain();
  }
  clear(): void {
    this.stored.clear();
    for (const use of this.uses) use.isDurable = false;
  }

  /** Lets time pass, and timers and answers happen in order. */
  async pass(ms: number): Promise<void> {
    const end = this.ticks + ms;
    for (let events = 0; ; events++) {
      let next: Timer | undefined;
      for (const timer of this.timers) if (timer.due <= end && !(next && next.due <= timer.due)) next = timer;
      if (next === undefined) break;
      if (events > 20_000) throw new Error('the recorder does not rest');
      this.timers.delete(next);
      const step = Math.max(0, next.due - this.ticks);
      this.now += step;
      this.ticks += step;
      next.act();
      await drain();
    }
    this.now += end - this.ticks;
    this.ticks = end;
  }

  countsOf = (id: string) => this.counted.filter((each) => each.id === id);
}

const NOBODY = { isOpen: true } as Tab;
