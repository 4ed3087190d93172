// What the checks share: how one reports, how one calls the service, and how an answer is held against the printed one.

/** Reports one fact: it holds where there are no problems. */
export type Check = (what: string, problems: string[]) => void;

/** The variables that `npm run dev` exports. */
export type Variables = Record<'API' | 'API_KEY' | 'BUSINESS' | 'TOKEN' | 'SHOP' | 'SHOP_TOKEN', string>;

export type Call = { as?: string; origin?: string; body?: unknown; type?: string; key?: string };
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
export function caller(base: string) {
  let calls = 0;
  return async function ask(method: string, path: string, call: Call = {}): Promise<Answer> {
    const { as, origin, body, type = 'application/json', key } = call;
    calls += 1;
    const headers = new Headers({ 'CF-Connecting-IP': `192.0.2.${calls % 8}` }); // one address would be over its limit
    if (as !== undefined) headers.set('Authorization', `Bearer ${as}`);
    if (origin !== undefined) headers.set('Origin', origin);
    if (key !== undefined) headers.set('Idempotency-Key', key);
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
}

export type Ask = ReturnType<typeof caller>;

const ID = /^[1-9]\d*$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const DAY = /\b\d{4}-\d\d-\d\d\b/g;

/** By key: what a value that varies looks like. */
const VARIES: Record<string, RegExp> = {
  id: ID,
  business_id: ID,
  token: /^bua_pk_[0-9A-Za-z]{33}$/,
  api_key: /^bua_sk_[0-9A-Za-z]{33}$/,
  last_four: /^[0-9A-Za-z]{4}$/,
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
  date: /^\d{4}-\d\d-\d\d$/,
  count: /^(0|[1-9]\d*)$/,
};
/** Lists that are printed shortened. */
const SHORTENED = 'used';

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
const show = (value: unknown) => JSON.stringify(value);

/** Where `actual` differs from `printed`. "…" stands for any text. */
export function differences(printed: unknown, actual: unknown, path = 'answer'): string[] {
  const type = typeOf(printed);
  if (typeOf(actual) !== type) return [`${path} is ${show(actual)}, printed is ${show(printed)}`];
  if (type === 'array') return listDifferences(printed as unknown[], actual as unknown[], path);
  if (type === 'object') return objectDifferences(printed as object, actual as object, path);
  const key = path.split('.').at(-1) ?? '';
  const shape = VARIES[key];
  const alike = shape ? shape.test(String(actual)) : printed === '…' || settled(printed) === settled(actual);
  return alike ? [] : [`${path} is ${show(actual)}, printed is ${show(printed)}`];
}

const settled = (value: unknown) => (typeof value === 'string' ? value.replace(DAY, '<day>') : value);

function listDifferences(printed: unknown[], actual: unknown[], path: string): string[] {
  if (path.endsWith(`.${SHORTENED}`))
    return actual.flatMap((entry, i) => differences(printed[0], entry, `${path}.${i}`));
  if (printed.length !== actual.length) return [`${path} has ${actual.length} entries, printed are ${printed.length}`];
  return actual.flatMap((entry, i) => differences(printed[i], entry, `${path}.${i}`));
}

function objectDifferences(printed: object, actual: object, path: string): string[] {
  const [wanted, found] = [Object.keys(printed), Object.keys(actual)];
  if (show(wanted) !== show(found)) return [`${path} has the keys ${found}, printed are ${wanted}`];
  const values = actual as Record<string, unknown>;
  return Object.entries(printed).flatMap(([key, value]) => differences(value, values[key], `${path}.${key}`));
}
