// Creates a business in its owner's database.
import { and, eq, isNotNull, or, sql } from 'drizzle-orm';
import type * as z from 'zod/mini';
import { masked, newCredential, sha256Hex, shortHashOf } from '../core/credential.ts';
import { IDS_PER_DATABASE } from '../core/database.ts';
import { Conflict } from '../core/field-errors.ts';
import type { Ask, BoundDatabases } from '../db/batch.ts';
import { $call, isBeforeDeadline } from '../db/call.ts';
import { recordChange } from '../db/change.ts';
import { beginIds, sequence } from '../db/ids.ts';
import { parseJson } from '../db/json.ts';
import { type NewRow, rowIn, rowValues } from '../db/new-row.ts';
import { ifPermitted, isPermitted } from '../db/permission.ts';
import { businesses, retiredTokens, sites } from '../db/schema.ts';
import { named, operatorStatement, withVerdict } from '../db/statement.ts';
import { builder, NULL, type Placeholders } from '../db/text.ts';
import { claimHome } from '../homes/homes.ts';
import { businessAndSites } from '../shown-business/statements.ts';
import { listOfSites, newSite } from '../sites/statements.ts';
import { numberSites } from '../sources/sources.ts';
import type { newBusinessBody } from './operations.ts';
import { UNUSED_TOKEN_RULE, usedKeyRule } from './rules.ts';

/** The fields of a new business. Without `token`, a new token is generated. `sites` must be canonical. */
export type NewBusiness = Omit<z.output<typeof newBusinessBody>, 'id'>;

/** A retry with the same `idempotencyKey` returns the same business. `id` sets the id of the new business. */
type CreationRequest = { idempotencyKey?: string | undefined; id?: number | undefined };

/** The values that identify a creation, besides the mark that it writes: its idempotency key and its token. */
const IDENTITY = ['key', 'token'] as const;
type Identity = Placeholders<(typeof IDENTITY)[number]>;
/** The idempotency key as stored. Null if the request contains no key: in SQL, null never equals anything. */
const creationKeyOf = ({ key }: Pick<Identity, 'key'>) => sql`unhex(${key})`;
/** Matches the business that this request created. The mark identifies the request, and the token allows an index lookup. */
const isCreated = ({ token }: Identity) => and(eq(businesses.token, token), eq(businesses.decision, $call.call_id));

/** The highest business id so far. Null in a new database. */
const lastId = sql<number | null>`(select ${sequence.seq} from ${sequence} where ${sequence.name} = 'businesses')`;
const readLastId = operatorStatement([], (permission) => withVerdict(permission, { last_id: lastId }))({});

const insertBusiness = operatorStatement(
  [...IDENTITY, 'fields', 'id', 'hash', 'is_free', 'request'],
  (permission, $) => {
    const row: NewRow<typeof businesses> = {
      ...rowIn(businesses, $.fields),
      id: $.id,
      created_at: $.now,
      updated_at: $.now,
      decision: $.call_id,
      creation_key: creationKeyOf($),
      creation_request: sql`unhex(${$.request})`,
      billing_day: sql`coalesce(${$.fields} ->> 'billing_day', 1)`,
      has_billing_changes: 0,
    };
    const isKnown = sql`exists (select 1 from ${businesses} where ${eq(businesses.creation_key, creationKeyOf($))})`;
    const isRetired = sql`exists (select 1 from ${retiredTokens} where ${eq(retiredTokens.hash, $.hash)})`;
    const isPossible = sql`${$.is_free} and (${$.id} is null or ${$.id} > ${lastId})`;
    return builder
      .insert(businesses)
      .select(
        sql`select ${rowValues(businesses, row)} from ${permission} where ${and(isPermitted(permission), isBeforeDeadline, isPossible)}
        and not ${isKnown} and not ${isRetired}`,
      )
      .onConflictDoNothing({ target: businesses.token })
      .returning({ id: businesses.id });
  },
);
const recordCreation = operatorStatement([...IDENTITY, 'after'], (permission, $) =>
  recordChange(
    permission,
    { subject: sql`'business'`, subject_id: sql`${businesses.id}` },
    'create_business',
    { before: NULL, after: sql`${$.after}` },
    sql`from ${businesses} cross join ${permission} where ${isCreated($)}`,
  ),
);
const insertSites = operatorStatement([...IDENTITY, 'sites'], (_, $) =>
  builder
    .insert(sites)
    .select(
      sql`select ${newSite($)} from ${businesses} cross join json_each(${$.sites}) where ${isCreated($)} order by key`,
    ),
);
const numberNewSites = operatorStatement([...IDENTITY, 'sites'], (_, $) =>
  numberSites(sql`(select ${businesses.id} from ${businesses} where ${isCreated($)})`, $.sites),
);
/** Retires an imported token at creation, because a rotation can remove it later. A retired token can never be imported again. */
const retireToken = operatorStatement([...IDENTITY, 'hash'], (_, $) =>
  builder
    .insert(retiredTokens)
    .select(sql`select ${$.hash} from ${businesses} where ${and(isCreated($), isNotNull($.hash))}`),
);
/** Reads the business that this request created, or the one created earlier with the same idempotency key. */
const created = operatorStatement(IDENTITY, (permission, $) =>
  builder
    .select({
      ...named(businessAndSites),
      request: sql<string | null>`nullif(lower(hex(${businesses.creation_request})), '')`.as('request'),
    })
    .from(businesses)
    .where(or(isCreated($), eq(businesses.creation_key, ifPermitted(permission, creationKeyOf($))))),
);

/**
 * Creates an active business in its owner's database. Assigns a database to a new owner first. If this throws a Conflict, no business was
 * created, but the user may now have a home and a claim to the token.
 */
export async function createBusiness(databases: BoundDatabases, fields: NewBusiness, request: CreationRequest) {
  const { user_id, token, database } = fields;
  const { home, isFree } = await claimHome(databases, user_id, { wanted: database, token });
  if (home !== null && database !== undefined && home !== database)
    throw new Conflict('database', `must be ${home}, the database of user ${user_id}`);
  // With an idempotency key, an earlier attempt may have used the token, even if its claim was rebuilt after a restore.
  if (home === null || (!isFree && request.idempotencyKey === undefined))
    throw new Conflict('token', UNUSED_TOKEN_RULE);
  return createBusinessIn(databases.askIn(home), home, fields, { ...request, isFree });
}

/** Creates a business in database `number`, which must be the owner's home. An imported token must already be claimed by the owner. */
export async function createBusinessIn(
  ask: Ask,
  number: number,
  { token: imported, sites = [], ...fields }: NewBusiness,
  { idempotencyKey, id, isFree = true }: CreationRequest & { isFree?: boolean } = {},
) {
  const { database: _, ...columns } = fields;
  const maxId = number * IDS_PER_DATABASE + IDS_PER_DATABASE / 2;
  if (id !== undefined && id > maxId) throw new Conflict('id', `must be at most ${maxId}, to leave room for later ids`);
  const token = imported ?? newCredential('bua_pk_', number);
  const stored = { ...columns, ...(sites.length > 0 && { sites }), token: masked(token), status: 'active' };
  const hash = imported === undefined ? null : sha256Hex(imported);
  const asked = { ...fields, token: imported, sites, ...(id !== undefined && { id }) };
  const { key, request } = digestsOf(asked, idempotencyKey);
  const own = { token, key };
  const { row, created: found } = await ask(readLastId, {
    ...beginIds(number),
    decided: insertBusiness({
      ...own,
      fields: JSON.stringify({ overage: 0, page_overage: false, ...columns, token, status: 'active' }),
      id: id ?? null,
      hash,
      is_free: Number(isFree),
      request,
    }),
    recorded: recordCreation({ ...own, after: JSON.stringify(stored) }),
    sites: insertSites({ ...own, sites: listOfSites(sites) }),
    named: numberNewSites({ ...own, sites: listOfSites(sites) }),
    retired: retireToken({ ...own, hash }),
    created: created(own),
  });
  const [business] = found;
  if (business === undefined) {
    const last = row.last_id ?? number * IDS_PER_DATABASE;
    if (id !== undefined && id <= last)
      throw new Conflict('id', `must be greater than ${last}, the last id of its database`);
    throw new Conflict('token', UNUSED_TOKEN_RULE);
  }
  if (business.request === null) return business;
  const { id: known, user_id } = parseJson(business.business);
  // Don't return the business, with its token, to a former owner.
  if (user_id !== fields.user_id) throw new Conflict('Idempotency-Key', GIVEN_AWAY_RULE);
  if (business.request !== request) throw new Conflict('Idempotency-Key', usedKeyRule(known));
  return business;
}
const GIVEN_AWAY_RULE = 'must be a new key: the business that it created now belongs to another user';

/** Returns the hash of an Idempotency-Key, scoped to the user, and the hash of its request. Both are null if there is no key. */
function digestsOf(asked: { user_id: number }, idempotencyKey: string | undefined) {
  if (idempotencyKey === undefined) return { key: null, request: null };
  return {
    key: shortHashOf(`${asked.user_id} ${idempotencyKey}`),
    request: shortHashOf(JSON.stringify(Object.entries(asked).sort())),
  };
}
