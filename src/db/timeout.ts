// A timeout for calls that may never get a response: to a database, or to the receiver of alerts.

/** Thrown if no response arrives in time. The operation may still have been carried out. */
export class TimedOut extends Error {}

/** Resolves to the result of `response`, or rejects with TimedOut after `ms`. A late result is ignored. */
export async function withTimeout<T>(response: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TimedOut(`no response within ${ms} ms`)), ms);
  try {
    return await Promise.race([response, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
