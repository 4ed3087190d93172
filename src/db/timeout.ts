// A time limit for what may never respond: a batch, or the receiver of alerts.

/** No response in time. The request may have been carried out. */
export class TimedOut extends Error {}

/** The result of `response`, or a TimedOut after `ms`. A late result is ignored. */
export async function withTimeout<T>(response: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TimedOut(`no response within ${ms} ms`)), ms);
  try {
    return await Promise.race([response, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
