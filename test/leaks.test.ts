// Compares what each kind of credential may do, and for which businesses, with the oracle of permissions.
import { expect, test } from 'vitest';
import { refused } from './answers.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import { type Caller, KEY_ROLES } from './sim/model/callers.ts';
import { isOfKeys, may, refusalOf } from './sim/model/may.ts';
import {
  ask,
  type Business,
  call,
  dumpAll,
  eachOf,
  homes,
  newBusiness,
  newKey,
  OPERATOR,
  type Scope,
} from './support.ts';

const ends_at = '2026-03-16T00:00:00.000000Z';
type Create = (business: Business, scope: Scope) => Promise<string>;
const withKey =
  (role: Parameters<typeof newKey>[1]): Create =>
  async (business, scope) =>
    (await newKey(business, { ...role, ...scope })).key;
/** Creates a credential of each kind for the owner of a business. */
const CREDENTIALS: Partial<Record<Caller, Create>> = {
  operator: async () => OPERATOR.full,
  recorder: async () => OPERATOR.record,
  token: async ({ token }) => token,
  ...Object.fromEntries(KEY_ROLES.map((role) => [role, withKey({ role })])),
  session: withKey({ ends_at }),
  read_session: withKey({ ends_at, role: 'read' }),
  key_session: withKey({ ends_at, can_create_keys: 1 }),
};

/** Creates two businesses of one owner and one of another owner, in the same database. */
async function newWorld() {
  const own = await newBusiness();
  const others = own.user_id + homes.length * 100_000;
  return [own, await newBusiness({ user_id: own.user_id }), await newBusiness({ user_id: others })] as const;
}
type World = Awaited<ReturnType<typeof newWorld>>;
/** Indexed by the number of businesses in the world that the credential can access. */
const REACHES = ['no', 'one', 'user', 'all'];
function expectedReach(caller: Caller, { operation }: AnyRoute, isForOne: boolean): string {
  if (!may(caller, operation)) return 'no';
  if (operation === 'end_session') return 'itself';
  if (isOfKeys(operation) && isForOne) return 'no';
  if (caller === 'operator' || caller === 'recorder') return 'all';
  return caller === 'token' || isForOne ? 'one' : 'user';
}

/** Returns the word for the businesses on which a credential may perform an operation. */
async function reachOf(route: AnyRoute, caller: Caller, as: string, world: World): Promise<string> {
  const reach = async (isDone: (business: Business) => boolean | Promise<boolean>) => {
    const done = [];
    for (const business of world) done.push(await isDone(business));
    expect(done).toEqual(done.toSorted().toReversed());
    return REACHES[done.filter(Boolean).length] ?? '';
  };
  const isGranted = ({ status, body, headers }: Awaited<ReturnType<typeof call>>) => {
    if (headers.get('Error-Code') === 'unknown_user') return false;
    if (status === (route.granted ?? 200)) return true;
    const code = headers.get('Error-Code');
    if (code === 'unknown_business') expect({ status, body }).toEqual(route.unknownBusiness);
    else if (code === 'narrow_key') expect({ status, body }).toEqual(refused('This API key is only for one business.'));
    else expect({ status, body }).toEqual(refused(refusalOf(caller, route.operation)?.[1] ?? ''));
    return false;
  };
  switch (route.name) {
    case 'list businesses':
    case 'read the usage of all businesses': {
      const answer = await call('GET', `${route.pattern}?limit=50&after=${world[0].id - 1}`, { as });
      if (!isGranted(answer)) return 'no';
      const { businesses, usage } = answer.body.data;
      const ids: number[] =
        businesses?.map(({ id }: { id: number }) => id) ??
        usage.map(({ business_id }: { business_id: number }) => business_id);
      return reach(({ id }) => ids.includes(id));
    }
    case 'start a session': {
      const answer = await ask(route, world[0], { as });
      if (!isGranted(answer)) return 'no';
      const { session_key } = answer.body.data;
      return reach(async ({ usage }) => (await call('GET', usage, { as: session_key })).status === 200);
    }
    case 'end a session':
      return isGranted(await ask(route, world[0], { as })) ? 'itself' : 'no';
    case 'create a business':
      return reach(async (business) =>
        isGranted(await ask(route, business, { as, body: { ...Object(route.body), user_id: business.user_id } })),
      );
    default:
      return reach(async (business) => isGranted(await ask(route, business, { as })));
  }
}

eachOf(test, ROUTES)(
  '$name is allowed for the credentials that the oracle lists, and for their businesses',
  async (route) => {
    const cells = Object.entries(CREDENTIALS).flatMap(([name, create]) => {
      const caller = name as Caller;
      const scopes = ['token', 'operator', 'recorder', 'key_session'].includes(caller) ? [false] : [false, true];
      return scopes.map((isForOne) => {
        return { caller, create, isForOne, expected: expectedReach(caller, route, isForOne) };
      });
    });
    const credential = async ({ caller, create, isForOne }: (typeof cells)[number], [business]: World) =>
      [caller, await create(business, isForOne ? { business_id: business.id } : {})] as const;

    const world = await newWorld();
    const denied = cells.filter(({ expected }) => expected === 'no');
    const credentials = await Promise.all(denied.map((cell) => credential(cell, world)));
    const before = await dumpAll();
    for (const [index, cell] of denied.entries()) {
      const reach = await reachOf(route, ...(credentials[index] as (typeof credentials)[number]), world);
      expect({ ...cell, reach }).toEqual({ ...cell, reach: 'no' });
    }
    expect(await dumpAll()).toBe(before);

    for (const cell of cells.filter((cell) => !denied.includes(cell))) {
      const world = await newWorld(); // new, because permitted operations may change it
      const reach = await reachOf(route, ...(await credential(cell, world)), world);
      expect({ ...cell, reach }).toEqual({ ...cell, reach: cell.expected });
    }
  },
);
