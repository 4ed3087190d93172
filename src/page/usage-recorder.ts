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
  NO_ANSWER,
  needsTime,
  pauseAfter,
  stepOf,
  timeIn,
  type Use,
  waitAfter,
} from './recorder-rules.ts';
import type { Options, Recorded, Refusal } from './types/usage-recorder.d.ts';

/** Uses beyond this number are kept only in memory. */
const MAX_STORED = 100;
const TIMEOUT_MS = 30_000;

const refusalOf = (code: string, message: string): Refusal => ({ status: 0, code, message });
const EXPIRED = refusalOf('expired', 'The use could not be recorded within 24 hours.');
const INVALID = refusalOf('invalid', 'The id, token or URL cannot be sent.');

type Settle = (answer: Recorded | Refusal) => void;
type Waiting = Use & { settles: Settle[] };

const MODULE = import.meta.url;
/** Undefined in workers, and on servers that render pages. */
const page = () => (typeof document === 'undefined' ? undefined : document);
const isShown = () => page()?.visibilityState === 'visible';
/** Browsers can load a page that nobody sees yet. */
const isPrerendering = () => (page() as { prerendering?: boolean } | undefined)?.prerendering;
const clock = (): Moment => ({ time: Date.now(), ticks: performance.now() });
// Pages without HTTPS have no randomUUID.
const newId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** Returns undefined if storage is forbidden, full or busy. Servers and workers, which could have one that is shared, store nothing. */
function inStorage<T>(access: (storage: Storage) => T): T | undefined {
  try {
    return page() && access(localStorage);
  } catch {}
}

function openQueue(url: string, token: string) {
  const prefix = `usage-recorder ${url} `;
  const uses = new Map<string, Waiting>();
  let failures = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  /** While it runs, nothing is sent, because the service asked to wait. */
  let pause: ReturnType<typeof setTimeout> | undefined;
  let isFlushing = false;
  /** True after the service refused this page. It then sends nothing that is stored. */
  let isRefused = false;
  /** True if storage could contain uses that were not read. */
  let isUnread = false;

  const storedIds = () =>
    inStorage(Object.keys)?.flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
  /** Returns null if the use is not stored, and undefined if storage cannot be read now. */
  const storedTime = (id: string) => inStorage((storage) => storage.getItem(prefix + id));
  const remove = (id: string) => inStorage((storage) => storage.removeItem(prefix + id));
  /** In a page that is refused, the oldest use that is stored makes room. */
  function store({ id, time }: Use): void {
    const ids = storedIds() ?? [];
    if (!ids.includes(id) && ids.length >= MAX_STORED) {
      if (!isRefused) return;
      ids.sort((a, b) => Number(storedTime(a)) - Number(storedTime(b)));
      remove(ids[0] ?? '');
    }
    inStorage((storage) => storage.setItem(prefix + id, `${time}`));
  }

  function add(id: string, time: number, isRecordedHere: boolean, ...settles: Settle[]): Waiting {
    const use: Waiting = {
      id,
      ...clock(),
      time,
      isRecordedHere,
      mayHaveSlept: !isShown(),
      settles,
    };
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
  function refuse(refused: Waiting, answer: Refusal): void {
    isRefused = true;
    isUnread = false;
    for (const use of uses.values()) {
      if (use !== refused && use.isSending) continue;
      if (use.isRecordedHere && !use.isUndated) store(use);
      settle(use, answer);
    }
  }

  const headersOf = (id: string) => ({ Authorization: `Bearer ${token}`, 'Idempotency-Key': id });

  function isSendable(id: string): boolean {
    try {
      return USE_ID.test(id) && !!new Request(url, { headers: headersOf(id) }) && !!fetch;
    } catch {
      return false;
    }
  }

  async function request(id: string, body: string | null): Promise<Answer> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: headersOf(id),
        body,
        keepalive: true,
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        // Safari 15 lacks it, and has a timeout of its own.
        signal: AbortSignal.timeout?.(TIMEOUT_MS) ?? null,
      });
      const { status, headers } = answer;
      const [code, retryAfter] = [headers.get('Error-Code') ?? '', headers.get('Retry-After')];
      return { status, code, retryAfter, body: Object(await answer.json().catch(() => ({}))) };
    } catch {
      return NO_ANSWER;
    }
  }

  /** Sends a use that has not expired. Returns false if it waits for a retry. */
  async function send(use: Waiting): Promise<boolean> {
    const now = clock();
    const isDated = stepOf(use, now) === 'dated';
    const isOffline = globalThis.navigator?.onLine === false;
    use.isSending = true;
    const answer = await request(use.id, isDated ? JSON.stringify({ at: new Date(use.time).toISOString() }) : null);
    use.isSending = false;
    const { status, code, retryAfter, body } = answer;
    const meaning = meaningOf(answer, isDated);
    if (meaning === 'failed') {
      if (isDoubtful(answer, isOffline)) use.doubtfulSince ??= now.time;
      const ms = pauseAfter(retryAfter, Math.random());
      if (ms > 0) {
        clearTimeout(pause);
        pause = setTimeout(() => {
          pause = undefined;
          void flush();
        }, ms);
      }
      return false;
    }
    failures = 0;
    if (meaning === 'counted') {
      // What is stored can be sent again.
      if (isRefused) isUnread = true;
      isRefused = false;
      end(use, body.data as Recorded);
    } else if (meaning !== 'misdated') {
      const refusal = { status, code, message: `${body.message ?? ''}` };
      if (meaning === 'ended') end(use, refusal);
      else refuse(use, refusal);
    } else if (needsTime(use, clock())) end(use, EXPIRED);
    else {
      remove(use.id);
      use.isUndated = true;
      return send(use);
    }
    return true;
  }

  /** Adds the uses that other pages stored. */
  function load(): void {
    const ids = storedIds();
    isUnread = !ids && !!page();
    for (const id of ids ?? []) {
      if (uses.has(id)) continue;
      const time = storedTime(id);
      if (time === undefined) isUnread = true;
      else if (time !== null) add(id, timeIn(time), false);
    }
    if (isUnread) failures++;
  }

  /** Sends what waits, one after another, until one fails. The next one is first in the next turn, so none holds up the others. */
  async function flush(): Promise<void> {
    clearTimeout(retry);
    retry = undefined;
    if (isFlushing || pause !== undefined) return;
    isFlushing = true;
    if (!isRefused) load();
    let hasFailed = false;
    for (const use of [...uses.values()]) {
      if (uses.get(use.id) !== use || use.isSending) continue;
      if (stepOf(use, clock()) === 'expired') end(use, EXPIRED);
      else if (!hasFailed && pause === undefined) {
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
    const isWaiting = isUnread || [...uses.values()].some(({ isSending }) => !isSending);
    if (isWaiting && !isFlushing && pause === undefined)
      retry ??= setTimeout(flush, waitAfter(failures, Math.random()));
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
    if (isNew) store(use);
    if (pause !== undefined) return;
    // Without waiting if possible, because the page may be about to close.
    void send(use).then((isOver) => {
      if (isOver && retry !== undefined) void flush();
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
export function recorder({ business, token, baseUrl = new URL(MODULE).origin }: Options) {
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
