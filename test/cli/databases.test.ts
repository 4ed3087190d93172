// Commands on three databases, two at once: each has a workerd of its own, as it has when it is typed.
// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Databases } from '../../src/cli/databases.ts';
import { type Where, withDatabases } from '../../src/cli/open.ts';
import { Conflict } from '../../src/core/conflict.ts';
import { homes, identity } from '../../src/db/schema.ts';
import { newFolder } from '../node/state.ts';
import { resultOf, threeDatabases } from './support.ts';

const KEY = ['key', 'create', '--user', '7'];
const BUSINESS = [
  ...['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
  ...['--site', 'https://acme.example', '--country', '1', '--size', 'small'],
];

/** The rows of homes in each database. */
const homesIn = ({ all }: Databases) =>
  Promise.all(all.map(({ db }) => db.select({ user_id: homes.user_id, database: homes.database }).from(homes)));

/**
 * What commands give that begin at once, when each has opened the databases. They are opened one after the other: of two workerds
 * that open a file for the first time, one may wait for ever.
 */
function atOnce(where: Where, ...calls: string[][]) {
  const opened = calls.map(() => Promise.withResolvers<void>());
  const all = Promise.all(opened.map(({ promise }) => promise));
  const results = calls.map(
    (args, index) =>
      withDatabases(where, async (databases) => {
        await opened[index - 1]?.promise;
        await homesIn(databases); // workerd opens a file with the first query
        opened[index]?.resolve();
        await all;
        return resultOf(databases, ...args);
      }).finally(() => opened[index]?.resolve()), // the next one does not wait for one that failed
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
  const reason = new Conflict('database', `must be ${home}: user 7 is there`);
  expect(refused).toEqual({ status: 'rejected', reason });
  if (done?.status !== 'fulfilled') throw done?.reason;

  const { business } = done.value;
  expect(business).toMatchObject({ id: home * 1_000_000_000 + 1, token: expect.stringMatching(`^bua_pk_${home}`) });
  const show = ['business', 'show', `${business.id}`];
  await withDatabases(where, async (databases) => {
    expect(await homesIn(databases)).toEqual([[{ user_id: 7, database: home }], [], []]);
    expect(await resultOf(databases, ...show)).toEqual({
      business,
      limits: { daily: null, monthly: null, billing_day: 1 },
      former_tokens: [],
    });
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

describe('where a database is not the one that its binding says', () => {
  /** What `business list`, and new keys for a user of DB and one of DB_1, give on databases that are marked so. */
  async function resultsWith(...marks: ({ number: number; mark: string } | null)[]) {
    const where = await threeDatabases();
    await withDatabases(where, async ({ all }) => {
      for (const [index, { db }] of all.entries()) {
        const mark = marks[index];
        if (mark) await db.insert(identity).values({ ...mark, worker: 'usage' });
      }
      await all[0]?.db.insert(homes).values([
        { user_id: 7, database: 0 },
        { user_id: 8, database: 1 },
      ]);
    });
    return withDatabases(where, async (databases) => {
      const said = (...args: string[]) => resultOf(databases, ...args).catch(({ message }: Error) => message);
      return {
        list: await said('business', 'list'),
        keys: [await said(...KEY), await said('key', 'create', '--user', '8')],
      };
    });
  }
  const mark = 'a';
  const [key, inOther] = [expect.objectContaining({ id: 1 }), expect.objectContaining({ id: 1_000_000_001 })];

  test('it is named, and the others are listed; nothing is created for its owners', async () => {
    const exchanged = await resultsWith({ number: 0, mark }, { number: 2, mark }, { number: 1, mark });
    const failures = [
      'DB_1 (usage-DB_1) failed: it is the database DB_2',
      'DB_2 (usage-DB_2) failed: it is the database DB_1',
    ];
    expect(exchanged).toEqual({ list: { businesses: [], failures }, keys: [key, failures[0]] });
    const foreign = await resultsWith({ number: 0, mark }, { number: 1, mark: 'b' }, { number: 2, mark });
    const failure = 'DB_1 (usage-DB_1) failed: it is of another service than DB';
    expect(foreign).toEqual({ list: { businesses: [], failures: [failure] }, keys: [key, failure] });
    const wrongFirst = await resultsWith({ number: 1, mark }, { number: 1, mark }, { number: 2, mark });
    const failed = 'DB (usage-DB) failed: it is the database DB_1';
    expect(wrongFirst).toEqual({ list: { businesses: [], failures: [failed] }, keys: [failed, failed] });
  });

  test('all works where the marks are right, or there are none yet', async () => {
    const right = await resultsWith({ number: 0, mark }, { number: 1, mark }, null);
    expect(right).toEqual({ list: { businesses: [] }, keys: [key, inOther] });
    expect(await resultsWith()).toEqual({ list: { businesses: [] }, keys: [key, inOther] });
  });
});

describe('--remote', () => {
  /** What commands give while the account has no database, according to a stand-in for wrangler; and how that was called. */
  async function withoutDeployed<T>(where: Where, work: (databases: Databases) => Promise<T>) {
    const folder = newFolder();
    const { PATH } = process.env;
    writeFileSync(join(folder, 'wrangler'), '#!/bin/sh\necho "$@" >> "$(dirname "$0")/calls"\necho []\n', {
      mode: 0o755,
    });
    process.env.PATH = `${folder}${delimiter}${PATH}`;
    try {
      const result = await withDatabases({ ...where, 'persist-to': undefined, remote: true }, work);
      return { result, calls: readFileSync(join(folder, 'calls'), 'utf8') };
    } finally {
      process.env.PATH = PATH;
    }
  }

  test('looks up all databases in one call; one that is not deployed fails by its name, where it is needed', async () => {
    const where = await threeDatabases();
    const { result, calls } = await withoutDeployed(where, async (databases) => {
      const missing = (number: number) => `no database usage-DB_${number} is deployed`;
      await expect(resultOf(databases, 'key', 'revoke', '1000000001')).rejects.toThrow(missing(1));
      await expect(resultOf(databases, 'business', 'show', '2000000001')).rejects.toThrow(missing(2));
      return resultOf(databases, 'business', 'list').catch((error: Error) => error.message);
    });
    const failed = (binding: string) =>
      `${binding} (usage-${binding}) failed: no database usage-${binding} is deployed`;
    expect(result).toBe(['DB', 'DB_1', 'DB_2'].map(failed).join('; '));
    expect(calls).toBe(`d1 list --json --config ${where.config}\n`);
  });
});
