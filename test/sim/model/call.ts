// A request as the model understands it, and what the service must answer.
import type { Caller } from './callers.ts';
import { type Errors, idOf } from './input.ts';
import type { Business, Code, Entry, Key, State } from './state.ts';

export type Plain = { method: string; path: string; headers: Record<string, string>; body: string | null };

/** Stands for a body that is not checked. */
export const ANY = { any: true } as const;
export type Expected = {
  status: number;
  /** A JSON value or a text (CSV). */
  body: unknown;
  /** The Error-Code. Null for a success. */
  code: string | null;
  /** Null is a header that must be absent. */
  headers: Record<string, string | null>;
  /** What the Worker stores after the response: the day of the last use of a key or a former token, an origin of a business, and uses that its limits refused. */
  after: { key: number | null; former: string | null; refused: number | null; limited: number | null };
};

export type Call = {
  state: State;
  /** Its name in the log. */
  operation: string;
  caller: Caller;
  /** The key or session that calls. */
  key: Key | null;
  code: Code | null;
  /** The last four characters of an operator key. */
  operator: string | null;
  /** The business in the path. */
  business: Business | null;
  /** The parts of the path that are in the place of a parameter. */
  parameters: Record<string, string>;
  query: URLSearchParams;
  body: string;
  /** The parsed body. Undefined if it is empty. */
  json: unknown;
  headers: Record<string, string>;
  origin: string | null;
  own: string;
  now: number;
  /** The time by the clock of the database, in which what an owner spends is measured. */
  clock: number;
};

/** An answer that ends a request. */
export class Answer extends Error {
  readonly expected: Omit<Expected, 'after'>;
  /** The uses that a limit refused. */
  readonly refusedUses: number;
  constructor(
    status: number,
    code: string | null,
    body: unknown,
    headers: Record<string, string | null> = {},
    refusedUses = 0,
  ) {
    super(`${status} ${code}`);
    this.refusedUses = refusedUses;
    this.expected = { status, code, body, headers };
  }
}

/** The only business in the path of a call that was permitted. */
export function businessOf({ business }: Call): Business {
  if (business === null) throw new Error('the call names no business');
  return business;
}
/** The user in the path. */
export function userOf({ parameters }: Call): number {
  const user_id = idOf(parameters.user_id ?? '');
  if (user_id === null) throw unknownId('User id');
  return user_id;
}
/** The members of a body whose input is right. */
export const sentIn = <Sent>({ json }: Call): Sent => (json ?? {}) as Sent;
export const entriesOf = (state: State, business_id: number): Entry[] =>
  state.entries.filter((entry) => entry.business_id === business_id);
export const sitesOf = (state: State, business_id: number): string[] =>
  entriesOf(state, business_id).map(({ site }) => site);

export const success = (data: unknown, headers: Record<string, string | null> = {}) =>
  new Answer(200, null, { status: true, data }, headers);
export const refused = (status: number, code: string, message: string, headers = {}) =>
  new Answer(status, code, { status: false, message }, headers);
export function invalid(errors: Errors, code = 'invalid_input'): Answer {
  const message = Object.values(errors)[0]?.[0] ?? '';
  return new Answer(422, code, { status: false, message, errors });
}
export const invalidField = (field: string, rule: string) => invalid({ [field]: [`${field} ${rule}`] });
export const unauthenticated = (wasSent: boolean) =>
  new Answer(
    401,
    'unauthenticated',
    { message: 'Unauthenticated.' },
    {
      'WWW-Authenticate': wasSent
        ? 'Bearer error="invalid_token", error_description="Send a valid API key or business token in the header Authorization: Bearer <key or token>"'
        : 'Bearer',
    },
  );
export const unknownId = (name: string) => refused(404, 'unknown_entry', `${name} is not valid`);
export const unavailable = () =>
  new Answer(503, 'unavailable', { message: 'Service Unavailable' }, { 'Retry-After': '10' });
