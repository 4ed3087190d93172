// A bound for how long anything waits for a database.

/** The result of `response`, or an error after `ms`. What is late goes on, and is ignored. */
export async function inTime<T>(response: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no response within ${ms} ms`)), ms);
  try {
    return await Promise.race([response, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
