// /api/v1/alerts: the alerts of all businesses, for the operator.
import { allEventsBefore } from '../db/events.ts';
import { readFirstPage } from '../db/homes.ts';
import { guard } from '../guard.ts';
import { cursorErrors, pageOfAlerts, shownAlerts } from '../http/pages.ts';
import { success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { alertsQuery } from '../wire/requests.ts';
import type { Alerts } from '../wire/responses.ts';

const guardAlerts = guard('read_all_alerts', {
  query: alertsQuery,
  rules: (query, c) => cursorErrors(query, c.get('databases').numbers),
});
export const alerts = newRoutes().get('/', guardAlerts, async (c) => {
  const databases = c.get('databases');
  const { numbers, askIn } = databases;
  const { number, page } = pageOfAlerts(c.req.valid('query'), 0);
  const read = allEventsBefore(page);
  const row = number === 0 ? await readFirstPage(databases, read) : (await askIn(number)(read)).row;
  return success<Alerts>(c, shownAlerts(row, page, number, numbers));
});
