// What answers look like, as zod schemas with names: the components of the OpenAPI description. The Worker never loads this.
import * as z from 'zod/mini';
import { sitesBody } from '../routes/access.ts';
import { usesBody } from '../routes/recording.ts';

const id = (what: string) => z.int().check(z.positive(), z.meta({ description: `Identifier of ${what}.` }));
const text = (description: string) => z.string().check(z.meta({ description }));
const timestamp = (what: string) =>
  z
    .string()
    .check(
      z.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/),
      z.meta({ description: `When ${what}, in UTC.`, format: 'date-time' }),
    );
const count = (description: string) => z.int().check(z.minimum(0), z.meta({ description }));
const day = (description: string) =>
  z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/), z.meta({ description, format: 'date' }));
const success = z.literal(true);

const usageEntry = z.object({
  date: day('Calendar day, UTC.'),
  count: count('Number of uses on that day; 0 when there was none.'),
});

const report = z.object({
  status: success,
  data: z.object({
    used: z
      .array(usageEntry)
      .check(
        z.meta({ description: 'One entry for each day of the range, ascending; days without usage have count 0.' }),
      ),
  }),
});

const recordedUse = z.object({
  status: success,
  data: z.object({
    date: day('The day on which the use was counted.'),
    count: count("That day's count now."),
  }),
});

const recordedUses = z.object({
  status: success,
  data: z.object({
    recorded: count('How many of the uses were new.'),
    duplicates: count('How many were known already, or came twice.'),
  }),
});

const access = z.object({
  id: id('the entry'),
  business_id: id('the business it belongs to'),
  site: text('An authorized domain, as the origin that browsers send, or a wildcard.'),
  created_at: timestamp('it was added'),
  updated_at: timestamp('it was last changed'),
});

const business = z.object({
  id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('Name of the business.'),
  main_domain: text('Main domain of the business.'),
  site: text('URL of its site.'),
  country_id: z.int().check(z.meta({ description: 'Identifier of a country.' })),
  business_size: text('Size class of the business.'),
  token: text('Token of the business. Public: it stands in web pages.'),
  status: text('Status of the business; its token works while it is `active`.'),
  created_at: timestamp('it was made'),
  updated_at: timestamp('it or its list of domains was last changed'),
  access_list: z.array(access).check(z.meta({ description: 'Its authorized domains, in the order of their ids.' })),
});

const message = z.object({ message: text('What is wrong, in a sentence.') });
const refused = z.literal(false);
const refusal = z.object({ status: refused, message: text('What is wrong, and what would be right.') });
const invalidInput = z.object({
  status: refused,
  message: text('The first of the errors.'),
  errors: z
    .record(z.string(), z.array(z.string()))
    .check(z.meta({ description: 'For each field, as its path with dots (`sites.1`), what is wrong with it.' })),
});

const noUse = z.union([z.strictObject({}), z.array(z.never())]);

const named = z.registry<{ id: string; description?: string }>();
named.add(sitesBody, { id: 'Sites', description: 'The domains to authorize.' });
named.add(usesBody, { id: 'Uses', description: 'Uses of the past days, each with an id of its own.' });
named.add(noUse, { id: 'OneUse', description: 'Nothing: one use, now.' });
named.add(usageEntry, { id: 'UsageEntry' });
named.add(report, { id: 'UsageReport' });
named.add(recordedUse, { id: 'RecordedUse' });
named.add(recordedUses, { id: 'RecordedUses' });
named.add(access, { id: 'Access', description: 'An entry of the list of authorized domains.' });
named.add(business, { id: 'Business' });
named.add(z.object({ status: success, data: business }), { id: 'BusinessAnswer' });
named.add(message, { id: 'Message' });
named.add(refusal, { id: 'Refusal' });
named.add(invalidInput, { id: 'InvalidInput' });

export type Schema = z.core.JSONSchema.BaseSchema;

/** A pipe asks for both of its sides: the routes check the length of a list before its entries. */
function bothSides({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Schema }): void {
  const { def } = zodSchema._zod;
  if (def.type !== 'pipe') return;
  const { in: before, out: after } = def as z.core.$ZodPipeDef;
  Object.assign(jsonSchema, plainSchema(before), plainSchema(after));
  delete jsonSchema.additionalProperties;
}

/** One schema, without names. */
export function plainSchema(schema: z.core.$ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', override: bothSides });
  return rest;
}

/** Every named schema, as JSON Schema 2020-12. Objects are open: a later version may add a field. */
export function namedSchemas(): Record<string, Schema> {
  const made = z.toJSONSchema(named, { io: 'input', override: bothSides, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([name, { $schema: _, $id: __, ...rest }]) => [name, rest]),
  );
}
