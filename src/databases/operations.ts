// The databases of the service.
import { FULL_OPERATOR, reading } from '../core/policy.ts';
import { define } from '../operation.ts';

export const operations = define({
  readDatabases: { ...reading(FULL_OPERATOR), route: 'GET /database', name: 'read_databases', does: 'read databases' },
});
