// Serves operations: a route for each, with its guard and its types for Hono's client, and a 405 for a path's other methods.
import type { Input } from 'hono';
import type { HonoBase } from 'hono/hono-base';
import type { Schema, ToSchema } from 'hono/types';
import type * as z from 'zod/mini';
import type { ContextOf, Env, Guarded } from './env.ts';
import { guard } from './guard.ts';
import { newRoutes, withMethodNotAllowed } from './http/router.ts';
import type { Query } from './input.ts';
import { type All, API, type Body, type BodyOf, type Definition, type Operation, type QueryOf } from './operation.ts';

/** The types of `c.req.valid`: the parameters as `query` and the body as `json`, which is {} for an empty body. */
type InputOf<D> = {
  in: (Query extends QueryOf<D> ? object : { query: z.input<QueryOf<D>['schema']> }) &
    (D extends { code: infer C extends z.ZodMiniType }
      ? { json?: z.input<C> }
      : Body extends BodyOf<D>
        ? object
        : { json: z.input<BodyOf<D>> });
  out: (Query extends QueryOf<D> ? object : { query: z.output<QueryOf<D>['schema']> }) &
    (Body extends BodyOf<D> ? object : { json: NonNullable<z.output<BodyOf<D>>> });
};
type PathOf<D extends Definition> = D['route'] extends `${string} ${infer Path}` ? Path : never;
type Operations = { readonly [id: string]: Operation & { readonly definition: Definition } };
type HandlersOf<Os extends Operations> = {
  [Id in keyof Os]: (
    c: ContextOf<Guarded, PathOf<Os[Id]['definition']>, InputOf<Os[Id]['definition']>>,
  ) => Promise<Response>;
};

type RouteOf<
  D extends Definition,
  Handler extends (c: never) => Promise<Response>,
> = D['route'] extends `${infer Method} ${infer Path}`
  ? ToSchema<
      Lowercase<Method>,
      `${typeof API}${Path}`,
      InputOf<D> extends infer I extends Input ? I : never,
      Awaited<ReturnType<Handler>>
    >
  : never;
type SchemaOf<Os extends Operations, Hs extends HandlersOf<Os>> =
  All<{ [Id in keyof Os]: RouteOf<Os[Id]['definition'], Hs[Id]> }[keyof Os]> extends infer S extends Schema ? S : never;

/** Returns routes for operations. Static paths come before parameters, which would match them. */
export function serve<Os extends Operations, const Hs extends HandlersOf<Os>>(
  operations: Os,
  handlers: Hs,
): HonoBase<Env, SchemaOf<Os, Hs>, '/'> {
  const routes = newRoutes();
  // Hono infers types only from literal paths. `HandlersOf` and `SchemaOf` derive them from the definitions, hence the casts.
  const rank = ({ path }: Operation) => path.replaceAll(':', '~');
  for (const operation of Object.values<Operation>(operations).toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)))
    routes.on(operation.method, `${API}${operation.path}`, guard(operation), handlers[operation.id] as never);
  return withMethodNotAllowed(routes) as never;
}
