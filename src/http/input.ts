// Validates input. Checks the permission before reporting an input error, so unauthorized callers receive the refusal instead.
import { zValidator } from '@hono/zod-validator';
import type { Context, HonoRequest, MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import type { FieldErrors } from '../core/conflict.ts';
import { isEmptyBody, MAX_JSON_DEPTH, MAX_JSON_ENTRIES, type ParsedJson, parseBoundedJson } from '../core/json.ts';
import { type Operation, POLICY } from '../core/policy.ts';
import { parseIdempotencyKey } from '../core/use.ts';
import { readVerdict } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import {
  ID_RULE,
  NO_BODY_RULE,
  NO_KEY_RULE,
  NO_QUERY,
  QUOTED_RULE,
  type Query,
  unknownRule,
} from '../wire/requests.ts';
import { inputError, type ServiceError } from './errors.ts';

const JSON_RULES = {
  too_large: `must have at most ${MAX_JSON_DEPTH} levels of nesting and at most ${MAX_JSON_ENTRIES} members and elements`,
  not_json: 'must be valid JSON',
  repeated: 'must not contain duplicate members in an object',
};

/** Returns the error to throw for invalid input. Throws the refusal instead if the call is refused. */
export async function invalidInput(c: ContextOf<Guarded>, errors: FieldErrors): Promise<ServiceError> {
  await c.get('ask')(readVerdict);
  return inputError(errors);
}

/** Like invalidInput, but for one invalid field. `rule` completes a sentence that starts with the field's name. */
export const invalidField = (c: ContextOf<Guarded>, field: string, rule: string) =>
  invalidInput(c, { [field]: [`${field} ${rule}`] });

/** Returns the error for an Idempotency-Key that the operation cannot use, or null. */
export function idempotencyKeyError(req: HonoRequest, operation: Operation): FieldErrors | null {
  if (POLICY[operation].retry !== 'never' || req.header('Idempotency-Key') === undefined) return null;
  return { 'Idempotency-Key': [`Idempotency-Key ${NO_KEY_RULE}`] };
}

/** Returns the id in an Idempotency-Key. Throws if it is invalid. */
export async function requireId(c: ContextOf<Guarded>, header: string): Promise<string> {
  const id = parseIdempotencyKey(header);
  if (id !== null) return id;
  throw await invalidField(c, 'Idempotency-Key', header.startsWith('"') ? `${QUOTED_RULE} ${ID_RULE}` : ID_RULE);
}

/** Groups the validation issues of `input` by field. Each message starts with the field's name, which can be any text, even `__proto__`. */
export function groupIssuesByField(issues: readonly z.core.$ZodIssue[], input: unknown): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const issue of issues) {
    const unknown = issue.code === 'unrecognized_keys' ? [nameOf(issue.keys[0])] : [];
    const path = [...issue.path, ...unknown];
    const field = path.length === 0 ? 'body' : path.join('.');
    const given = issue.path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], input);
    const missing = given === undefined && path.length > 0 ? 'is required, and ' : '';
    errors.set(field, [...(errors.get(field) ?? []), `${field} ${missing}${issue.message}`]);
  }
  return Object.fromEntries(errors);
}

const NAME_LENGTH = 64;
/** Shortens a name for an error message. */
const nameOf = (sent = '') => (sent === '' ? '""' : sent.slice(0, NAME_LENGTH).toWellFormed());

/**
 * Returns the error for the first unknown parameter, or null. Allows `_=<digits>` on reads, because old clients add it to bypass caches.
 */
export function unknownParameter(
  { url, method }: HonoRequest,
  { name, schema, operatorOnly = [] }: Query,
  isOperator = false,
): FieldErrors | null {
  if (!url.includes('?')) return null;
  const known = Object.keys(schema.shape).filter((name) => isOperator || !operatorOnly.includes(name));
  const query = url.slice(url.indexOf('?') + 1);
  // Fast path: nearly every query contains only known, unencoded names.
  if (query.split('&').every((pair) => known.includes(pair.replace(/=.*/s, '')))) return null;
  const isRead = method === 'GET' || method === 'HEAD';
  // Iterates in the order of the query, because the parsed object lists names such as `7` first.
  for (const [sent, value] of new URLSearchParams(`?${query}`)) {
    // URLSearchParams drops one leading question mark. A second one is part of a name.
    if (known.includes(sent) || (isRead && sent === '_' && /^\d+$/.test(value))) continue;
    const field = nameOf(sent);
    return { [field]: [`${field} ${unknownRule('parameter', name, known)}`] };
  }
  return null;
}

/** Validates the parameters for `c.req.valid('query')`, and rejects unknown ones. */
export const queryInput = (query: Query): MiddlewareHandler =>
  zValidator('query', query.schema, async (result, c: Context<Guarded>) => {
    const isOperator = c.get('call').credential.kind === 'operator';
    const errors =
      unknownParameter(c.req, query, isOperator) ??
      (result.success ? null : groupIssuesByField(result.error.issues, result.data));
    if (errors !== null) throw await invalidInput(c, errors);
  });

/** Rejects every parameter. */
export const noQuery: MiddlewareHandler<Guarded> = async function noQuery(c, next) {
  const errors = unknownParameter(c.req, NO_QUERY);
  if (errors !== null) throw await invalidInput(c, errors);
  await next();
};

/** Rejects every body, because the sender of a `DELETE` with a body may mean to remove less than the path names. */
export async function requireNoBody(c: ContextOf<Guarded>, body: string): Promise<void> {
  if (!isEmptyBody(body)) throw await invalidField(c, 'body', NO_BODY_RULE);
}

/** Reads a JSON body of any content type (Hono reads other types as {}). Returns undefined for an empty body if the schema allows it. */
export async function readJson<S extends z.ZodMiniType>(
  c: ContextOf<Guarded>,
  body: string,
  schema: S,
): Promise<z.output<S>> {
  if (isEmptyBody(body)) {
    const nothing = z.safeParse(schema, undefined);
    if (nothing.success) return nothing.data;
  }
  return requireJson(c, parseBoundedJson(body), schema);
}

/** Validates a parsed JSON body. Throws if it is invalid. */
export async function requireJson<S extends z.ZodMiniType>(
  c: ContextOf<Guarded>,
  json: ParsedJson,
  schema: S,
): Promise<z.output<S>> {
  const { data, errors } = checkJson(json, schema);
  if (errors !== undefined) throw await invalidInput(c, errors);
  return data;
}

type Checked<T> = { data: T; errors?: never } | { data?: never; errors: FieldErrors };

export function checkJson<S extends z.ZodMiniType>(json: ParsedJson, schema: S): Checked<z.output<S>> {
  if (json.problem !== undefined) return { errors: { body: [`body ${JSON_RULES[json.problem]}`] } };
  const result = z.safeParse(schema, json.value);
  return result.success ? { data: result.data } : { errors: groupIssuesByField(result.error.issues, json.value) };
}
