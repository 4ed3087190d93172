// The databases of the service.
import { by, NOBODY } from '../core/policy.ts';
import { define } from '../operation.ts';

export const operations = define({
  readDatabases: { ...by(NOBODY), route: 'GET /database', name: 'read_databases', does: 'read databases' },
});
