// Validates input. Checks the permission before reporting an input error, so unauthorized callers receive the refusal instead.
import { zValidator } from '@hono/zod-validator';
import type { Context, HonoRequest, MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import { errorOf, type FieldErrors } from '../core/field-errors.ts';
import { parseIdempotencyKey } from '../core/idempotency-key.ts';
import { isEmptyBody, MAX_JSON_DEPTH, MAX_JSON_ENTRIES, type ParsedJson, parseBoundedJson } from '../core/json.ts';
import type { Rule } from '../core/policy.ts';
import { readVerdict } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { ID_RULE, NO_BODY_RULE, NO_KEY_RULE, NO_QUERY, QUOTED_RULE, type Query, unknownRule } from '../input.ts';
import { inputError, type ServiceError } from './errors.ts';

const JSON_RULES = {
  too_large: `must have at most ${MAX_JSON_DEPTH} levels of nesting and at most ${MAX_JSON_ENTRIES} members and elements`,
  not_json: 'must be valid JSON',
  repeated: 'must not contain duplicate members in an object',
};

/** The number of wrong fields that an error lists, so that a small body cannot cause a response of megabytes. */
const MAX_FIELDS = 1000;

/** Returns the error to throw for invalid input. Throws the refusal instead if the call is refused. */
export async function invalidInput(c: ContextOf<Guarded>, errors: FieldErrors): Promise<ServiceError> {
  await c.get('ask')(readVerdict);
  return inputError(Object.fromEntries(Object.entries(errors).slice(0, MAX_FIELDS)));
}

/** Returns the errors of an Idempotency-Key that the operation cannot use. */
export function idempotencyKeyErrors(
  req: HonoRequest,
  { retry, rejectsKey }: Pick<Rule, 'retry' | 'rejectsKey'>,
): FieldErrors {
  const header = req.header('Idempotency-Key');
  if (header === undefined) return {};
  const name = 'Idempotency-Key';
  if (rejectsKey !== undefined) return errorOf(name, rejectsKey);
  if (retry === 'never') return errorOf(name, NO_KEY_RULE);
  if (retry !== 'with_key' || parseIdempotencyKey(header) !== null) return {};
  return errorOf(name, header.startsWith('"') ? `${QUOTED_RULE} ${ID_RULE}` : ID_RULE);
}

/** Returns the id in a valid Idempotency-Key, or undefined if none was sent. */
export const idOf = ({ req }: Pick<ContextOf<Guarded>, 'req'>): string | undefined =>
  parseIdempotencyKey(req.header('Idempotency-Key') ?? '') ?? undefined;

/** Returns the id in the Idempotency-Key of a request whose check requires one. */
export function requiredIdOf(c: Pick<ContextOf<Guarded>, 'req'>): string {
  const id = idOf(c);
  if (id === undefined) throw new Error('the check did not require an Idempotency-Key');
  return id;
}

/** Groups the validation issues of `input` by field. Each message starts with the field's name, which can be any text, even `__proto__`. */
export function groupIssuesByField(issues: readonly z.core.$ZodIssue[], input: unknown): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const issue of issues) {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MAX_UNKNOWN) : null;
    const paths = unknown?.map((key) => [...issue.path, nameOf(key)]) ?? [issue.path];
    const given = issue.path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], input);
    for (const path of paths) {
      const field = path.length === 0 ? 'body' : path.join('.');
      const missing = given === undefined && path.length > 0 ? 'is required, and ' : '';
      errors.set(field, [...(errors.get(field) ?? []), `${field} ${missing}${issue.message}`]);
    }
  }
  return Object.fromEntries(errors);
}

/** The number of unknown names in one object, or in a query, that errors mention, because each error lists the known names. */
const MAX_UNKNOWN = 20;
const NAME_LENGTH = 64;
/** Shortens a name for an error message. */
const nameOf = (sent: string) => (sent === '' ? '""' : sent.slice(0, NAME_LENGTH).toWellFormed());

/** Returns the errors of unknown parameters. Allows `_=<digits>` on reads, because old clients add it to bypass caches. */
export function unknownParameters(
  { url, method }: HonoRequest,
  { name, schema, operatorOnly = [] }: Query,
  isOperator = false,
): FieldErrors {
  if (!url.includes('?')) return {};
  const known = Object.keys(schema.shape).filter((name) => isOperator || !operatorOnly.includes(name));
  const query = url.slice(url.indexOf('?') + 1);
  // Fast path: nearly every query contains only known, unencoded names.
  if (query.split('&').every((pair) => known.includes(pair.replace(/=.*/s, '')))) return {};
  const isRead = method === 'GET' || method === 'HEAD';
  const errors = new Map<string, string[]>();
  // Iterates in the order of the query, because the parsed object lists names such as `7` first.
  for (const [sent, value] of new URLSearchParams(`?${query}`)) {
    // URLSearchParams drops one leading question mark. A second one is part of a name.
    if (known.includes(sent) || (isRead && sent === '_' && /^\d+$/.test(value))) continue;
    if (errors.size === MAX_UNKNOWN) break;
    const field = nameOf(sent);
    errors.set(field, [`${field} ${unknownRule('parameter', name, known)}`]);
  }
  return Object.fromEntries(errors);
}

/** Input after the check of its schema. If `errors` is not empty, `data` is missing, and `given` contains only what is not wrong. */
type Checked<T = unknown> = { data?: T; given: object; errors: FieldErrors };
const VALID = { errors: {} };
const NOTHING: Checked = { ...VALID, data: {}, given: {} };

type Result<T> = { success: true; data: T } | { success: false; error: Pick<z.core.$ZodError, 'issues'> };
function checked<T>(result: Result<T>, input: unknown): Checked<T> {
  if (result.success) return { ...VALID, data: result.data, given: Object(result.data) };
  const { issues } = result.error;
  const errors = groupIssuesByField(issues, input);
  return { given: withoutWrong(input, issues), errors };
}

/** Removes the values with issues from `input`, so that rules for which a schema is not enough can check the others. */
function withoutWrong(input: unknown, issues: readonly z.core.$ZodIssue[]): object {
  for (const { code, path } of issues) {
    const last = path.at(-1);
    if (code === 'unrecognized_keys') continue;
    if (last === undefined) return {};
    type Holder = Record<PropertyKey, unknown> | undefined;
    const holder = path.slice(0, -1).reduce((value, key) => value?.[key] as Holder, input as Holder);
    delete holder?.[last];
  }
  return Object(input);
}

/** Checks the parameters, and sets `c.req.valid('query')` if they are valid and the operation has any. */
export async function checkQuery(c: Context<Guarded>, query: Query, isOperator: boolean): Promise<Checked> {
  let inQuery = NOTHING;
  if (query === NO_QUERY && !c.req.url.includes('?')) return inQuery; // as for most uses
  const parse: MiddlewareHandler = zValidator('query', query.schema, (result) => {
    const known = checked(result, result.data);
    const unknown = unknownParameters(c.req, query, isOperator);
    inQuery = { ...known, errors: { ...unknown, ...known.errors, ...unknown } };
  });
  await parse(c, async () => {}); // drops its response to invalid parameters: the guard reports all invalid input together
  return inQuery;
}

/**
 * Checks a body of any content type as JSON (Hono reads other types as {}), which `json` is if it is parsed already. An empty body is {} if
 * the schema allows it. Without a schema, every other body is rejected, because the sender of a `DELETE` with a body may mean to remove less
 * than the path names.
 */
export function checkBody(body: string, schema: z.ZodMiniType | undefined, json?: ParsedJson): Checked {
  const isEmpty = json === undefined && isEmptyBody(body);
  if (isEmpty && (schema === undefined || z.safeParse(schema, undefined).success)) return NOTHING;
  if (schema === undefined) return { given: {}, errors: errorOf('body', NO_BODY_RULE) };
  return checkJson(json ?? parseBoundedJson(body), schema);
}

export const checkJson = <S extends z.ZodMiniType>(json: ParsedJson, schema: S): Checked<z.output<S>> =>
  json.problem === undefined
    ? checked(z.safeParse(schema, json.value), json.value)
    : { given: {}, errors: errorOf('body', JSON_RULES[json.problem]) };
