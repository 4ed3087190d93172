// Zod schemas of response bodies. The OpenAPI description uses them, and the routes import their types, so the two cannot diverge. The
// Worker never loads this file.
import * as z from 'zod/mini';
import { MAX_PERCENT, MAX_THRESHOLDS } from '../core/fields.ts';
import { MAX_COUNT } from '../core/limits.ts';
import { ROLES } from '../core/policy.ts';
import { FINAL_AFTER_DAYS } from '../core/use.ts';
import { type AlertField, MESSAGE_TYPE } from '../core/webhook.ts';

/** Registers a component of the OpenAPI description. Generated clients use `id` as the type's name. */
export function component<S extends z.ZodMiniType>(id: string, description: string, schema: S): S {
  z.globalRegistry.add(schema, { id, description });
  return schema;
}
const object = <Shape extends z.core.$ZodShape>(id: string, description: string, shape: Shape) =>
  component(id, description, z.object(shape));

const text = (description: string) => z.string().check(z.describe(description));
const count = (description: string) => z.int().check(z.minimum(0), z.describe(description));
const id = (of: string) => z.int().check(z.minimum(1), z.describe(`Identifier of ${of}.`));
const day = (description: string) =>
  z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/), z.meta({ description, format: 'date' }));
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
const time = (of: string) =>
  z.string().check(z.regex(INSTANT), z.meta({ description: `When ${of}, in UTC.`, format: 'date-time' }));
const list = <S extends z.ZodMiniType>(description: string, entry: S) => z.array(entry).check(z.describe(description));

/** The body of a success response, with the requested `data`. */
export const success = <S extends z.ZodMiniType>(data: S) => z.object({ status: z.literal(true), data });
export type Success<Data> = z.infer<ReturnType<typeof success<z.ZodMiniType<Data>>>>;

const usageEntry = object('UsageEntry', 'The uses of one day.', {
  date: day('Calendar day, UTC.'),
  count: count('Number of uses on that day. 0 if there were none.'),
});
export const usageReport = object('UsageReport', 'The uses on each day of a range.', {
  used: list('One entry for each day of the range, ascending.', usageEntry),
});
export type UsageReport = z.infer<typeof usageReport>;

export const recordedUse = object('RecordedUse', 'The result of recording one use.', {
  date: day('The day on which the use was counted.'),
  count: count('Current number of uses on that day.'),
  duplicate: z.optional(
    z
      .literal(true)
      .check(z.describe('The use was already counted. Present only with an `Idempotency-Key` that was sent before.')),
  ),
  remaining: z.optional(
    count('Uses left today or this month, whichever is fewer. Present only if the business has a limit.'),
  ),
});
export type RecordedUse = z.infer<typeof recordedUse>;

export const recordedUses = object('RecordedUses', 'The result of recording a list of uses.', {
  recorded: count('Number of uses that were new and are now counted.'),
  duplicates: count('Number of uses that were already counted or are repeated in the list.'),
});
export type RecordedUses = z.infer<typeof recordedUses>;
export const loweredUses = object('LoweredUses', 'The result of lowering uses.', {
  lowered: count('Number of uses that now have a lower quantity.'),
  unchanged: count('Number of uses that already had this quantity or a lower one.'),
  imported: count('Number of uses that cannot be lowered because the count of their day was imported.'),
  unknown: count('Number of uses that are not stored, or whose day is too far in the past.'),
});
export type LoweredUses = z.infer<typeof loweredUses>;

const access = object('Access', 'A registered domain.', {
  id: id('the entry'),
  business_id: id('the business it belongs to'),
  site: text('The domain: an origin as browsers send it, or a wildcard.'),
  created_at: time('it was added'),
  updated_at: time('it was last changed'),
});
const billingDay = (of: string) => z.int().check(z.minimum(1), z.maximum(28), z.describe(of));
const percent = z.int().check(z.minimum(1), z.maximum(MAX_PERCENT));
const limits = z
  .nullable(
    object('Limits', 'The maximum uses per day and per month, in UTC, and the uses so far.', {
      daily: z.nullable(count('Per day. Null if there is no limit.')),
      monthly: z.nullable(count('Per month. Null if there is no limit.')),
      billing_day: billingDay('The day on which a month begins.'),
      next_billing_day: z.nullable(billingDay('The billing day after a pending change. Null if no change is pending.')),
      from: z.nullable(day('Start of the first month that uses `next_billing_day`. Null if no change is pending.')),
      overage: z.nullable(
        count(
          'Maximum number of uses counted beyond a limit. Uses with a token are never counted beyond it. Null means unlimited.',
        ),
      ),
      alert_at: z
        .array(percent)
        .check(
          z.minLength(1),
          z.maxLength(MAX_THRESHOLDS),
          z.describe('Alert thresholds, in percent of each limit, ascending.'),
        ),
      today: z.nullable(count('Uses today. Null if there is no daily limit.')),
      month: z.nullable(count(`Uses this billing month, at most ${MAX_COUNT}. Null if there is no monthly limit.`)),
      remaining: count('Uses left until a limit is reached. 0 while uses are counted beyond a limit.'),
      day_ends: z.nullable(time('the day ends (null if there is no daily limit)')),
      month_ends: z.nullable(time('the month ends (null if there is no monthly limit)')),
    }),
  )
  .check(z.describe('Null if the business has no limit.'));
export type Limits = z.infer<typeof limits>;
const businessFields = {
  id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('Name of the business.'),
  main_domain: text('Main domain of the business.'),
  site: text('URL of the site of the business.'),
  country_id: z.int().check(z.describe('Identifier of a country.')),
  business_size: text('Size class of the business.'),
  token: text('Token of the business. It is public: web pages contain it.'),
  // Not an enum, because rows from other sources can contain other text.
  status: text('Usually `active`, `suspended` or `closed`. The token works only while the status is `active`.'),
  created_at: time('it was created'),
  updated_at: time('the business or its list of domains was last changed'),
};
export const business = object('Business', 'A business and its registered domains.', {
  ...businessFields,
  access_list: list('Its registered domains, ordered by id.', access),
});
export type Business = z.infer<typeof business>;

const formerToken = object('FormerToken', 'A token that was replaced and still works.', {
  last_four: text('Its last four characters.'),
  expires_at: time('it stops working'),
});
const details = 'A business, its registered domains, its limits and its former tokens.';
export const businessDetails = object('BusinessDetails', details, {
  ...businessFields,
  access_list: list('Its registered domains, ordered by id.', access),
  limits,
  former_tokens: list('At most 5, in the order in which they were replaced.', formerToken),
});
export type BusinessDetails = z.infer<typeof businessDetails>;

const refusedOrigin = object('RefusedOrigin', 'An origin that was refused although the credential was valid.', {
  origin: text('The origin. Anyone with the token can make an origin appear here.'),
  count: count('Minimum number of refusals.'),
  first_seen: time('it was first refused'),
  last_seen: time('it was last refused'),
});
export const refusedOrigins = object('RefusedOrigins', 'Unregistered origins that were refused in the last 90 days.', {
  refused: list('At most 50, most recent first.', refusedOrigin),
});
export type RefusedOrigin = z.infer<typeof refusedOrigin>;
export type RefusedOrigins = z.infer<typeof refusedOrigins>;

const changed = z.nullable(z.record(z.string(), z.unknown()));
const change = object('Change', 'A change to a business or user.', {
  id: id('the change'),
  at: time('it was made'),
  actor: z
    .string()
    .check(
      z.regex(/^(?:(?:key [1-9]\d*|console link|operator) \(….{4}\)|operator)$/),
      z.describe(
        'Who made the change. `key 12 (…abcd)`: an API key, or a session that it started. `console link (…abcd)`: a session that a link started. `operator (…abcd)`: an operator key. `operator`: a command of an earlier version.',
      ),
    ),
  key_name: z
    .nullable(z.string())
    .check(
      z.describe(
        "Name of the API key that made the change. Null if no API key made it, or the key is not one of the owner's.",
      ),
    ),
  actor_name: z
    .nullable(z.string())
    .check(
      z.describe(
        "The person whom the console link names with `as`. Null without such a name, or if the link was not one of the owner's.",
      ),
    ),
  action: text('The action, such as `add_sites`. Later versions may add actions.'),
  before: changed.check(z.describe('The changed values before the change. Null if they are new.')),
  after: changed.check(z.describe('The changed values after the change. Null if they were removed.')),
});
const next = z
  .nullable(z.int().check(z.minimum(1)))
  .check(z.describe('The position of the next page. Null on the last page.'));
export const changes = object('Changes', 'Who changed what.', {
  changes: list('Newest first.', change),
  next,
});
export type Change = z.infer<typeof change>;
export type Changes = z.infer<typeof changes>;

const alertFields = {
  id: text('A UUID that identifies the alert.'),
  business_id: id('the business'),
  period: z.enum(['day', 'month']).check(z.describe('Whether the limit is daily or monthly.')),
  starts_on: day('First day of the period, UTC.'),
  ends_on: day('Last day of the period, UTC.'),
  limit: z.int().check(z.minimum(1), z.describe('The limit when the alert was stored.')),
  threshold: percent.check(z.describe('In percent of the limit, rounded up to whole uses.')),
  used: count(`Number of uses when the alert was stored, at most ${MAX_COUNT}. It can exceed the threshold.`),
  at: time('it was stored'),
};
const alert = object('Alert', 'A business has reached a threshold of a limit.', {
  ...alertFields,
  sent_at: z
    .nullable(time('it was sent'))
    .check(z.describe('When the alert was sent, in UTC. Null if it has not been sent, or was given up.')),
  state: z
    .enum(['open', 'sent', 'given_up'])
    .check(z.describe('`open`: not sent yet. `sent`: sent. `given_up`: too old to be sent.')),
});
export const alerts = object('Alerts', 'Alerts for the limit thresholds that businesses reached.', {
  alerts: list('Newest first within each database. A page can be short or empty even if `next` is set.', alert),
  next: z.nullable(z.string()).check(z.describe('The `cursor` of the next page. Null on the last page.')),
});
export type Alerts = z.infer<typeof alerts>;

export const alertMessage = object('AlertMessage', 'A message with an alert.', {
  type: z.literal(MESSAGE_TYPE).check(z.describe('Later versions may add types: ignore unknown types.')),
  timestamp: time('the alert was stored'),
  data: object('SentAlert', 'An alert in a message to the receiver.', {
    ...alertFields,
    user_id: id('the user who owns the business'),
  } satisfies Record<AlertField, z.ZodMiniType>),
});

const listedBusiness = object('ListedBusiness', 'A business and its uses in the last 30 days.', {
  ...businessFields,
  used: list('One entry for each of the last 30 days, ascending.', usageEntry),
  limits,
  refused_origins: count(
    'Number of origins that were refused in the last 90 days and after the last change to the business.',
  ),
});
export type ListedBusiness = z.infer<typeof listedBusiness>;
export const businesses = object('Businesses', 'The businesses of an API key.', {
  businesses: list(
    'The businesses whose usage the caller may read from this origin, ordered by id. Can be empty even if `next` is set.',
    listedBusiness,
  ),
  next,
  read_only: z.boolean().check(z.describe('Whether the API key can only read.')),
});
export type Businesses = z.infer<typeof businesses>;

export const importedHistory = object('ImportedHistory', 'The history that was imported.', {
  days: count('Number of days in the request.'),
  uses: count('Total number of uses on these days.'),
});
export type ImportedHistory = z.infer<typeof importedHistory>;

export const deletedBusiness = object('DeletedBusiness', 'The business that was deleted.', {
  deleted: z.object({ id: id('the business'), name: text('The name of the business.') }),
});
export type DeletedBusiness = z.infer<typeof deletedBusiness>;

const keyFields = {
  id: id('the key'),
  user_id: id('the user who owns it'),
  name: text('Name of the key.'),
  last_four: text('Its last four characters.'),
  created_at: time('it was created'),
  expires_on: z.nullable(day('Last day on which the key works, UTC. Null if it does not expire.')),
  revoked_at: z.nullable(time('it was revoked')),
  business_id: z.nullable(id('the only business that the key gives access to')),
  last_used_on: z.nullable(day("Day of the key's last permitted call, UTC.")),
  read_only: z.boolean().check(z.describe('Whether the role is `read`.')),
  role: z
    .enum(ROLES)
    .check(z.describe('`full`: full access. `read`: read-only. `record`: can only read usage and record uses.')),
};
const apiKey = object('Key', 'An API key, without the key itself.', keyFields);
export type Key = z.infer<typeof apiKey>;
export const keys = object('Keys', 'The API keys of a user.', {
  keys: list('Ordered by id, including revoked and expired keys.', apiKey),
});
export type Keys = z.infer<typeof keys>;
export const newKey = object('NewKey', 'A created API key.', {
  api_key: text('The key itself. It is shown only here.'),
  ...keyFields,
});
export type NewKey = z.infer<typeof newKey>;
export const revokedKey = object('RevokedKey', 'The API key that was revoked.', { key: apiKey });
export type RevokedKey = z.infer<typeof revokedKey>;

export const erasedUser = object('ErasedUser', 'The user who was erased.', {
  erased: z.object({ user_id: id('the user') }),
});
export type ErasedUser = z.infer<typeof erasedUser>;

const total = object('Total', 'The uses of one business in a range of days.', {
  business_id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('The current name of the business.'),
  count: count('Number of uses in the range. 0 if there were none.'),
});
export const totals = object('Totals', 'The uses of each business in a range of days.', {
  usage: list('Ordered by id. A page can be short or empty even if `next` is set.', total),
  next,
});
export type Totals = z.infer<typeof totals>;
const endedMonth = object('EndedMonth', 'A completed billing month of one business.', {
  business_id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('The current name of the business.'),
  created_at: time('the business was created'),
  starts_on: day('The first day of the month.'),
  ends_on: day('The last day of the month.'),
  count: count('Number of uses in the month. 0 if there were none.'),
  monthly_limit: z.nullable(count('The current monthly limit of the business. Null if there is no limit.')),
  final: z
    .boolean()
    .check(
      z.describe(
        `Whether only an import can still change the count: true ${FINAL_AFTER_DAYS} days or more after the month ended.`,
      ),
    ),
});
export const endedMonths = object('EndedMonths', 'The billing months that ended on the given day.', {
  usage: list('Ordered by id. A page can be short or empty even if `next` is set.', endedMonth),
  next,
});
export type EndedMonths = z.infer<typeof endedMonths>;

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

export const session = object('Session', 'A console session.', {
  session_key: text('The session key, which is shown only once. Send it like an API key.'),
  expires_at: time('the session ends'),
  read_only: z.boolean().check(z.describe('Whether the session key can only read.')),
  return_url: z
    .nullable(z.string())
    .check(z.describe('The URL of the back link in the console, as set in the console link. Null if none was set.')),
});
export type Session = z.infer<typeof session>;
export const endedSession = object('EndedSession', 'A session that ended.', { ended: z.literal(true) });
export type EndedSession = z.infer<typeof endedSession>;

export const consoleLink = object('ConsoleLink', 'A link that opens the console once.', {
  url: text('The URL to send the owner to. The first person to open it starts the session.'),
  expires_at: time('the link stops working'),
});
export type ConsoleLink = z.infer<typeof consoleLink>;

export const health = object('Health', 'The service and its databases respond.', {
  status: z.literal(true),
  runs: object('Runs', 'The scheduled runs.', {
    alerts: z.nullable(time('the alerts run last ended (null if it never ran)')),
    purge: z.nullable(time('the purge last ended (null if it never ran)')),
  }),
});
export type Health = z.infer<typeof health>;

export const message = object('Message', 'An error that does not concern a business.', {
  message: text('What is wrong.'),
});
const refused = { status: z.literal(false), message: text('The problem, and what would be valid.') };
export const refusal = object('Refusal', 'A call that is not permitted, or that names something unknown.', refused);
export const invalidInput = object('InvalidInput', 'Rejected input. With 422, `message` is the first error.', {
  ...refused,
  errors: z
    .record(z.string(), z.array(z.string()))
    .check(z.describe('The problems of each field, by its dotted path, such as `sites.1`.')),
});
export type ErrorBody = z.infer<typeof message> | z.infer<typeof refusal> | z.infer<typeof invalidInput>;
