// What the checks share: how one reports, and how one calls the service.

/** Reports one fact: it holds where there are no problems. */
export type Check = (what: string, problems: string[]) => void;

/** The variables that `npm run dev` exports. */
export type Variables = Record<'API' | 'API_KEY' | 'BUSINESS' | 'TOKEN' | 'SHOP' | 'SHOP_TOKEN', string>;

export type Call = { as?: string; origin?: string; body?: unknown; type?: string };
// biome-ignore lint/suspicious/noExplicitAny: an answer is read by the path that README.md gives its values
export type Answer = { status: number; body: any; headers: Headers };

export const DAY_MS = 86_400_000;
export const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** The problem, unless what has to be right is. */
export const unless = (right: boolean, problem: unknown): string[] =>
  right ? [] : [typeof problem === 'string' ? problem : JSON.stringify(problem).slice(0, 500)];

export const usage = (id: string, query = '') => `/business/usage/${id}${query}`;
export const access = (id: string) => `/business/${id}/access`;

/** Calls the service at `base`; a body that is no string is sent as JSON. */
export const caller = (base: string) =>
  async function ask(method: string, path: string, call: Call = {}): Promise<Answer> {
    const { as, origin, body, type = 'application/json' } = call;
    const headers = new Headers();
    if (as !== undefined) headers.set('Authorization', `Bearer ${as}`);
    if (origin !== undefined) headers.set('Origin', origin);
    if (body !== undefined) headers.set('Content-Type', type);
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers };
  };

export type Ask = ReturnType<typeof caller>;
