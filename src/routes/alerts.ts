// /api/v1/alerts: the alerts of all businesses, for the operator.
import type { FieldErrors } from '../core/conflict.ts';
import { parseCursor } from '../core/cursor.ts';
import { allAlertsBefore } from '../db/alerts.ts';
import { readFirstPage } from '../db/homes.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { guard } from '../guard.ts';
import { pageBefore, shownAllAlerts } from '../http/pages.ts';
import { success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { allAlertsQuery, CURSOR_RULE } from '../wire/requests.ts';
import type { AllAlerts } from '../wire/responses.ts';

const positionOf = (cursor: string | undefined) =>
  (cursor === undefined ? null : parseCursor(cursor)) ?? { number: 0, before: null };

/** Returns the error of a cursor that names a database without a binding. */
const cursorErrors = ({ cursor }: { cursor?: string | undefined }, c: ContextOf<Guarded>): FieldErrors =>
  c.get('databases').numbers.includes(positionOf(cursor).number) ? {} : { cursor: [`cursor ${CURSOR_RULE}`] };

const guardAlerts = guard('read_all_alerts', { query: allAlertsQuery, rules: cursorErrors });
export const alerts = newRoutes().get('/', guardAlerts, async (c) => {
  const { limit, cursor } = c.req.valid('query');
  const databases = c.get('databases');
  const { numbers, askIn } = databases;
  const position = positionOf(cursor);
  const page = pageBefore({ limit, before: position.before ?? undefined });
  const { number } = position;
  const row =
    number === 0
      ? await readFirstPage(databases, allAlertsBefore(page))
      : (await askIn(number)(allAlertsBefore(page))).row;
  return success<AllAlerts>(c, shownAllAlerts(row, page, number, numbers));
});
