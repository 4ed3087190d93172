// Compares three databases with a model on one database: random requests and changes by the operator must get the same responses from both
// once ids and credentials are translated. The test prints its seed. To repeat a run, set FUZZ_SEED to its seed.
import { applyD1Migrations, createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { drizzle } from 'drizzle-orm/d1';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALPHABET } from '../../src/core/credential.ts';
import { databaseOfId, IDS_PER_DATABASE } from '../../src/core/database.ts';
import { noCost } from '../../src/db/batch.ts';
import { purgeAll } from '../../src/db/purge.ts';
import type { Bindings } from '../../src/env.ts';
import { UNAUTHENTICATED } from '../answers.ts';
import { boundTo, createBusiness, createKey, homeOf } from '../ask.ts';
import { NEW_BUSINESS } from '../routes.ts';
import {
  BASE,
  claimToken,
  databases,
  dumpAll,
  env,
  homes,
  NOW,
  newBusiness,
  OPERATOR,
  OPERATOR_SECRETS,
  serve,
} from '../support.ts';
import { type Change, HOUR, type Operation, operation, origin, type Sent, type World, world } from './steps.ts';

const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

/** A value on the side with one database, and its counterpart on the side with three. */
type Pair<T> = { one: T; three: T };
type Side = keyof Pair<unknown>;
async function inBoth<T>(work: (side: Side) => Promise<T>): Promise<Pair<T>> {
  const [one, three] = await Promise.all([work('one'), work('three')]);
  return { one, three };
}

const bindings: Pair<Partial<Bindings>> = { one: { DB: env.ONE }, three: databases() };
const bound = { one: [{ number: 0, db: drizzle(env.ONE) }], three: homes };

beforeAll(async () => {
  await applyD1Migrations(env.ONE, env.MIGRATIONS);
  console.log(`FUZZ_SEED=${seed}`);
});

const at = <T>(list: T[], index: number): T => list[index % list.length] as T;
/** Returns an unused id in a database's range. */
const unknownIn = (database: number) => (database + 1) * IDS_PER_DATABASE - 1;
const withLetter = (credential: string, shift: number) => {
  const letter = ALPHABET[(ALPHABET.indexOf(credential[7] as string) + shift) % ALPHABET.length];
  return credential.slice(0, 7) + letter + credential.slice(8);
};

type Asked = { id: number | string; entry?: number | undefined; as: string | undefined; origin: string | undefined };

/** Sends a request. Returns the response, its cost, and a description of the request. */
async function send(bindings: Partial<Bindings>, operation: Operation, { id, entry, as, origin }: Asked, now: Date) {
  const { resource, method, query = '', idempotency_key, body } = operation;
  const headers = new Headers({ 'X-Request-Id': 'model' });
  if (as !== undefined) headers.set('Authorization', `Bearer ${as}`);
  if (origin !== undefined) headers.set('Origin', origin);
  if (idempotency_key !== undefined) headers.set('Idempotency-Key', idempotency_key);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  const path = resource === 'usage' ? `usage/${id}${query}` : `${id}/access${entry === undefined ? '' : `/${entry}`}`;
  const request = new Request(`${BASE}/api/v1/business/${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const lines: object[] = [];
  const errors: object[] = [];
  const context = createExecutionContext();
  const response = await serve(request, bindings, context, { at: now, lines, errors });
  await waitOnExecutionContext(context);
  expect(errors).toEqual([]);
  const [{ d1, refusal }] = lines as [{ d1: Record<string, number>; refusal: string | null }];
  return {
    answer: {
      status: response.status,
      headers: [...response.headers].filter(([name]) => name !== 'server-timing'), // contains a duration, which varies
      body: await response.json<object>(),
      refusal,
    },
    cost: { round_trips: d1.round_trips, rows_written: d1.rows_written },
    said: `${method} ${path} ${JSON.stringify([...headers])} ${JSON.stringify(body)}`,
  };
}

type Kind = 'business' | 'key' | 'entry' | 'credential';

/** The corresponding ids and credentials of both sides. */
class Known {
  readonly pairs: Record<Kind, Pair<number | string>[]> = { business: [], key: [], entry: [], credential: [] };

  /**
   * Translates a response from the side with three databases by replacing its ids and credentials with those of the side with one. Learns
   * new pairs of the kinds in `learned`.
   */
  translate(one: unknown, three: unknown, learned: readonly Kind[]): unknown {
    if (typeof three !== 'object' || three === null) return three;
    const its = Object(one) as Record<string, never>;
    if (Array.isArray(three)) return three.map((value, index) => this.translate(its[index], value, learned));
    const what = 'last_four' in three ? 'key' : 'business_id' in three ? 'entry' : 'business';
    const fields = Object.entries(three).map(([name, value]) => {
      if (value === null) return [name, value];
      if (name === 'last_four') return [name, its[name]]; // random
      if (name === 'id') return [name, this.oneFor(what, its[name], value, learned)];
      if (name === 'business_id') return [name, this.oneFor('business', its[name], value, learned)];
      if (['token', 'api_key'].includes(name) && typeof value === 'string')
        return [name, this.oneFor('credential', its[name], value, learned)];
      return [name, this.translate(its[name], value, learned)];
    });
    return Object.fromEntries(fields);
  }

  private oneFor(kind: Kind, one: undefined | number | string, three: number | string, learned: readonly Kind[]) {
    const pairs = this.pairs[kind];
    const pair = pairs.find((pair) => pair.three === three);
    if (pair !== undefined) return pair.one;
    if (one === undefined || !learned.includes(kind) || pairs.some((pair) => pair.one === one))
      return `unknown: ${three}`;
    pairs.push({ one, three });
    return one;
  }
}

/** A request for both sides. */
type Both = {
  id: Pair<number | string>;
  entry?: Pair<number> | undefined;
  as: Pair<string> | undefined;
  origin?: string | undefined;
};
type Owner = { user_id: number; database: number | undefined };
type Named = { id: number; token: string };
const { user_id: _, ...FIELDS } = NEW_BUSINESS;
/** Returns an imported token, which is the same on both sides. */
const tokenOf = (user_id: number, which: string | number) => `of-another-system-${user_id}-${which}`.padEnd(24, '.');
let user = 0;
/** The number of responses for each status, and the number to which the exception in `compare` applied. */
const met: Record<string, number> = {};

/** Runs a world on both sides. */
class Run {
  readonly known = new Known();
  readonly owners: Owner[] = [];
  readonly businesses: { id: Pair<number>; user_id: number; token: Pair<string> }[] = [];
  readonly keys: { id: Pair<number>; user_id: number; text: Pair<string> }[] = [];
  /** On the side with three databases: the database number of each owner and of each imported token. */
  readonly homes = new Map<number, number>();
  readonly imported = new Map<string, number>();
  now = NOW;

  /** Creates owners with a business and a key each, and adds new owners without either. */
  async begin({ owners, new_owners }: World) {
    const first = user + 1;
    user += owners.length + new_owners.length;
    const made = owners.map(async ({ database, imported }, index) => {
      const user_id = first + index;
      const token = imported ? tokenOf(user_id, 'first') : undefined;
      const home = await inBoth(async (side) => {
        const wanted = side === 'one' ? 0 : at(homes, database).number;
        const databases = boundTo(bound[side], NOW);
        const number = await (token === undefined
          ? homeOf(databases, user_id, wanted)
          : claimToken(databases, user_id, token, wanted));
        return at([...bound[side]], number);
      });
      return Promise.all([
        inBoth((side) => createBusiness(home[side], { ...FIELDS, user_id, token }, NOW)),
        inBoth((side) => createKey(home[side], { user_id, name: 'first', expires_on: null }, NOW)),
      ]);
    });
    for (const [index, { database }] of [...owners, ...new_owners].entries()) {
      const user_id = first + index;
      this.owners.push({ user_id, database });
      const [business, key] = (await made[index]) ?? [];
      if (business) this.addBusiness(user_id, business);
      if (key) this.addKey(user_id, key);
    }
  }

  private addBusiness(user_id: number, { one, three }: Pair<{ id: number; token: string }>) {
    const id = { one: one.id, three: three.id };
    const token = { one: one.token, three: three.token };
    this.known.translate(one, three, ['business', 'credential']);
    this.homes.set(user_id, databaseOfId(id.three));
    this.businesses.push({ user_id, id, token });
    if (!token.one.startsWith('bua_')) this.imported.set(token.one, databaseOfId(id.three));
  }

  private addKey(user_id: number, { one, three }: Pair<{ id: number; api_key: string }>) {
    const id = { one: one.id, three: three.id };
    const text = { one: one.api_key, three: three.api_key };
    this.known.translate(one, three, ['key', 'credential']);
    this.homes.set(user_id, databaseOfId(id.three));
    for (const owner of this.owners.filter((owner) => owner.user_id === user_id))
      owner.database = databaseOfId(id.three);
    this.keys.push({ user_id, id, text });
  }

  /** Sends an operator's request to one side. */
  private async operate<T>(side: Side, method: string, path: string, body?: object) {
    const init = {
      method,
      headers: { Authorization: `Bearer ${OPERATOR.full}` },
      body: body ? JSON.stringify(body) : null,
    };
    const context = createExecutionContext();
    const request = new Request(`${BASE}/api/v1/${path}`, init);
    const store = { at: this.now, lines: [], errors: [] };
    const response = await serve(request, { ...bindings[side], ...OPERATOR_SECRETS }, context, store);
    await waitOnExecutionContext(context);
    return { status: response.status, body: await response.json<{ data: T; message?: string }>() };
  }

  /** Sends an operator's request to both sides. Returns their data, or null if both refused it with the same message. */
  private async command<T>(
    method: string,
    path: (side: Side) => string,
    body?: (side: Side) => object,
  ): Promise<Pair<T> | null> {
    const { one, three } = await inBoth((side) => this.operate<T>(side, method, path(side), body?.(side)));
    const said = `${method} ${path('one')} ${path('three')} ${JSON.stringify(body?.('three'))}`;
    expect(this.known.translate(one, three, ['business', 'key', 'credential', 'entry']), said).toEqual(one);
    return one.status === 200 ? { one: one.body.data, three: three.body.data } : null;
  }

  async change(step: Change): Promise<unknown> {
    const owner = at(this.owners, 'owner' in step ? step.owner : 0);
    const { user_id } = owner;
    const business = at(this.businesses, 'business' in step ? step.business : 0);
    const path = (side: Side) => `business/${business.id[side]}`;
    switch (step.kind) {
      case 'create business': {
        const token = step.token === undefined ? undefined : tokenOf(at(this.owners, 0).user_id, step.token);
        const database = (side: Side) => (side === 'one' ? undefined : owner.database);
        const fields = (side: Side) => ({ ...FIELDS, user_id, token, database: database(side) });
        const made = await this.command<Named>('POST', () => 'business', fields);
        return made && this.addBusiness(user_id, made);
      }
      case 'create key': {
        const { expires_on } = step;
        const made = await this.command<{ id: number; api_key: string }>(
          'POST',
          () => `user/${user_id}/keys`,
          () => ({ expires_on }),
        );
        return made && this.addKey(user_id, made);
      }
      case 'rotate token': {
        const { keep_old } = step;
        const made = await this.command<Named>(
          'POST',
          (side) => `${path(side)}/token`,
          () => ({ keep_old }),
        );
        const { one, three } = made as Pair<Named>;
        business.token = { one: one.token, three: three.token };
        return;
      }
      case 'revoke key': {
        const key = at(this.keys, step.key);
        return this.command('DELETE', (side) => `user/${key.user_id}/keys/${key.id[side]}`);
      }
      case 'set status':
        return this.command('PATCH', path, () => ({ status: step.status }));
      case 'give': {
        const [from, to] = [databaseOfId(business.id.three), this.homes.get(user_id)];
        if (to !== undefined && to !== from) {
          const { status, body } = await this.operate('three', 'PATCH', path('three'), { user_id });
          return expect({ status, message: body.message }).toEqual({
            status: 422,
            message: `user_id must be a user of database ${from}, which contains the business: user ${user_id} is in database ${to}`,
          });
        }
        await this.command('PATCH', path, () => ({ user_id }));
        business.user_id = user_id;
        owner.database = from;
        return this.homes.set(user_id, from);
      }
      case 'import history': {
        const days = [{ date: '2026-03-02', count: 3 }];
        return this.command(
          'PUT',
          (side) => `${path(side)}/history`,
          () => ({ days, replace: step.replace }),
        );
      }
      case 'list':
        await this.command('GET', () => `business?user_id=${user_id}`);
        return this.command('GET', () => `user/${user_id}/keys`);
      case 'wait':
        this.now = new Date(this.now.getTime() + step.hours * HOUR);
        return inBoth((side) => purgeAll(bindings[side], { scheduled: this.now, log: console, cost: noCost() }));
    }
  }

  private credentialOf({ of, which, shift }: Sent['sender'], user_id: number, token: Pair<string>) {
    const all = this.known.pairs.credential as Pair<string>[];
    if (of === 'nobody') return undefined;
    if (of === 'business') return token;
    if (of === 'anyone') return at(all, which);
    if (of === 'owner')
      return at(
        this.keys.filter((key) => key.user_id === user_id).map(({ text }) => text),
        which,
      );
    const { one, three } = at(
      all.filter(({ one }) => one.startsWith('bua_')),
      which,
    );
    return { one: withLetter(one, shift), three: withLetter(three, shift) };
  }

  async send({ sender, target, origin, operation }: Omit<Sent, 'kind'>) {
    const business = at(this.businesses, 'business' in target ? target.business : 0);
    let id: Pair<number | string> = business.id;
    if ('unknown' in target) id = { one: unknownIn(0), three: unknownIn(target.unknown) };
    if ('text' in target) id = { one: target.text, three: target.text };
    const as = this.credentialOf(sender, business.user_id, business.token);
    const entries = [...this.known.pairs.entry, { one: unknownIn(0), three: unknownIn(0) }] as Pair<number>[];
    const entry = operation.entry === undefined ? undefined : at(entries, operation.entry);
    await this.compare(operation, { id, entry, as, origin });
  }

  /** Sends a request to both sides and compares the responses. */
  private async compare(operation: Operation, { id, entry, as, origin }: Both) {
    const { one, three } = await inBoth((side) => {
      const asked = { id: id[side], entry: entry?.[side], as: as?.[side], origin };
      return send(bindings[side], operation, asked, this.now);
    });
    const said = `${one.said}\n${three.said}`;
    const home = as && this.imported.get(as.three);
    const named = databaseOfId(Number(id.three));
    if (home !== undefined && home !== (named in homes ? named : 0)) {
      // The exception: an imported token contains no database letter. The service therefore does not find it if the path names another
      // database, or if the path names no database and the token is not stored in DB.
      met.exception = (met.exception ?? 0) + 1;
      expect(three.answer, said).toMatchObject(UNAUTHENTICATED);
      expect(one.answer.refusal, said).toMatch(/^(unauthenticated|unknown_business|token_not_allowed)$/);
      return;
    }
    met[three.answer.status] = (met[three.answer.status] ?? 0) + 1;
    expect(this.known.translate(one.answer, three.answer, ['entry']), said).toEqual(one.answer);
    if (one.answer.status === 200) expect(three.cost, said).toEqual(one.cost);
  }

  /** Compares the final sites and uses of every business, read with a new key. */
  async end() {
    const query = '?from=2026-01-01&to=2026-12-31';
    const owners = this.owners.filter(({ user_id }) =>
      this.businesses.some((business) => business.user_id === user_id),
    );
    const read = owners.map(async (owner) => {
      const number = this.homes.get(owner.user_id) as number;
      const key = { user_id: owner.user_id, name: 'last', expires_on: null };
      const { one: mine, three } = await inBoth((side) =>
        createKey(at([...bound[side]], side === 'one' ? 0 : number), key, this.now),
      );
      const as = { one: mine.api_key, three: three.api_key };
      for (const { id, user_id } of this.businesses) {
        if (user_id !== owner.user_id) continue;
        await this.compare({ resource: 'usage', method: 'GET', query }, { id, as });
        await this.compare({ resource: 'access', method: 'GET' }, { id, as });
      }
    });
    await Promise.all(read);
  }
}

async function compareWorlds(numRuns: number) {
  const same = fc.asyncProperty(world, async (world) => {
    const run = new Run();
    await run.begin(world);
    for (const step of world.steps) await (step.kind === 'request' ? run.send(step) : run.change(step));
    await run.end();
  });
  await fc.assert(same, { seed, numRuns });
}

test('random sequences of requests get the same responses from three databases as from one', () => compareWorlds(5));

test('many random sequences of requests get the same responses from three databases as from one, and produce each status', {
  tags: 'slow',
  timeout: 300_000,
}, async () => {
  await compareWorlds(150);
  console.log(JSON.stringify(met));
  for (const what of [200, 401, 403, 404, 422, 'exception']) expect(met[what], `${what}`).toBeGreaterThan(0);
});

describe('for any operation', () => {
  const some = fc.nat(11);
  type Business = Awaited<ReturnType<typeof newBusiness>>;
  let businesses: Business[] = [];
  beforeAll(async () => {
    businesses = await Promise.all(
      Array.from({ length: 12 }, (_, index) => newBusiness({ sites: index % 4 ? [] : ['https://shop.example'] })),
    );
  });
  const credential = fc.tuple(some, fc.boolean());
  const credentialOf = ([index, isKey]: [number, boolean]) => {
    const business = at(businesses, index);
    return { business, as: isKey ? business.key : business.token };
  };
  const ask = async (operation: Operation, id: number, as: string, origin: string | undefined) =>
    (await send(bindings.three, operation, { id, entry: operation.entry, as, origin }, NOW)).answer;

  test('a credential with another database’s letter gets 401 and changes nothing', async () => {
    const before = await dumpAll();
    const shift = fc.integer({ min: 1, max: 61 });
    const refused = fc.asyncProperty(
      operation,
      some,
      credential,
      shift,
      origin,
      async (operation, of, whose, shift, origin) => {
        const as = withLetter(credentialOf(whose).as, shift);
        expect(await ask(operation, at(businesses, of).id, as, origin)).toMatchObject(UNAUTHENTICATED);
      },
    );
    await fc.assert(refused, { seed, numRuns: 300 });
    expect(await dumpAll()).toBe(before);
  });

  test('a request for a business in another database gets the same response as for an unknown id', {
    tags: 'slow',
  }, async () => {
    const before = await dumpAll();
    const unknown = fc.asyncProperty(operation, some, credential, origin, async (operation, of, whose, origin) => {
      const { as, business } = credentialOf(whose);
      const { id, home } = at(businesses, of);
      fc.pre(home !== business.home);
      const answer = await ask(operation, id, as, origin);
      expect(answer.refusal).toBe('unknown_business');
      expect(answer).toEqual(await ask(operation, unknownIn(0), as, origin));
    });
    await fc.assert(unknown, { seed, numRuns: 300 });
    expect(await dumpAll()).toBe(before);
  });
});
