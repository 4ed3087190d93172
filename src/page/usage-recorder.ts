// Records uses from pages (docs/embedding.md, "Recording from a page"). A use is stored in the browser until the service has counted or
// refused it, so that it survives an outage, and its id makes every retry safe.
import type { Options, Recorded, Refusal } from './types/usage-recorder.d.ts';

const DAY_MS = 86_400_000;
/** Uses beyond this number are kept only in memory. */
const MAX_STORED = 100;
const MAX_WAIT_MS = 300_000;

type Use = {
  id: string;
  /** When it was recorded, in milliseconds since 1970. */
  at: number;
  attempts: number;
  isSending: boolean;
  /** After a failure, it is not sent again before this time. */
  due: number;
  /** True after the service did not accept `at`, because a clock is wrong. */
  isUndated: boolean;
  settle: (answer: Recorded | Refusal) => void;
};

/** Storage can be forbidden or full. Uses are then kept only in memory. */
function inStorage<T>(access: (storage: Storage) => T): T | undefined {
  try {
    return access(localStorage);
  } catch {}
}

// Pages without HTTPS have no randomUUID.
const newId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');
const isRefusal = (answer: Recorded | Refusal): answer is Refusal => 'status' in answer;
const MODULE = import.meta.url;
/** Browsers can load a page that nobody sees yet. */
const isPrerendering = () => (document as { prerendering?: boolean }).prerendering === true;

/** Returns a function that records a use of a business. */
export function recorder({ business, token, baseUrl = new URL(MODULE).origin }: Options) {
  const url = `${baseUrl.replace(/\/$/, '')}/api/v1/business/usage/${business}`;
  const prefix = `usage-recorder ${url} `;
  const uses = new Map<string, Use>();
  let timer: ReturnType<typeof setTimeout>;
  let isFlushing = false;
  /** Nothing is sent before this time, because the service asked to wait. */
  let notBefore = 0;

  function add(id: string, at: number, attempts: number, settle: Use['settle']): Use {
    const use = { id, at, attempts, isSending: false, due: 0, isUndated: false, settle };
    uses.set(id, use);
    return use;
  }
  function end(use: Use, answer: Recorded | Refusal): void {
    uses.delete(use.id);
    inStorage((storage) => storage.removeItem(prefix + use.id));
    use.settle(answer);
  }

  const headersOf = (id: string) => new Headers({ Authorization: `Bearer ${token}`, 'Idempotency-Key': id });

  async function send(use: Use): Promise<void> {
    use.isSending = true;
    const wait = Math.min(MAX_WAIT_MS, 1000 * 2 ** use.attempts) * (0.5 + Math.random() / 2);
    // The first attempt happens at the time of the use, so it needs no `at`, and a wrong clock cannot matter.
    const body = use.attempts++ > 0 && !use.isUndated ? JSON.stringify({ at: new Date(use.at).toISOString() }) : null;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: headersOf(use.id),
        body,
        keepalive: true,
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.timeout(30_000),
      });
      const { status, headers } = answer;
      const { data, message = '', errors } = await answer.json().catch(() => ({}));
      const code = headers.get('Error-Code') ?? '';
      if (data) return end(use, data);
      if (status === 422 && errors?.at && body) {
        use.isUndated = true;
        return send(use);
      }
      const isTemporary =
        answer.ok || status > 499 || [408, 425].includes(status) || (status === 429 && code !== 'limit_reached');
      if (!isTemporary) return end(use, { status, code, message });
      notBefore = Date.now() + Math.min(MAX_WAIT_MS * 12, Number(headers.get('Retry-After')) * 1000 || 0);
    } catch {}
    use.isSending = false;
    use.due = Date.now() + wait;
    schedule();
  }

  /** Adds the uses that an earlier page stored, and ends those that are too old. */
  function load(): void {
    for (const key of inStorage(Object.keys) ?? []) {
      const id = key.slice(prefix.length);
      if (key.startsWith(prefix) && !uses.has(id))
        add(id, Number(inStorage((storage) => storage.getItem(key))), 1, () => {});
    }
    for (const use of uses.values())
      if (!use.isSending && !(Math.abs(Date.now() - use.at) < DAY_MS))
        end(use, { status: 0, code: 'expired', message: 'The use could not be recorded within 24 hours.' });
  }

  /** Sends what is due, one after another. `isEager` if the service may be reachable again. */
  async function flush(isEager: boolean): Promise<void> {
    if (isFlushing) return;
    isFlushing = true;
    load();
    for (const use of [...uses.values()]) {
      const now = Date.now();
      if (!use.isSending && notBefore <= now && (isEager || use.due <= now)) await send(use);
    }
    isFlushing = false;
    schedule();
  }
  function schedule(): void {
    clearTimeout(timer);
    const times = [...uses.values()].filter(({ isSending }) => !isSending).map(({ due }) => Math.max(due, notBefore));
    if (times.length > 0) timer = setTimeout(() => flush(false), Math.max(1000, Math.min(...times) - Date.now()));
  }

  const activated = new Promise<void>((resolve) => {
    if (isPrerendering()) document.addEventListener('prerenderingchange', () => resolve(), { once: true });
    else resolve();
  });
  const wake = () => {
    if (document.visibilityState === 'visible') void flush(true);
  };
  void activated.then(() => {
    for (const event of ['online', 'pageshow']) addEventListener(event, wake);
    document.addEventListener('visibilitychange', wake);
    void flush(true);
  });

  function record(id: string, settle: Use['settle']): void {
    const known = uses.get(id);
    if (known) {
      const before = known.settle;
      known.settle = (answer) => {
        before(answer);
        settle(answer);
      };
      return;
    }
    try {
      headersOf(id);
    } catch {
      settle({ status: 0, code: 'invalid', message: 'The id or the token has characters that cannot be sent.' });
      return;
    }
    const at = Date.now();
    const stored = (inStorage(Object.keys) ?? []).filter((key) => key.startsWith(prefix));
    if (stored.length < MAX_STORED) inStorage((storage) => storage.setItem(prefix + id, `${at}`));
    const use = add(id, at, 0, settle);
    if (notBefore <= at) void send(use);
    else schedule();
  }

  // An event is no id, so that `record` can be a listener.
  return (given?: unknown): Promise<Recorded> =>
    new Promise((resolve, reject) => {
      const id = typeof given === 'string' ? given : newId();
      const start = () => record(id, (answer) => (isRefusal(answer) ? reject(answer) : resolve(answer)));
      // Without waiting if possible, because the page may be about to close.
      if (isPrerendering()) void activated.then(start);
      else start();
    });
}
