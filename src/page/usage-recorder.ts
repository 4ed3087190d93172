// Records uses from pages (docs/embedding.md, "Recording from a page"). A use is stored in the browser until the service has counted or
// refused it, so that it survives an outage, and its id makes every retry safe. The rules are in recorder-rules.ts.
import { USE_ID } from '../core/idempotency-key.ts';
import {
  type Answer,
  DAY_MS,
  idOf,
  isDoubtful,
  type Moment,
  meaningOf,
  OFFLINE,
  pauseAfter,
  stepOf,
  TIMEOUT_MS,
  timeIn,
  type Use,
  waitAfter,
} from './recorder-rules.ts';
import type { Options, Recorded, Refusal } from './types/usage-recorder.d.ts';

/** Uses beyond this number are kept only in memory. */
const MAX_STORED = 100;

const refusalOf = (code: string, message: string): Refusal => ({ status: 0, code, message });
const EXPIRED = refusalOf('expired', 'The use could not be recorded within 24 hours.');
const INVALID = refusalOf('invalid', 'The id, token or URL cannot be sent.');

type Settle = (answer: Recorded | Refusal) => void;
type Waiting = Use & { settles: Settle[] };

/** Undefined in workers, and on servers that render pages. */
const page = () => (typeof document === 'undefined' ? undefined : document);
const isShown = () => page()?.visibilityState === 'visible';
/** Browsers can load a page that nobody sees yet. */
const isPrerendering = () => (page() as { prerendering?: boolean } | undefined)?.prerendering;
const clock = (): Moment => ({ time: Date.now(), ticks: performance.now() });
// Pages without HTTPS have no randomUUID.
const newId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** True after storage threw, until it is read again. */
let hasThrown = false;
/** Returns undefined if storage is forbidden, full or busy. Servers and workers, which could have one that is shared, store nothing. */
function inStorage<T>(access: (storage: Storage) => T): T | undefined {
  try {
    return page() && access(localStorage);
  } catch {
    hasThrown = true;
  }
}

function openQueue(url: string, token: string) {
  const prefix = `usage-recorder ${url} `;
  const uses = new Map<string, Waiting>();
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** True until the timer fires, because the service asked to wait. Nothing is sent. */
  let isPaused = false;
  let isFlushing = false;
  /** True after the service refused this page. It then sends nothing that is stored. */
  let isRefused = false;
  /** How often in a row storage could not be read. If it is not 0, storage could contain more uses. */
  let unread = 0;
  /** The ids of removed uses. Storage that cannot remove one would otherwise return it at each flush. */
  const removed = new Set<string>();

  const storedIds = () =>
    inStorage(Object.keys)?.flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
  /** Returns null if the use is not stored, and undefined if storage cannot be read now. */
  const storedTime = (id: string) => inStorage((storage) => storage.getItem(prefix + id));
  function remove(id: string): void {
    removed.add(id);
    inStorage((storage) => storage.removeItem(prefix + id));
  }
  /** Stores a use, unless only this page may send it. In a page that is refused, the oldest use that is stored makes room. */
  function store({ id, time, isRecordedHere, isUndated }: Use): void {
    if (!isRecordedHere || isUndated) return;
    const ids = storedIds() ?? [];
    if (!ids.includes(id) && ids.length >= MAX_STORED) {
      if (!isRefused) return;
      ids.sort((a, b) => Number(storedTime(a)) - Number(storedTime(b)));
      remove(ids[0] ?? '');
    }
    inStorage((storage) => storage.setItem(prefix + id, `${time}`));
  }

  function add(id: string, time: number, isRecordedHere: boolean, ...settles: Settle[]): Waiting {
    const use = { ...clock(), id, time, isRecordedHere, mayHaveSlept: !isShown(), settles };
    uses.set(id, use);
    return use;
  }
  function settle(use: Waiting, answer: Recorded | Refusal): void {
    uses.delete(use.id);
    for (const each of use.settles) each(answer);
  }
  function end(use: Waiting, answer: Recorded | Refusal): void {
    remove(use.id);
    settle(use, answer);
  }
  /** Rejects what waits, but leaves it in storage: a page with the new token or on a registered site can still send it. */
  function refuse(answer: Refusal): void {
    isRefused = true;
    unread = 0;
    for (const use of uses.values()) {
      if (use.isSending) continue;
      store(use);
      settle(use, answer);
    }
  }

  const headersOf = (id: string) => ({ Authorization: `Bearer ${token}`, 'Idempotency-Key': id });

  function isSendable(id: string): unknown {
    try {
      return USE_ID.test(id) && new Request(url, { headers: headersOf(id) }) && fetch;
    } catch {}
  }

  async function request(id: string, body: string | null): Promise<Answer> {
    const wasOffline = globalThis.navigator?.onLine === false;
    // AbortSignal.timeout is newer than the oldest browsers.
    const controller = new AbortController();
    const timeout = setTimeout(() => controller.abort(), TIMEOUT_MS);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: headersOf(id),
        body,
        keepalive: true,
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: controller.signal,
      });
      return {
        status: response.status,
        code: response.headers.get('Error-Code') ?? '',
        retryAfter: response.headers.get('Retry-After'),
        body: Object(await response.json().catch(() => {})),
      };
    } catch {
      return { status: 0, code: wasOffline ? OFFLINE : '', body: {} };
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Sends a use that has not expired. Returns false if it waits for a retry. */
  async function send(use: Waiting): Promise<boolean> {
    const now = clock();
    const isDated = stepOf(use, now) === 'dated';
    use.isSending = true;
    const answer = await request(use.id, isDated ? JSON.stringify({ at: new Date(use.time).toISOString() }) : null);
    use.isSending = false;
    const { status, code, retryAfter, body } = answer;
    const meaning = meaningOf(answer, isDated);
    if (meaning === 'failed') {
      if (isDoubtful(answer)) use.doubtfulSince ??= now.time;
      // Perhaps it could not be stored when it was recorded.
      store(use);
      const ms = pauseAfter(retryAfter, Math.random());
      if (ms) {
        isPaused = true;
        wait(ms);
      }
      return false;
    }
    failures = 0;
    if (meaning === 'misdated') {
      use.isUndated = true;
      if (stepOf(use, clock()) !== 'expired') {
        remove(use.id);
        return send(use);
      }
      end(use, EXPIRED);
    } else if (meaning === 'counted') {
      // What is stored can be sent again.
      if (isRefused) unread++;
      isRefused = false;
      end(use, body.data as Recorded);
    } else {
      const refusal = { status, code, message: `${body.message ?? ''}` };
      if (meaning === 'ended') end(use, refusal);
      else refuse(refusal);
    }
    return true;
  }

  /** Adds the uses that other pages stored. */
  function load(): void {
    hasThrown = false;
    for (const id of storedIds() ?? []) {
      if (uses.has(id) || removed.has(id)) continue;
      const time = storedTime(id);
      if (typeof time === 'string') add(id, timeIn(time), false);
    }
    unread = hasThrown ? unread + 1 : 0;
  }

  /** Sends what waits, one after another, until one fails. The next one is first in the next turn, so none holds up the others. */
  async function flush(): Promise<void> {
    if (isPaused) return;
    clearTimeout(timer);
    timer = undefined;
    if (isFlushing) return;
    isFlushing = true;
    if (!isRefused) load();
    let hasFailed = false;
    for (const use of [...uses.values()]) {
      if (uses.get(use.id) !== use || use.isSending) continue;
      if (stepOf(use, clock()) === 'expired') end(use, EXPIRED);
      else if (!hasFailed && !isPaused) {
        const isStored = use.settles.length > 0 || storedTime(use.id);
        // Another page has sent it.
        if (isStored === null) uses.delete(use.id);
        else if (isStored === undefined || !(await send(use))) {
          hasFailed = true;
          failures++;
          uses.delete(use.id);
          uses.set(use.id, use);
        }
      }
    }
    isFlushing = false;
    schedule();
  }
  function schedule(): void {
    const isWaiting = [...uses.values()].some(({ isSending }) => !isSending);
    // The first retry comes soon, although a timer may run for storage that cannot be read.
    const tries = isWaiting ? failures : unread;
    const isDue = timer ? isWaiting && !tries : isWaiting || tries;
    if (isDue && !isFlushing && !isPaused) wait(waitAfter(tries, Math.random()));
  }
  function wait(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isPaused = false;
      void flush();
    }, ms);
  }

  // Captures events, because some are dispatched at the document and do not bubble.
  const listen = (event: string, act: () => void) => globalThis.addEventListener?.(event, act, true);
  const activated = new Promise<void>((resolve) => {
    if (isPrerendering()) listen('prerenderingchange', resolve);
    else resolve();
  });
  const wake = () => {
    if (isShown()) void flush();
    else for (const use of uses.values()) use.mayHaveSlept = true;
  };
  void activated.then(() => {
    for (const event of ['online', 'pageshow', 'visibilitychange']) listen(event, wake);
    void flush();
  });

  function record(id: string, settle: Settle): void {
    const known = uses.get(id);
    if (known) {
      known.settles.push(settle);
      return;
    }
    if (!isSendable(id)) {
      settle(INVALID);
      return;
    }
    // Another page may have recorded it, on the day on which it happened.
    const now = Date.now();
    const time = timeIn(storedTime(id));
    const isNew = !(now >= time && now - time < DAY_MS);
    const use = add(id, isNew ? now : time, isNew, settle);
    store(use);
    if (isPaused) return;
    // Without waiting if possible, because the page may be about to close.
    void send(use).then((isOver) => {
      if (isOver && timer) void flush();
      else schedule();
    });
  }
  return (id: string): Promise<Recorded> =>
    new Promise((resolve, reject) => {
      const start = () => record(id, (answer) => ('status' in answer ? reject(answer) : resolve(answer)));
      if (isPrerendering()) void activated.then(start);
      else start();
    });
}

/** The recorders of a page for the same business and token share a queue. */
const queues = new Map<string, ReturnType<typeof openQueue>>();

/** Returns a function that records a use of a business. */
export function recorder({ business, token, baseUrl = new URL(import.meta.url).origin }: Options) {
  const url = `${baseUrl.replace(/\/$/, '')}/api/v1/business/usage/${business}`;
  const key = `${token} ${url}`;
  const record = queues.get(key) ?? openQueue(url, token);
  queues.set(key, record);

  return (given?: unknown): Promise<Recorded> => {
    const recorded = record(idOf(given, newId));
    // A page that does not wait for the promise is not told of a refusal.
    recorded.catch(() => {});
    return recorded;
  };
}
