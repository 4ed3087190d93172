// The rules of the recorder: what an answer means, when a use is too old, and whether it is sent with its time. The service remembers the id
// of a use for two days, so these rules never send a use without its time later than that.

const SECOND_MS = 1000;
export const DAY_MS = 86_400_000;
/** The service remembers an id that was sent with a token until this many days after its day (KEEP_ID_DAYS in src/usage/rules.ts). */
const REMEMBERED_DAYS = 2;
/** A request that takes longer has failed. */
export const TIMEOUT_MS = 30_000;
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

const dayOf = (time: number) => Math.floor(time / DAY_MS);

/** Returns the time in a stored text, or NaN. Without a text it is NaN, too, because 0 is a time of clocks that were never set. */
export const timeIn = (text: unknown): number => new Date(Number(`${text}`)).getTime();

/**
 * Returns how a use is sent. Directly after it happened, it needs no time, so a wrong clock does not matter. But the request must still arrive
 * on the same day.
 */
export function stepOf(
  { time, ticks, isRecordedHere, mayHaveSlept, doubtfulSince, isUndated }: Use,
  now: Moment,
): 'expired' | 'undated' | 'dated' {
  const passed = now.time - time;
  const ticked = now.ticks - ticks;
  const longest = Math.max(passed, ticked);
  // If the clock was corrected, only the page that recorded the use knows its age, by the ticks.
  const age = !isRecordedHere ? passed : mayHaveSlept ? longest : ticked;
  // A stored text that is no time has expired, too.
  if (!(age < DAY_MS)) return 'expired';
  if (isUndated) {
    // Another page knows no time but the stored one. If an attempt may have counted, the service must still remember its id.
    const isSafe = isRecordedHere && dayOf(now.time) <= dayOf(doubtfulSince ?? now.time) + REMEMBERED_DAYS;
    return isSafe ? 'undated' : 'expired';
  }
  const isNow = isRecordedHere && doubtfulSince === undefined && passed >= 0 && longest <= SECOND_MS;
  return isNow && dayOf(now.time + TIMEOUT_MS) === dayOf(time) ? 'undated' : 'dated';
}

export type Answer = {
  status: number;
  code: string;
  retryAfter?: string | null;
  body: { data?: unknown; message?: unknown; errors?: { at?: unknown } };
};
/** The code of an answer that cannot come, because the request did not leave. */
export const OFFLINE = 'offline';

/** True for what the service says of a use that it counted. */
const isRecorded = (data: unknown): boolean => {
  const { date, count } = Object(data);
  return /^\d{4}-\d\d-\d\d$/.test(date) && typeof count === 'number';
};

/** True if the attempt may have counted, unless the answer says so. */
export const isDoubtful = ({ status, code }: Answer): boolean => code === '' || status >= 500;

/**
 * Returns what an answer means for the use. Only the service sends `Error-Code`: without it, the answer is of a proxy or a portal, and
 * temporary. A refusal concerns the page, whose token or site is not accepted, so another page may still send the use.
 */
export function meaningOf(answer: Answer, isDated: boolean): 'counted' | 'failed' | 'misdated' | 'ended' | 'refused' {
  const { status, code, body } = answer;
  if (status === 200 && isRecorded(body.data)) return 'counted';
  if (isDoubtful(answer) || [OFFLINE, 'rate_limited', 'broken_body'].includes(code)) return 'failed';
  if (code === 'invalid_input') return isDated && body.errors?.at ? 'misdated' : 'ended';
  return code === 'limit_reached' ? 'ended' : 'refused';
}

/** Returns the milliseconds until the next retry. `chance` is a random number below 1, so that pages do not retry at the same time. */
export const waitAfter = (failures: number, chance: number): number =>
  Math.min(MAX_WAIT_MS, SECOND_MS * 2 ** failures) * (0.5 + chance / 2);

/** Returns the milliseconds for which the service asked to wait, or more, or 0 if it did not ask. */
export const pauseAfter = (retryAfter: string | null | undefined, chance: number): number =>
  Math.min(MAX_PAUSE_MS, Math.max(0, Number(retryAfter) * SECOND_MS || 0)) * (1 + chance);
