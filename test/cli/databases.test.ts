// The commands on three databases, as one types them.
import { describe, expect, test } from 'vitest';
import { withDatabases } from '../../src/cli/open.ts';
import { homes } from '../../src/db/schema.ts';
import { admin, threeDatabases } from './support.ts';

const KEY = ['key', 'create', '--user', '7'];
const BUSINESS = [
  ...['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
  ...['--site', 'https://acme.example', '--country', '1', '--size', 'small'],
];

/** What a command prints. What workerd says of a lock that it met is on stderr. */
async function printed(...args: string[]) {
  const { code, stdout, stderr } = await admin(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  return JSON.parse(stdout);
}

/** The rows of homes in each database. */
const homesIn = (config: string, state: string) =>
  withDatabases({ config, 'persist-to': state }, (databases) => databases.every(({ db }) => db.select().from(homes)));

describe.concurrent('on three databases', { timeout: 120_000 }, () => {
  test('two commands at once for a new user give one home', async () => {
    const { config, state, where } = await threeDatabases();
    const [key, { business }] = await Promise.all([printed(...KEY, ...where), printed(...BUSINESS, ...where)]);
    expect([key.id, business.id]).toEqual([1, 1]);
    expect(await homesIn(config, state)).toEqual([[{ user_id: 7, database: 0 }], [], []]);
  });

  test('of two at once that want different databases, one is refused; the other is found by its id and in the list', async () => {
    const { config, state, where } = await threeDatabases();
    const [one, two] = await Promise.all([
      admin(...BUSINESS, '--database', '1', ...where),
      admin(...BUSINESS, '--database', '2', ...where),
    ]);
    const [home, done, refused] = one.code === 0 ? ([1, one, two] as const) : ([2, two, one] as const);
    expect([done.code, refused.code, refused.stdout]).toEqual([0, 1, '']);
    const reason = `User 7 is in database ${home}, DB_${home} (usage-DB_${home}), and cannot be in another.`;
    expect(refused.stderr).toContain(reason);
    expect(await homesIn(config, state)).toEqual([[{ user_id: 7, database: home }], [], []]);

    const { business } = JSON.parse(done.stdout);
    expect(business).toMatchObject({ id: home * 1_000_000_000 + 1, token: expect.stringMatching(`^bua_pk_${home}`) });
    const show = ['business', 'show', `${business.id}`];
    const unbound = `The id ${business.id} is one of DB_${home}, which the configuration does not bind.\n`;
    const missing = { code: 1, stdout: '', stderr: unbound };
    const [shown, { databases }, elsewhere] = await Promise.all([
      printed(...show, ...where),
      printed('database', 'list', ...where),
      admin(...show, '--persist-to', state), // wrangler.toml binds one database
    ]);
    expect(shown).toEqual({ business, limits: { daily: null, monthly: null } });
    expect(elsewhere).toEqual(missing);
    const list = ['DB', 'DB_1', 'DB_2'].map((binding, number) => {
      const counts = { bytes: expect.any(Number), businesses: number === home ? 1 : 0, uses: 0 };
      return { letter: `${number}`, binding, name: `usage-${binding}`, region: null, ...counts };
    });
    expect(databases).toEqual(list);
  });
});
