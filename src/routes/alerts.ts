// /api/v1/alerts: the alerts of all businesses, for the operator.
import { parseCursor } from '../core/cursor.ts';
import { allAlertsBefore } from '../db/alerts.ts';
import { readFirstPage } from '../db/homes.ts';
import { guard } from '../guard.ts';
import { invalidField } from '../http/input.ts';
import { pageBefore, shownAllAlerts } from '../http/pages.ts';
import { success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { allAlertsQuery, CURSOR_RULE } from '../wire/requests.ts';
import type { AllAlerts } from '../wire/responses.ts';

export const alerts = newRoutes().get('/', guard('read_all_alerts', { query: allAlertsQuery }), async (c) => {
  const { limit, cursor } = c.req.valid('query');
  const databases = c.get('databases');
  const { numbers, askIn } = databases;
  const position = cursor === undefined ? { number: 0, before: null } : parseCursor(cursor);
  if (position === null || !numbers.includes(position.number)) throw await invalidField(c, 'cursor', CURSOR_RULE);
  const page = pageBefore({ limit, before: position.before ?? undefined });
  const { number } = position;
  const row =
    number === 0
      ? await readFirstPage(databases, allAlertsBefore(page))
      : (await askIn(number)(allAlertsBefore(page))).row;
  return success<AllAlerts>(c, shownAllAlerts(row, page, number, numbers));
});
