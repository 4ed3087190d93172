// The databases of the service.
import { FULL_OPERATOR, reading } from '../core/policy.ts';
import { type CommandsOf, define } from '../operation.ts';

export const operations = define({
  readDatabases: { ...reading(FULL_OPERATOR), route: 'GET /database', name: 'read_databases', does: 'read databases' },
});

export const commands: CommandsOf<typeof operations> = {
  readDatabases: {
    usage: 'database list',
    does: "Lists the databases: letter in credentials, size, yesterday's uses (UTC) and backlog.",
  },
};
