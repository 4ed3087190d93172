// A time limit for what may never respond: a batch, or the receiver of alerts.

/** The result of `response`, or an error after `ms`, which outageOf reads as an unknown outcome. A late result is ignored. */
export async function withTimeout<T>(response: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no response within ${ms} ms`)), ms);
  try {
    return await Promise.race([response, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
