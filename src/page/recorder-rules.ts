// The rules of the recorder: what an answer means, when a use is too old, and whether it is sent with its time. The service remembers the id
// of a use for two days, so these rules never send a use without its time later than that.

const SECOND_MS = 1000;
export const DAY_MS = 86_400_000;
/** The service remembers an id that was sent with a token until this many days after its day (KEEP_ID_DAYS in src/usage/rules.ts). */
const REMEMBERED_DAYS = 2;
const MAX_WAIT_MS = 300_000;
const MAX_PAUSE_MS = 3_600_000;

/** `time` is the device's clock, which can jump. `ticks` never go back, but stand still while a device sleeps. Both in milliseconds. */
export type Moment = { time: number; ticks: number };
/** The moment is that of the use, but `ticks` count from when this page learned of it. Only `time` is stored. */
export type Use = Moment & {
  id: string;
  /** False if it was read from the storage. */
  isRecordedHere: boolean;
  /** True if the page was hidden since. A device rarely sleeps while it shows the page. */
  mayHaveSlept: boolean;
  isSending?: boolean;
  /** The time of the first attempt that may have counted, although no answer said so. */
  doubtfulSince?: number;
  /** True after the service did not accept its time. */
  isUndated?: boolean;
};

/** Returns the text of an id that is a string, a number that identifies something, or a bigint. An event means a new id. */
export function idOf(given: unknown, newId: () => string): string {
  if (given === undefined || 'currentTarget' in Object(given)) return newId(); // also an event of React
  // Beyond it, different integers are the same number.
  const isExact = typeof given === 'number' && Math.abs(given) < 2 ** 53;
  if (isExact || typeof given === 'string' || typeof given === 'bigint') return `${given}`;
  throw new TypeError('An id must be a string, a number or a bigint.');
}

const since = (use: Moment, now: Moment) => [now.time - use.time, now.ticks - use.ticks] as const;

/** Returns the milliseconds since a use. If the clock was corrected, only the page that recorded the use knows, by its ticks. */
function ageOf(use: Use, now: Moment): number {
  const [passed, ticks] = since(use, now);
  if (!use.isRecordedHere) return passed;
  return use.mayHaveSlept ? Math.max(passed, ticks) : ticks;
}

/**
 * True if the use cannot be counted without its time. Another page knows no time but the stored one. If an attempt may have counted, the
 * service must still remember its id.
 */
export const needsTime = ({ isRecordedHere, doubtfulSince }: Use, { time }: Moment): boolean =>
  !isRecordedHere || Math.floor(time / DAY_MS) > Math.floor((doubtfulSince ?? time) / DAY_MS) + REMEMBERED_DAYS;

/** Returns the time in a stored text, or NaN. */
export const timeIn = (text: unknown): number => new Date(Number(text)).getTime();

/** Returns how a use is sent. Directly after it happened, it needs no time, and so a wrong clock does not matter. */
export function stepOf(use: Use, now: Moment): 'expired' | 'undated' | 'dated' {
  // A stored text that is no time has expired, too.
  if (!(ageOf(use, now) < DAY_MS)) return 'expired';
  if (use.isUndated) return needsTime(use, now) ? 'expired' : 'undated';
  const [passed, ticks] = since(use, now);
  const isNow =
    use.isRecordedHere && use.doubtfulSince === undefined && passed >= 0 && Math.max(passed, ticks) <= SECOND_MS;
  return isNow ? 'undated' : 'dated';
}

export type Answer = {
  status: number;
  code: string;
  retryAfter: string | null;
  body: { data?: unknown; message?: unknown; errors?: { at?: unknown } };
};
export const NO_ANSWER: Answer = { status: 0, code: '', retryAfter: null, body: {} };

/** True for what the service says of a use that it counted. */
const isRecorded = (data: unknown): boolean => {
  const { date, count } = Object(data);
  return /^\d{4}-\d\d-\d\d$/.test(date) && typeof count === 'number';
};

/**
 * Returns what an answer means for the use. Only the service sends `Error-Code`: without it, the answer is of a proxy or a portal, and
 * temporary. A refusal concerns the page, whose token or site is not accepted, so another page may still send the use.
 */
export function meaningOf(
  { status, code, body }: Answer,
  isDated: boolean,
): 'counted' | 'failed' | 'misdated' | 'ended' | 'refused' {
  if (status === 200 && isRecorded(body.data)) return 'counted';
  if (code === '' || status >= 500 || ['rate_limited', 'broken_body'].includes(code)) return 'failed';
  if (code === 'invalid_input') return isDated && body.errors?.at ? 'misdated' : 'ended';
  return code === 'limit_reached' ? 'ended' : 'refused';
}

/** True if the attempt may have counted, although it failed. */
export const isDoubtful = ({ status, code }: Answer, isOffline: boolean): boolean =>
  status === 0 ? !isOffline : code === '' || status >= 500;

/** Returns the milliseconds until the next retry. `chance` is a random number below 1, so that pages do not retry at the same time. */
export const waitAfter = (failures: number, chance: number): number =>
  Math.min(MAX_WAIT_MS, SECOND_MS * 2 ** failures) * (0.5 + chance / 2);

/** Returns the milliseconds for which the service asked to wait, or more, or 0 if it did not ask. */
export const pauseAfter = (retryAfter: string | null, chance: number): number =>
  Math.min(MAX_PAUSE_MS, Math.max(0, Number(retryAfter) * SECOND_MS || 0)) * (1 + chance);
