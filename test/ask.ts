// Creates fixtures as the operator by calling the functions that routes use, without a request. Runs in workerd and Node.

import { createBusinessIn, type NewBusiness } from '../src/business/creation.ts';
import { newCredential } from '../src/core/credential.ts';
import type { Rule } from '../src/core/policy.ts';
import { randomId } from '../src/core/random.ts';
import { formatTimestamp } from '../src/core/time.ts';
import { type Ask, type BoundDatabases, noCost, runBatch } from '../src/db/batch.ts';
import { parseJson } from '../src/db/json.ts';
import type { BusinessRow, Database } from '../src/db/schema.ts';
import { readVerdict } from '../src/db/statement.ts';
import { claimHome } from '../src/homes/homes.ts';
import { createKeyIn, type KeyRequest, keysOf, revokeKey as revoke } from '../src/keys/statements.ts';
import type { Operation } from '../src/operation.ts';
import { OPERATIONS } from '../src/operations.ts';
import { rotateToken as replaceToken } from '../src/tokens/statements.ts';

/** A database and its number. The ids and credentials created in the database contain this number. */
type Numbered = { number: number; db: Database };

const RULES = Object.values<Operation>(OPERATIONS).flatMap(({ rules }): readonly Rule[] => rules);

/** Returns the first rule with this name. */
export function ruleNamed(wanted: string): Rule {
  const rule = RULES.find(({ name }) => name === wanted);
  if (rule === undefined) throw new Error(`no rule ${wanted}`);
  return rule;
}

/** Returns the `ask` that a route receives. If the business id is omitted, the call does not concern a business. The same goes for the user. */
export const asking =
  (
    { db }: Pick<Numbered, 'db'>,
    rule: string,
    now: Date,
    business_id: number | null = null,
    user_id: number | null = null,
  ): Ask =>
  async (read, steps) => {
    const { row, rows, bytes } = await runBatch(
      db.$client,
      {
        id: randomId(),
        ...{ rule: ruleNamed(rule), business_id: business_id ?? 0, namesBusiness: business_id !== null, now },
        ...{ user_id: user_id ?? 0, namesUser: user_id !== null },
        ...{
          credential: { kind: 'operator', name: 'operator (…abcd)', role: 'full' },
          origin: null,
          isOriginDerived: false,
          ownOrigin: '',
        },
        deadline: Number.MAX_SAFE_INTEGER,
      },
      read,
      steps,
      noCost(),
    );
    if (row === undefined || row.refusal !== null) throw new Error(`refused: ${row?.refusal}`);
    return { ...rows, row, bytes };
  };

/** Returns the `databases` that a route receives. */
export const boundTo = (all: readonly Numbered[], now: Date, rule = 'create_business'): BoundDatabases => ({
  numbers: all.map(({ number }) => number),
  askIn: (number) => asking(all.find((one) => one.number === number) as Numbered, rule, now),
});

/** Returns the number of a user's database. A new user is assigned a database first. */
export async function homeOf(databases: BoundDatabases, user_id: number, wanted?: number): Promise<number> {
  const { home } = await claimHome(databases, user_id, { wanted });
  if (home === null) throw new Error('a claim gave no home');
  return home;
}

/** Creates a business in its owner's database. An imported token must be claimed first. */
export async function createBusiness(home: Numbered, fields: NewBusiness, now: Date): Promise<BusinessRow> {
  const { business } = await createBusinessIn(asking(home, 'create_business', now), home.number, fields);
  return parseJson(business);
}

/** Replaces a business's token. The old token keeps working for `keepMs`. Without `keepMs`, all old tokens stop immediately. */
export async function rotateToken(home: Numbered, id: number, now: Date, keepMs?: number): Promise<string> {
  const token = newCredential('bua_pk_', home.number);
  const keepUntil = keepMs === undefined ? null : formatTimestamp(new Date(now.getTime() + keepMs));
  await asking(home, 'rotate_token', now, id)(readVerdict, replaceToken({ token, keep_until: keepUntil }));
  return token;
}

export const createKey = (home: Numbered, key: KeyRequest, now: Date) =>
  createKeyIn(asking(home, 'create_key', now, null, key.user_id), home.number, key);

export const listKeys = (db: Database, user_id: number, now: Date) =>
  keysOf(asking({ db }, 'list_keys', now, null, user_id));

/** Revokes a key. Returns null if the user has no key with this id. */
export const revokeKey = (db: Database, id: number, user_id: number, now: Date) =>
  revoke(asking({ db }, 'revoke_key', now, null, user_id), id);
