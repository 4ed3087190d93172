// Every table has an answer: what happens to its rows when a business is deleted and when a user is erased, and whether the simulator
// compares it. The answers are those that the statements give. A table that they leave out is named here, with the reason.
import { beforeAll, expect, test } from 'vitest';
import operating from '../docs/operating.md?raw';
import type { CallShape } from '../src/db/call.ts';
import { DEFINITIONS } from '../src/db/statement.ts';
import { ruleNamed } from './ask.ts';
import { placeOf, writtenBy } from './definitions.ts';
import { COMPARED } from './sim/check.ts';
import { env } from './support.ts';

type Reasons = Record<string, string>;
const KEPT_BY_DELETIONS: Reasons = {
  ledger: 'the purge deletes its rows in steps, because there can be millions',
  changes: 'the purge deletes all but the deletion itself',
  deletions: 'the purge needs the row until it has deleted the others',
};
const KEPT_BY_ERASURES: Reasons = {
  businesses: 'a user who has a business is not erased',
};
const NOT_COMPARED: Reasons = {
  runs: 'no document says how far a walk of the purge must have got, and health.test.ts and purge.test.ts read it',
};

let columns: { table: string; column: string }[];
beforeAll(async () => {
  const listed = await env.DB.prepare(
    `select tables.name as "table", columns.name as "column" from sqlite_master as tables, pragma_table_info(tables.name) as columns
      where tables.type = 'table' and tables.name not like 'sqlite_%' and tables.name not like 'd1_%' and tables.name not like '_cf_%'`,
  ).all<(typeof columns)[number]>();
  columns = listed.results;
});
const tablesWith = (pattern: RegExp) => [
  ...new Set(columns.filter(({ column }) => pattern.test(column)).map(({ table }) => table)),
];
/** The tables that the statements of a file update, or from which they delete. */
const writtenIn = (file: string) => {
  const shape: CallShape = {
    ...{
      caller: 'operator',
      rule: ruleNamed('create_business'),
      namesBusiness: true,
      namesUser: false,
      origin: 'exempt',
    },
    candidates: 0,
  };
  const texts = DEFINITIONS.filter((one) => placeOf(one).startsWith(`src/${file}:`)).map(
    (one) => one.textFor(shape).sql,
  );
  return texts.filter((sql) => !sql.startsWith('insert')).map(writtenBy);
};

test.each([
  {
    of: 'that names a business',
    pattern: /^(business_id|subject_id)$/,
    answered: () => writtenIn('business/deletion.ts'),
    kept: KEPT_BY_DELETIONS,
    missing:
      'A deleted business leaves rows in these tables: add them to OWN_TABLES in src/business/deletion.ts, or say here why not',
  },
  {
    of: 'that names a user',
    pattern: /(^|_)user_id$|^subject_id$/,
    answered: () => writtenIn('users/statements.ts'),
    kept: KEPT_BY_ERASURES,
    missing:
      'An erased user leaves rows in these tables: add a step to STEPS in src/users/statements.ts, or say here why not',
  },
  {
    of: 'of the database',
    pattern: /./,
    answered: () => COMPARED,
    kept: NOT_COMPARED,
    missing:
      'The simulator ignores these tables: add their rows to TABLES in test/sim/check.ts and to its model, or say here why not',
  },
  {
    of: 'of the database, for the documents,',
    pattern: /./,
    answered: () =>
      [...operating.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, names]) => names?.match(/\w+/g) ?? []),
    kept: {},
    missing: 'Add what these tables contain, and for how long, to docs/operating.md, "Personal data"',
  },
])('every table $of has an answer', ({ pattern, answered, kept, missing }) => {
  const answers = answered();
  const tables = tablesWith(pattern);
  expect(
    tables.filter((table) => !answers.includes(table) && !(table in kept)),
    missing,
  ).toEqual([]);
  expect(
    Object.keys(kept).filter((table) => !tables.includes(table) || answers.includes(table)),
    'Remove these reasons',
  ).toEqual([]);
});
