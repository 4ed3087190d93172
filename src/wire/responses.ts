// Zod schemas of response bodies. The OpenAPI description uses them, and the routes import their types, so the two cannot drift. The
// Worker never loads this file.
import * as z from 'zod/mini';
import { MAX_PERCENT, MAX_THRESHOLDS } from '../core/fields.ts';
import { MAX_COUNT } from '../core/limits.ts';
import { ROLES } from '../core/policy.ts';
import { FINAL_AFTER_DAYS } from '../core/use.ts';
import { type AlertField, MESSAGE_TYPE } from '../core/webhook.ts';

/** Registers a component of the description. Generated clients use its name. */
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

/** The body of a success, with the requested `data`. */
export const success = <S extends z.ZodMiniType>(data: S) => z.object({ status: z.literal(true), data });
export type Success<Data> = z.infer<ReturnType<typeof success<z.ZodMiniType<Data>>>>;

const usageEntry = object('UsageEntry', 'The uses of one day.', {
  date: day('Calendar day, UTC.'),
  count: count('Number of uses on that day; 0 if there were none.'),
});
export const usageReport = object('UsageReport', 'The uses on each day of a range.', {
  used: list('One entry for each day of the range, ascending.', usageEntry),
});
export type UsageReport = z.infer<typeof usageReport>;

export const recordedUse = object('RecordedUse', 'The result of recording one use.', {
  date: day('The day on which the use was counted.'),
  count: count('Number of uses on that day, as it is now.'),
  remaining: z.optional(
    count('Uses left of the day or of the month, whichever is less. Only if the business has a limit.'),
  ),
});
export type RecordedUse = z.infer<typeof recordedUse>;

export const recordedUses = object('RecordedUses', 'The result of recording a list of uses.', {
  recorded: count('How many of the uses were new, and are counted now.'),
  duplicates: count('How many were counted before, or are repeated in the list.'),
});
export type RecordedUses = z.infer<typeof recordedUses>;
export const loweredUses = object('LoweredUses', 'The result of lowering uses.', {
  lowered: count('How many of the uses have a lower quantity now.'),
  unchanged: count('How many already had this quantity or a lower one.'),
  unknown: count('How many cannot be lowered: no such use is remembered, its day is too long ago, or was imported.'),
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
    object('Limits', 'The most uses of a day and of a month, UTC, and how much of them is used.', {
      daily: z.nullable(count('Of a day. Null: no limit.')),
      monthly: z.nullable(count('Of a month. Null: no limit.')),
      billing_day: billingDay('The day on which a month begins.'),
      next_billing_day: z.nullable(billingDay('The billing day after a change that waits. Null: none does.')),
      from: z.nullable(day('The first day on which a month begins on `next_billing_day`. Null: no change waits.')),
      overage: z.nullable(count('How many uses are counted beyond a limit; none with a token. Null: any number.')),
      alert_at: z
        .array(percent)
        .check(
          z.minLength(1),
          z.maxLength(MAX_THRESHOLDS),
          z.describe('Where the business has alerts: in percent of each limit, ascending.'),
        ),
      today: z.nullable(count('Uses of today. Null: no limit of a day.')),
      month: z.nullable(
        count(
          `Uses of this month, which begins on the billing day; ${MAX_COUNT} also if there are more. Null: no limit of a month.`,
        ),
      ),
      remaining: count('Uses left until one of the limits is reached; 0 while more are counted.'),
      day_ends: z.nullable(time('the day ends. Null: no limit of a day')),
      month_ends: z.nullable(time('the month ends. Null: no limit of a month')),
    }),
  )
  .check(z.describe('Null: the business has no limit.'));
export type Limits = z.infer<typeof limits>;
const businessFields = {
  id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('Name of the business.'),
  main_domain: text('Main domain of the business.'),
  site: text('URL of its site.'),
  country_id: z.int().check(z.describe('Identifier of a country.')),
  business_size: text('Size class of the business.'),
  token: text('Token of the business. It is public: web pages contain it.'),
  // Not an enum: rows from other sources can contain other text.
  status: text('Usually `active`, `suspended` or `closed`. Its token works only while it is `active`.'),
  created_at: time('it was created'),
  updated_at: time('it or its list of domains was last changed'),
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
  former_tokens: list('At most 5, the one that was replaced first comes first.', formerToken),
});
export type BusinessDetails = z.infer<typeof businessDetails>;

const refusedOrigin = object('RefusedOrigin', 'An origin that was refused although the credential was valid.', {
  origin: text('The origin. Whoever has the token can make one appear here.'),
  count: count('How often it was refused, at least.'),
  first_seen: time('it was first refused'),
  last_seen: time('it was last refused'),
});
export const refusedOrigins = object(
  'RefusedOrigins',
  'Origins that are not registered and tried in the last 90 days.',
  {
    refused: list('At most 50, the last one seen first.', refusedOrigin),
  },
);
export type RefusedOrigin = z.infer<typeof refusedOrigin>;
export type RefusedOrigins = z.infer<typeof refusedOrigins>;

const changed = z.nullable(z.record(z.string(), z.unknown()));
const change = object('Change', 'One change of a business.', {
  id: id('the change'),
  at: time('it was made'),
  actor: z
    .string()
    .check(
      z.regex(/^(?:(?:key [1-9]\d*|console link|operator) \(….{4}\)|operator)$/),
      z.describe(
        'Who made it: `key 12 (…abcd)`, an API key or a session that came from it; `console link (…abcd)`, a session that came from a link; `operator (…abcd)`, an operator key; or `operator`, a command of an earlier version.',
      ),
    ),
  key_name: z
    .nullable(z.string())
    .check(z.describe('Name of the API key that made it. Null: no key made it, or none that the owner has.')),
  action: text('What was done, such as `add_sites`. There may be new ones.'),
  before: changed.check(z.describe('What was changed, as it was before. Null if it is new.')),
  after: changed.check(z.describe('What was changed, as it was then. Null if it is gone.')),
});
const next = z
  .nullable(z.int().check(z.minimum(1)))
  .check(z.describe('Where the next page starts, or null on the last page.'));
export const changes = object('Changes', 'Who changed what.', {
  changes: list('Newest first.', change),
  next,
});
export type Change = z.infer<typeof change>;
export type Changes = z.infer<typeof changes>;

const alertFields = {
  id: id('the alert, among those of its database'),
  period: z.enum(['day', 'month']).check(z.describe('Which limit: that of a day or that of a month.')),
  starts_on: day('First day of the day or month that the uses are of, UTC.'),
  ends_on: day('Last day of it.'),
  limit: z.int().check(z.minimum(1), z.describe('The limit as it was.')),
  threshold: percent.check(z.describe('In percent of the limit, rounded up to whole uses.')),
  used: count(
    `How many uses were counted when the alert was stored; ${MAX_COUNT} also if there were more. It can be more than the threshold.`,
  ),
  at: time('it was stored'),
};
const storedAlertFields = {
  ...alertFields,
  sent_at: z
    .nullable(time('it was sent'))
    .check(z.describe('When it was sent, in UTC. Null: it is not sent yet, or was given up.')),
};
const alert = object('Alert', 'A business has reached a threshold of a limit.', storedAlertFields);
export const alerts = object('Alerts', 'Which thresholds of its limits a business has reached.', {
  alerts: list('Newest first.', alert),
  next,
});
export type Alerts = z.infer<typeof alerts>;

const sentAlert = object('SentAlert', 'An alert, as it is sent.', {
  ...alertFields,
  business_id: id('the business'),
  user_id: id('the user to whom the business belonged when the message was made'),
} satisfies Record<AlertField, z.ZodMiniType>);
export const alertMessage = object('AlertMessage', 'Alerts of one database, oldest first.', {
  type: z.literal(MESSAGE_TYPE).check(z.describe('There may be new ones: ignore those that you do not know.')),
  timestamp: time('the message was made'),
  data: z.object({
    alerts: z.array(sentAlert).check(z.minLength(1), z.maxLength(100), z.describe('Those that are new.')),
  }),
});

const listedAlert = object('ListedAlert', 'An alert of any business, and what became of it.', {
  ...storedAlertFields,
  business_id: id('the business'),
  state: z
    .enum(['open', 'sent', 'given_up'])
    .check(z.describe('Whether it is sent, or was too old to be sent on. Open: it is not sent yet.')),
});
export const allAlerts = object('AllAlerts', 'Which thresholds of their limits all businesses have reached.', {
  alerts: list(
    'Newest first within each database. A page can be short, or empty, although `next` is set.',
    listedAlert,
  ),
  next: z
    .nullable(z.string())
    .check(z.describe('What to send as `cursor` for the next page, or null on the last page.')),
});
export type AllAlerts = z.infer<typeof allAlerts>;

const listedBusiness = object('ListedBusiness', 'A business and its uses of the last 30 days.', {
  ...businessFields,
  used: list('One entry for each of the last 30 days, ascending.', usageEntry),
  limits,
  refused_origins: count('How many origins were refused since the business was last changed, in the last 90 days.'),
});
export type ListedBusiness = z.infer<typeof listedBusiness>;
export const businesses = object('Businesses', 'The businesses of an API key.', {
  businesses: list(
    'Those whose usage the caller may read from here, by id. It can be empty although `next` is set.',
    listedBusiness,
  ),
  next,
  read_only: z.boolean().check(z.describe('Whether the API key can only read.')),
});
export type Businesses = z.infer<typeof businesses>;

export const importedHistory = object('ImportedHistory', 'The history that was imported.', {
  days: count('How many days were sent.'),
  uses: count('How many uses they have in all.'),
});
export type ImportedHistory = z.infer<typeof importedHistory>;

export const deletedBusiness = object('DeletedBusiness', 'The business that was deleted.', {
  deleted: z.object({ id: id('the business'), name: text('Its name.') }),
});
export type DeletedBusiness = z.infer<typeof deletedBusiness>;

const keyFields = {
  id: id('the key'),
  user_id: id('the user who owns it'),
  name: text('Name of the key.'),
  last_four: text('Its last four characters.'),
  created_at: time('it was created'),
  expires_on: z.nullable(day('Last day on which it works, UTC. Null: it does not expire.')),
  revoked_at: z.nullable(time('it was revoked')),
  business_id: z.nullable(id('the only business that it is for')),
  last_used_on: z.nullable(day('Day of its last permitted call, UTC.')),
  read_only: z.boolean().check(z.describe('Whether it can only read: the role `read`.')),
  role: z.enum(ROLES).check(z.describe('What it may do: everything, only read, or only read usage and record uses.')),
};
const apiKey = object('Key', 'An API key, without the key itself.', keyFields);
export type Key = z.infer<typeof apiKey>;
export const keys = object('Keys', 'The API keys of a user.', {
  keys: list('By id, with those that are revoked or expired.', apiKey),
});
export type Keys = z.infer<typeof keys>;
export const newKey = object('NewKey', 'An API key that was created.', {
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
  count: count('Number of uses in the range; 0 if there were none.'),
});
export const totals = object('Totals', 'The uses of each business in a range of days.', {
  usage: list('By id. A page can be short, or empty, although `next` is set.', total),
  next,
});
export type Totals = z.infer<typeof totals>;
const endedMonth = object('EndedMonth', 'A billing month of one business that has ended.', {
  business_id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('Its name, as it is now.'),
  starts_on: day('The first day of the month.'),
  ends_on: day('The last day of the month.'),
  count: count('Number of uses in the month; 0 if there were none.'),
  monthly_limit: z.nullable(count('Its limit of a month, as it is now. Null: no limit.')),
  final: z
    .boolean()
    .check(
      z.describe(`Whether only an import can change the count: from ${FINAL_AFTER_DAYS} days after the month on.`),
    ),
});
export const endedMonths = object('EndedMonths', 'The billing months that ended on a day.', {
  usage: list('By id. A page can be short, or empty, although `next` is set.', endedMonth),
  next,
});
export type EndedMonths = z.infer<typeof endedMonths>;

const databaseName = {
  number: z.int().check(z.minimum(0), z.describe('Number of the database: 0 for `DB`, 1 for `DB_1`.')),
  letter: text('The first character of the credentials of its owners.'),
  binding: text('Its name in the configuration.'),
};
const waiting = (of: string) => z.nullable(count(of)).check(z.describe(`${of} Null: more than 10,000.`));
const databaseState = object('Database', 'A database, how full it is, and what waits in it.', {
  ...databaseName,
  bytes: count('Its size.'),
  uses_yesterday: z
    .nullable(count('Uses of yesterday.'))
    .check(z.describe('Uses of yesterday, UTC. Null: it has more than 10,000 businesses.')),
  backlog: z.object({
    ids: waiting('Ids of uses that are to be forgotten.'),
    alerts: waiting('Alerts that are not sent yet.'),
  }),
});
const brokenDatabase = object('BrokenDatabase', 'A database that cannot be asked.', {
  ...databaseName,
  error: z.enum(['does not respond', 'failed']).check(z.describe('What is wrong. The log has the cause.')),
});
export const databases = object('Databases', 'The databases of the service.', {
  databases: list('By number.', z.union([databaseState, brokenDatabase])),
});
export type Databases = z.infer<typeof databases>;

export const session = object('Session', 'A session of the console.', {
  session_key: text('The session key. It is shown once, and is sent like an API key.'),
  expires_at: time('the session ends'),
  read_only: z.boolean().check(z.describe('Whether the session key can only read.')),
  return_url: z
    .nullable(z.string())
    .check(z.describe('Where the console leads back to, as the link says. Null: nowhere.')),
});
export type Session = z.infer<typeof session>;
export const endedSession = object('EndedSession', 'A session that ended.', { ended: z.literal(true) });
export type EndedSession = z.infer<typeof endedSession>;

export const consoleLink = object('ConsoleLink', 'A link that opens the console once.', {
  url: text('The address to send the owner to. Whoever opens it first has the session.'),
  expires_at: time('the link stops working'),
});
export type ConsoleLink = z.infer<typeof consoleLink>;

export const health = object('Health', 'The service and its databases respond.', {
  status: z.literal(true),
  runs: object('Runs', 'The scheduled runs.', {
    alerts: z.nullable(time('the run that looks for alerts and sends them last ended. Null: it never did')),
    purge: z.nullable(time('the purge last ended. Null: it never did')),
  }),
});
export type Health = z.infer<typeof health>;

export const message = object('Message', 'An error that has nothing to do with the business.', {
  message: text('What is wrong.'),
});
const refused = { status: z.literal(false), message: text('What is wrong, and what would be right.') };
export const refusal = object('Refusal', 'A call that may not be made, or names what does not exist.', refused);
export const invalidInput = object(
  'InvalidInput',
  'Input that is refused. With 422, `message` is the first of the errors.',
  {
    ...refused,
    errors: z
      .record(z.string(), z.array(z.string()))
      .check(z.describe('What is wrong with each field, which is named by its path with dots: `sites.1`.')),
  },
);
export type ErrorBody = z.infer<typeof message> | z.infer<typeof refusal> | z.infer<typeof invalidInput>;
