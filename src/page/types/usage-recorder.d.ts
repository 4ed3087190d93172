// Types of usage-recorder.js for TypeScript. Copy this file into a folder that your project's tsconfig.json includes.

export type Options = {
  business: string | number;
  token: string;
  /** The API's origin. Defaults to the origin that served the module. */
  baseUrl?: string | undefined;
};

/** The day on which the use was counted, and the number of uses on that day. */
export type Recorded = { date: string; count: number; duplicate?: true; remaining?: number };

/**
 * Why a use was not counted. `code` is the `Error-Code` of the response. `status` is 0 if the service did not refuse it: there was no answer
 * within 24 hours (`expired`), or the id, the token or the URL cannot be sent (`invalid`). After 401 or 403, another page, with a new token or
 * on a registered site, can still count the use within 24 hours.
 */
export type Refusal = { status: number; code: string; message: string };

/**
 * Returns a function that records a use, by default, or as a listener of events, with a new id. The promise resolves when the use is counted,
 * is rejected with a `Refusal`, and stays pending otherwise. It may be ignored. An id of another type throws a `TypeError`
 * at once, before there is a promise.
 */
export declare function recorder(options: Options): (id?: string | number | bigint | Event) => Promise<Recorded>;
