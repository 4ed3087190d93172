// Compares each cell of the table in docs/operating.md, "If a credential leaks", with the service.
import { expect, test } from 'vitest';
import operating from '../docs/operating.md?raw';
import { refused } from './answers.ts';
import { RULE_NAMES } from './ask.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import { type Caller, KEY_ROLES, refusalOf } from './sim/model/may.ts';
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

const [, head = '', body = ''] = /^\| What \| (.*?) \|\n.*?\n(.*?)\n\n/ms.exec(operating) ?? [];
const COLUMNS = head.split(' | ');
const ROWS = body.split('\n').map((line) => {
  const [what = '', ...cells] = line.slice('| '.length, -' |'.length).split(' | ');
  return { operations: [...what.matchAll(/`(\w+)`/g)].map(([, name = '']) => name), cells };
});

const ends_at = '2026-03-16T00:00:00.000000Z';
type Credential = [caller: Caller, create: (business: Business, scope: Scope) => Promise<string>];
const withKey = (caller: Caller, role: Parameters<typeof newKey>[1]): Credential => [
  caller,
  async (business, scope) => (await newKey(business, { ...role, ...scope })).key,
];
/** The credential that each column of the table describes, created for the owner of a business. */
const CREDENTIALS: Record<string, Credential> = {
  'Operator `full`': ['operator', async () => OPERATOR.full],
  'Operator `record`': ['recorder', async () => OPERATOR.record],
  ...Object.fromEntries(KEY_ROLES.map((role) => [`Key \`${role}\``, withKey(role, { role })])),
  Token: ['token', async ({ token }) => token],
  Session: withKey('session', { ends_at }),
  'Read-only session': withKey('read_session', { ends_at, role: 'read' }),
};

/** Creates two businesses of one owner and one of another owner, in the same database. */
async function newWorld() {
  const own = await newBusiness();
  const others = own.user_id + homes.length * 100_000;
  return [own, await newBusiness({ user_id: own.user_id }), await newBusiness({ user_id: others })] as const;
}
type World = Awaited<ReturnType<typeof newWorld>>;
/** The words that the table uses, indexed by the number of businesses that the credential can access. */
const REACHES = ['no', 'one', 'user', 'all'];

/** Returns the table's word for the businesses on which a credential may perform an operation. */
async function reachOf(route: AnyRoute, caller: Caller, as: string, world: World): Promise<string> {
  const reach = async (isDone: (business: Business) => boolean | Promise<boolean>) => {
    const done = [];
    for (const business of world) done.push(await isDone(business));
    expect(done).toEqual(done.toSorted().toReversed());
    return REACHES[done.filter(Boolean).length] ?? '';
  };
  const isGranted = ({ status, body, headers }: Awaited<ReturnType<typeof call>>) => {
    if (status === (route.granted ?? 200)) return true;
    if (headers.get('Error-Code') === 'unknown_business') expect({ status, body }).toEqual(route.unknownBusiness);
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

test('the table of leaked credentials contains each operation once and a column for each kind of credential', () => {
  expect(ROWS.flatMap(({ operations }) => operations).sort()).toEqual(RULE_NAMES);
  expect(COLUMNS).toEqual(Object.keys(CREDENTIALS));
});

eachOf(test, ROUTES)(
  '$name is allowed for the credentials and businesses that the table of leaked credentials lists',
  async (route) => {
    const row = ROWS.find(({ operations }) => operations.includes(route.operation));
    const cells = COLUMNS.flatMap((column, index) =>
      (/Key|ession/.test(column) ? [false, true] : [false]).map((isForOne) => {
        const printed = row?.cells[index] ?? '';
        return { column, isForOne, expected: isForOne && printed === 'user' ? 'one' : printed };
      }),
    );
    const credential = async ({ column, isForOne }: (typeof cells)[number], world: World) => {
      const [caller, create] = CREDENTIALS[column] as Credential;
      return [caller, await create(world[0], isForOne ? { business_id: world[0].id } : {})] as const;
    };

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
