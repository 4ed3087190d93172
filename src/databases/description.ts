// Descriptions of the list of databases.
import * as z from 'zod/mini';
import { LARGE_GB } from '../core/database.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { ok } from '../description/responses.ts';
import { count, list, object, text, time } from '../description/schemas.ts';
import type { operations } from './operations.ts';

const databaseName = {
  number: z.int().check(z.minimum(0), z.describe('Number of the database: 0 for `DB`, 1 for `DB_1`.')),
  letter: text('The database letter in the credentials of its owners.'),
  binding: text('The name of the database in the configuration.'),
};

const waiting = (of: string) => z.nullable(count(of)).check(z.describe(`${of} Null if there are more than 10,000.`));
const databaseState = object('Database', 'A database with its size and backlog.', {
  ...databaseName,
  bytes: count('Size of the database in bytes.'),
  uses_yesterday: z
    .nullable(count('Uses yesterday.'))
    .check(z.describe('Uses yesterday, UTC. Null if the database contains more than 10,000 businesses.')),
  backlog: z.object({
    alerts: waiting('Alerts not sent yet.'),
  }),
});

const brokenDatabase = object('BrokenDatabase', 'A database that cannot be queried.', {
  ...databaseName,
  error: z.enum(['does not respond', 'failed']).check(z.describe('The problem. The cause is in the log.')),
});

export const databases = object('Databases', 'The databases of the service.', {
  databases: list('Ordered by number.', z.union([databaseState, brokenDatabase])),
});

export type Databases = z.infer<typeof databases>;

export const health = object('Health', 'The service and its databases respond.', {
  status: z.literal(true),
  runs: object('Runs', 'The scheduled runs.', {
    alerts: z.nullable(time('the alerts run last ended (null if it never ran)')),
    purge: z.nullable(time('the purge last ended (null if it never ran)')),
  }),
  large_databases: list(`The databases over ${LARGE_GB} GB. At 10 GB, a database rejects writes.`, z.string()),
});

export type Health = z.infer<typeof health>;

export const descriptions: DescriptionsOf<typeof operations> = {
  readDatabases: {
    tag: 'businesses',
    summary: 'List the databases',
    command: { usage: 'database list' },
    description: `Lists each database with its size, yesterday's uses and its backlog: alerts to send. A database that fails, or
does not respond within 4 seconds, is listed with an \`error\`. Only the operator can read this.`,
    success: ok('The databases.', databases, {
      databases: {
        databases: [
          {
            number: 0,
            letter: '0',
            binding: 'DB',
            bytes: 241_664,
            uses_yesterday: 6830,
            backlog: { alerts: 0 },
          },
          { number: 1, letter: '1', binding: 'DB_1', error: 'does not respond' },
        ],
      },
    }),
  },
};
