// Random steps of a world: requests, and changes by the operator. Businesses, owners, keys, credentials and entries are identified by a
// number, which is used as an index modulo their current count.
import fc from 'fast-check';
import { BASE } from '../support.ts';

export const HOUR = 3_600_000;

/** A request to a business. */
export type Operation = {
  resource: 'usage' | 'access';
  method: string;
  query?: string;
  idempotency_key?: string | undefined;
  body?: object;
  /** The entry to remove. */
  entry?: number;
};
/** The credential: an owner's key, the business's token, any past or present credential, one with another database letter, or none. */
type Sender = { of: 'owner' | 'business' | 'anyone' | 'changed letter' | 'nobody'; which: number; shift: number };
/** The id in the path: a business, an unused id in the database with this number, or other text. */
type Target = { business: number } | { unknown: number } | { text: string };
export type Sent = {
  kind: 'request';
  sender: Sender;
  target: Target;
  origin: string | undefined;
  operation: Operation;
};
export type Change =
  | { kind: 'create business'; owner: number; token: number | undefined }
  | { kind: 'create key'; owner: number; expires_on: string | undefined }
  | { kind: 'rotate token'; business: number; keep_old: string | undefined }
  | { kind: 'revoke key'; key: number }
  | { kind: 'set status'; business: number; status: string }
  | { kind: 'give'; business: number; owner: number }
  | { kind: 'import history'; business: number; replace: boolean }
  | { kind: 'list'; owner: number }
  | { kind: 'wait'; hours: number };
export type World = {
  /** Each owner's database, and whether the token of the owner's first business is imported. */
  owners: { database: number; imported: boolean }[];
  /** Owners without a home, and the database that they request, if any. */
  new_owners: { database: number | undefined }[];
  steps: (Sent | Change)[];
};

const some = fc.nat(1000);
const database = fc.nat(2);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const kind = <K extends string>(kind: K) => fc.constant(kind);

const useId = fc.constantFrom('a', 'b', 'c', 'two words');
const day = fc.constantFrom('2026-03-01T00:00:00Z', '2026-01-01T00:00:00Z');
const uses = fc.array(fc.record({ id: useId, at: maybe(day) }), { maxLength: 4 });
const site = fc.constantFrom('https://shop.example', 'https://*.example.com', 'http://localhost:*', 'nonsense');
const sites = fc.uniqueArray(site, { maxLength: 3 });
const query = fc.constantFrom('', '?from=2026-03-01', '?from=2026-01-10&to=2026-03-20', '?from=tomorrow');
const [usage, access] = [fc.constant('usage' as const), fc.constant('access' as const)];
const [GET, POST, DELETE] = [fc.constant('GET'), fc.constant('POST'), fc.constant('DELETE')];
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ resource: usage, method: GET, query }),
  fc.record({ resource: usage, method: POST, idempotency_key: maybe(useId) }),
  fc.record({ resource: usage, method: POST, body: fc.record({ uses }) }),
  fc.record({ resource: access, method: GET }),
  fc.record({ resource: access, method: POST, body: fc.record({ sites }) }),
  fc.record({ resource: access, method: DELETE, entry: some }),
  fc.record({ resource: access, method: DELETE }),
);

const site_of_page = ['https://shop.example', 'https://www.example.com', 'https://evil.example', 'null', BASE];
export const origin = maybe(fc.constantFrom(...site_of_page));
const shift = fc.integer({ min: 1, max: 61 });
const sender = fc.record({
  of: fc.oneof(
    { weight: 6, arbitrary: kind('owner') },
    { weight: 6, arbitrary: fc.constantFrom('business' as const, 'anyone' as const) },
    { weight: 1, arbitrary: fc.constantFrom('changed letter' as const, 'nobody' as const) },
  ),
  which: some,
  shift,
});
const target = fc.oneof(
  { weight: 10, arbitrary: fc.record({ business: some }) },
  { weight: 1, arbitrary: fc.record({ unknown: database }) },
  { weight: 1, arbitrary: fc.record({ text: fc.constantFrom('0', 'abc', '01', '99000000001') }) },
);
const request = fc.record({ kind: kind('request'), sender, target, origin, operation });
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: kind('create business'), owner: some, token: maybe(fc.nat(1)) }) },
  fc.record({ kind: kind('create key'), owner: some, expires_on: maybe(fc.constant('2026-03-15')) }),
  fc.record({ kind: kind('rotate token'), business: some, keep_old: maybe(fc.constantFrom('1h', '48h')) }),
  fc.record({ kind: kind('revoke key'), key: some }),
  fc.record({ kind: kind('set status'), business: some, status: fc.constantFrom('active', 'suspended', 'closed') }),
  fc.record({ kind: kind('give'), business: some, owner: some }),
  fc.record({ kind: kind('import history'), business: some, replace: fc.boolean() }),
  fc.record({ kind: kind('list'), owner: some }),
  fc.record({ kind: kind('wait'), hours: fc.constantFrom(1, 13, 60) }),
);
export const world: fc.Arbitrary<World> = fc.record({
  owners: fc.array(fc.record({ database, imported: fc.boolean() }), { minLength: 2, maxLength: 3 }),
  new_owners: fc.array(fc.record({ database: maybe(database) }), { maxLength: 1 }),
  steps: fc.array(fc.oneof({ weight: 5, arbitrary: request }, { weight: 3, arbitrary: change }), {
    minLength: 4,
    maxLength: 16,
  }),
});
