// Defines operations. A definition says who may call an operation and what it accepts. The guard, the permission's SQL, the routes, the
// OpenAPI description, the commands and the tests of every operation are derived from it. Loads neither the router nor the database,
// because commands load definitions, too.
import type * as z from 'zod/mini';
import type { Namespace } from './core/credential.ts';
import type { FieldErrors } from './core/field-errors.ts';
import type { ParsedJson } from './core/json.ts';
import type { Rule } from './core/policy.ts';
import type { Query } from './input.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** The path of all operations. */
export const API = '/api/v1';
/**
 * The names of parameters in paths. The permission compares the owner of a `business_id`, and a `user_id`, with the caller's key. No other name
 * may therefore stand for a business or a user.
 */
const PARAMETERS = ['business_id', 'user_id', 'access_id', 'key_id', 'former_id'] as const;
export type PathParameter = (typeof PARAMETERS)[number];

export type Body = z.ZodMiniType<object | undefined>;
type OwnRule = Omit<Rule, 'isOfUsage'>;
/** What chooses among several rules: the body, and the parameters of the query. Neither is validated yet. */
type Sent = { body: string; query: Record<string, string> };
/** The name of the rule that applies to a request, and the body if the rule has one. */
export type Chosen = { rule: string; json?: ParsedJson };

/** What a check can depend on, besides the input. */
export type Circumstances = {
  now: Date;
  /** The numbers of the databases that the call can query. */
  numbers: readonly number[];
  /** The caller's namespace of ids. */
  namespace: Namespace;
  isOperator: boolean;
  /** True if the request contains an Idempotency-Key. */
  hasKey: boolean;
};
/**
 * Rules for which a schema is not enough, for example because they depend on the time. `given` contains the input that is not wrong, and
 * `errors` the errors of the rest.
 */
export type Check<Given = never> = (
  given: Given,
  circumstances: Circumstances,
  errors: FieldErrors,
) => FieldErrors | Promise<FieldErrors>;

type Input = { query?: Query | undefined; check?: Check | undefined };
/** An operation with one rule, or one whose body or query determines which of several rules applies. */
export type Definition = { route: `${Method} /${string}` } & Input &
  (
    | (OwnRule & { body?: Body; code?: never })
    /** `code` is the schema of a body with a code, which the caller can send in place of a credential. */
    | (OwnRule & { body?: never; code: z.ZodMiniType<{ code: string }> })
    | { rules: { readonly [name: string]: Omit<OwnRule, 'name'> & { body?: Body } }; ruleOf: (sent: Sent) => Chosen }
  );
type Definitions = { readonly [id: string]: Definition };

/** A rule, and the schema of the body. Without a schema, the body must be empty. */
type RuleWithBody = Rule & { body?: Body };

export type Operation = Input & {
  /** The `operationId` in the OpenAPI description. */
  id: string;
  method: Method;
  /** The pattern below /api/v1. */
  path: string;
  namesBusiness: boolean;
  namesUser: boolean;
  /** Several if the body or the query determines the rule. */
  rules: readonly [RuleWithBody, ...RuleWithBody[]];
  ruleOf?: ((sent: Sent) => Chosen) | undefined;
  code?: z.ZodMiniType<{ code: string }> | undefined;
};

/** The schema types of a definition. Query and Body stand for none. */
export type QueryOf<D> = D extends { query: infer Q extends Query } ? Q : Query;
export type BodyOf<D> = D extends { rules: infer Rs }
  ? Rs[keyof Rs] extends { body: infer B extends Body }
    ? B
    : Body
  : D extends { body: infer B extends Body }
    ? B
    : Body;

/** Input of which any value can be missing, because it is wrong. An entry of a list can be missing, too. */
type Partly<T> = T extends (infer Entry)[]
  ? (Partly<Entry> | undefined)[]
  : T extends object
    ? { [Name in keyof T]?: Partly<T[Name]> | undefined }
    : T;
type GivenTo<D> = Partly<
  (Query extends QueryOf<D> ? object : z.output<QueryOf<D>['schema']>) &
    (Body extends BodyOf<D> ? object : NonNullable<z.output<BodyOf<D>>>)
>;

/** `definition` exists only as a type, for the types of handlers and of Hono's client. */
type Defined<Ds> = { readonly [Id in keyof Ds]: Operation & { readonly definition: Ds[Id] } };

/** A misspelled member would drop what it says: a check, a rate limit. */
type Member = keyof OwnRule | 'route' | 'query' | 'check' | 'body' | 'code' | 'rules' | 'ruleOf';
type NoOthers<D> = { readonly [Name in Exclude<keyof D, Member>]: never };

/** The intersection of the members of a union. */
export type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Both) => void
  ? Both
  : never;

/** Defines operations by id. Throws if a path has an unknown parameter. */
export function define<const Ds extends Definitions>(
  definitions: Ds & { readonly [Id in keyof Ds]: { check?: Check<GivenTo<Ds[Id]>> } & NoOthers<Ds[Id]> },
): Defined<Ds> {
  const operations = Object.entries<Definition>(definitions).map(([id, definition]): [string, Operation] => {
    const { route, query, check, ...rest } = definition;
    const [method, path = ''] = route.split(' ') as [Method, string];
    const names: string[] = path.match(/(?<=:)\w+/g) ?? [];
    const unknown = names.find((name) => !PARAMETERS.some((known) => known === name));
    if (unknown !== undefined) throw new Error(`${path} has an unknown parameter: ${unknown}`);
    const named = { namesBusiness: names.includes('business_id'), namesUser: names.includes('user_id') };
    const common = { id, method, path, query, check, ...named };
    const isOfUsage = path.startsWith('/business/usage/');
    if (!('rules' in rest)) {
      const { code, ...rule } = rest;
      return [id, { ...common, code, rules: [{ ...rule, isOfUsage }] }];
    }
    const [first, ...others] = Object.entries(rest.rules).map(([name, rule]) => ({ ...rule, name, isOfUsage }));
    if (first === undefined) throw new Error(`${id} has no rule`);
    return [id, { ...common, ruleOf: rest.ruleOf, rules: [first, ...others] }];
  });
  return Object.fromEntries(operations) as Defined<Ds>;
}
