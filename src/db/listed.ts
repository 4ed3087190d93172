// The businesses that a list of the caller's contains: those of its key, or all of a database if the caller is the operator.
import { and, between, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Refusal } from '../core/policy.ts';
import type { CallShape } from './call.ts';
import { type Permission, ruleFor } from './permission.ts';
import { businesses } from './schema.ts';
import { NULL } from './text.ts';

/** Restricts a list to one user's businesses: the key's, unless the caller is the operator. */
export const ownerIs = ({ key_user_id }: Permission, { caller }: CallShape) =>
  caller === 'operator' ? undefined : eq(businesses.user_id, key_user_id);

/** Tests whether a business is listed after the id `after`. A key for one business restricts the range to that business's id. */
export function isListed({ key_business_id }: Permission, after: SQLWrapper, owner: SQL | undefined) {
  const start = sql`max(${after} + 1, coalesce(${key_business_id}, 0))`;
  const end = sql`coalesce(${key_business_id}, ${Number.MAX_SAFE_INTEGER})`;
  return and(owner, between(businesses.id, start, end));
}

/** The reason why the caller's origin may not read a listed business, of which the list then says nothing. Null if it may. */
export const denial = ({ role, is_session, key_user_id, key_business_id }: Permission, shape: CallShape) =>
  sql<Refusal | null>`(${ruleFor(shape, { role, is_session, key_user_id, key_business_id, can_create_keys: NULL })})`;
