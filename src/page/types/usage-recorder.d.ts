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
 * Why a use was not counted. `code` is the `Error-Code` of the response. `status` is 0 if there was none within 24 hours (`expired`), or if the
 * id or the token cannot be sent (`invalid`).
 */
export type Refusal = { status: number; code: string; message: string };

/** Returns a function that records a use, by default, or as a listener of events, with a new id. The promise is rejected with a `Refusal`. */
export declare function recorder(options: Options): (id?: string | Event) => Promise<Recorded>;
