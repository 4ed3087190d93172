// Commands on three databases, two at once: each has a workerd of its own, as it has when it is typed.
import { expect, test } from 'vitest';
import type { Databases } from '../../src/cli/databases.ts';
import { type Where, withDatabases } from '../../src/cli/open.ts';
import { homes } from '../../src/db/schema.ts';
import { resultOf, threeDatabases } from './support.ts';

const KEY = ['key', 'create', '--user', '7'];
const BUSINESS = [
  ...['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
  ...['--site', 'https://acme.example', '--country', '1', '--size', 'small'],
];

/** The rows of homes in each database. */
const homesIn = (databases: Databases) => databases.every(({ db }) => db.select().from(homes));

/**
 * What commands give that begin at once, when each has opened the databases. They are opened one after the other: of two workerds
 * that open a file for the first time, one may wait for ever.
 */
function atOnce(where: Where, ...calls: string[][]) {
  const opened = calls.map(() => Promise.withResolvers<void>());
  const all = Promise.all(opened.map(({ promise }) => promise));
  const results = calls.map((args, index) =>
    withDatabases(where, async (databases) => {
      await opened[index - 1]?.promise;
      await homesIn(databases); // workerd opens a file with the first query
      opened[index]?.resolve();
      await all;
      return resultOf(databases, ...args);
    }),
  );
  return Promise.allSettled(results);
}

test('two commands at once for a new user give one home', async () => {
  const where = await threeDatabases();
  const made = expect.objectContaining({ id: 1, user_id: 7 });
  expect(await atOnce(where, KEY, BUSINESS)).toEqual([
    { status: 'fulfilled', value: made },
    { status: 'fulfilled', value: { business: made } },
  ]);
  const rows = await withDatabases(where, homesIn);
  expect(rows).toEqual([[{ user_id: 7, database: 0 }], [], []]);
});

test('of two at once that want different databases, one is refused; the other is found by its id and in the list', async () => {
  const where = await threeDatabases();
  const [one, two] = await atOnce(where, [...BUSINESS, '--database', '1'], [...BUSINESS, '--database', '2']);
  const [home, done, refused] = one?.status === 'fulfilled' ? ([1, one, two] as const) : ([2, two, one] as const);
  const reason = `User 7 is in database ${home}, DB_${home} (usage-DB_${home}), and cannot be in another.`;
  expect(refused).toEqual({ status: 'rejected', reason: new Error(reason) });
  if (done?.status !== 'fulfilled') throw done?.reason;

  const { business } = done.value;
  expect(business).toMatchObject({ id: home * 1_000_000_000 + 1, token: expect.stringMatching(`^bua_pk_${home}`) });
  const show = ['business', 'show', `${business.id}`];
  await withDatabases(where, async (databases) => {
    expect(await homesIn(databases)).toEqual([[{ user_id: 7, database: home }], [], []]);
    expect(await resultOf(databases, ...show)).toEqual({ business, limits: { daily: null, monthly: null } });
    const list = ['DB', 'DB_1', 'DB_2'].map((binding, number) => {
      const counts = { bytes: expect.any(Number), businesses: number === home ? 1 : 0, uses: 0 };
      return { letter: `${number}`, binding, name: `usage-${binding}`, region: null, ...counts };
    });
    expect(await resultOf(databases, 'database', 'list')).toEqual({ databases: list });
  });
  // wrangler.toml binds one database.
  const elsewhere = withDatabases({ ...where, config: undefined }, (databases) => resultOf(databases, ...show));
  const unbound = `The id ${business.id} is one of DB_${home}, which the configuration does not bind.`;
  await expect(elsewhere).rejects.toThrow(new Error(unbound));
});
