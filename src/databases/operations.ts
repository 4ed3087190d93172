// The databases of the service.
import { OPERATOR, reading } from '../core/policy.ts';
import { define } from '../operation.ts';

export const operations = define({
  readDatabases: { ...reading(OPERATOR), route: 'GET /database', name: 'read_databases', does: 'read databases' },
});
