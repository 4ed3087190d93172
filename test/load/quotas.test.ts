// @module-tag slow
// Compares quotas with an oracle (oracle.ts) under random operations on one database and on three, over connections that break at random.
// All responses, alerts and counts equal the oracle's, so only an operator's list can exceed a limit and its overage, and each threshold
// that is reached stores one alert.
//
// Requests for different businesses are concurrent. Sweeps run between rounds, because they read all businesses. Prints its seed. FUZZ_SEED
// repeats a run, and FUZZ_SECONDS extends it.
import { applyD1Migrations, createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { drizzle } from 'drizzle-orm/d1';
import { beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { sweep } from '../../src/db/alerts.ts';
import type { Bindings } from '../../src/env.ts';
import { boundTo, createBusiness, createKey, homeOf } from '../ask.ts';
import { BASE, databaseClock, env, homes, OPERATOR, OPERATOR_SECRETS } from '../support.ts';
import { type Alert, type Answer, dayAt, type Listed, Oracle, type Settings, type Write } from './oracle.ts';

const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 30);
const LONG = { timeout: (SECONDS + 240) * 1000 };
const BUSINESSES = 12;
const STEPS_IN_ROUND = 5;
/** The minimum number of rounds for each start day, which applies even on a slow machine. */
const MIN_ROUNDS = 5;
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
/** Values for `alert_at`. */
const THRESHOLDS = [[80, 100], [1, 50, 99], [100], [33, 66, 100, 150, 1000], [120, 500]];
/** The days on which the simulated clock starts. FUZZ_SECONDS is divided among them. 2100 is not a leap year. */
const STARTS = ['2027-12-27', '2028-02-20', '2031-01-30', '2032-02-26', '2100-02-15'];

type Home = Omit<(typeof homes)[number], 'name'> & { name: string };
const one: Home = { number: 0, binding: 'DB', name: 'one', d1: env.ONE, db: drizzle(env.ONE) };

beforeAll(async () => {
  await applyD1Migrations(env.ONE, env.MIGRATIONS);
  console.log(`FUZZ_SEED=${seed}`);
});

/** Seeded random choices (mulberry32). */
class Random {
  private state: number;
  constructor(seed: number) {
    this.state = seed;
  }
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  /** A random integer from `least` to `most`, inclusive. */
  from(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }
  of<T>(list: readonly T[]): T {
    return list[this.from(0, list.length - 1)] as T;
  }
  happens(percent: number): boolean {
    return this.next() * 100 < percent;
  }
}

type Fault = 'none' | 'before it ran' | 'after it ran';
type Sent = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path: string;
  as: string;
  id?: string | undefined;
  body?: object;
};
const LOST = 'D1_ERROR: Network connection lost.';
const UNAVAILABLE: Answer = { status: 503, body: { message: 'Service Unavailable' }, retry_after: '10' };
const SERVER_ERROR: Answer = { status: 500, body: { message: 'Server Error' }, retry_after: null };

const newTally = () => ({
  ...{ operations: 0, requests: 0, uses: 0, listed: 0, refused: 0, refused_lists: 0, duplicates: 0, imports: 0 },
  ...{ changes: 0, reads: 0, sweeps: 0, breaks: 0, broken_writes: 0, alerts: 0, rounds: 0 },
});
type Tally = ReturnType<typeof newTally>;

type Owned = { id: number; token: string; key: string; home: Home };

/** A business with its oracle and its connection. */
class Lane {
  readonly business: Owned;
  readonly oracle: Oracle;
  private readonly random: Random;
  private readonly tally: Tally;
  private readonly path: string;
  now = 0;
  private batchFault: Fault = 'none';
  private writeFault: Fault = 'none';
  private readonly errors: { error?: string }[] = [];
  private readonly app = createApp(
    () => new Date(this.now),
    { log() {}, error: (line) => this.errors.push(line) },
    databaseClock,
  );
  private readonly bindings: Bindings;
  private readonly ids: string[] = [];
  private last = 0;
  private readonly scale: number;

  constructor(business: Owned, sides: readonly Home[], random: Random, tally: Tally, start: number) {
    this.business = business;
    this.random = random;
    this.tally = tally;
    this.oracle = new Oracle(start);
    this.path = `/api/v1/business/usage/${business.id}`;
    this.scale = random.of([4, 20, 20, 300, 1_000_000]);
    const connected = Object.fromEntries(sides.map(({ binding, d1 }) => [binding, this.connection(d1)]));
    this.bindings = { ...OPERATOR_SECRETS, ...connected } as unknown as Bindings;
  }

  /** Runs a database call over a connection that has the given fault. */
  private async over<T>(fault: Fault, run: () => Promise<T>): Promise<T> {
    if (fault === 'before it ran') throw new Error(LOST);
    const result = await run();
    if (fault === 'after it ran') throw new Error(LOST);
    return result;
  }

  private connection(d1: D1Database): D1Database {
    const write = (statement: D1PreparedStatement) => {
      if (this.writeFault !== 'none') this.tally.broken_writes += 1;
      return this.over(this.writeFault, () => statement.run());
    };
    const bind = (text: string, values: unknown[]) => ({ run: () => write(d1.prepare(text).bind(...values)) });
    const connection = {
      prepare: (text: string) =>
        text.startsWith('insert into "alerts"')
          ? { bind: (...values: unknown[]) => bind(text, values) }
          : d1.prepare(text),
      batch: (statements: D1PreparedStatement[]) => this.over(this.batchFault, () => d1.batch(statements)),
    };
    return connection as unknown as D1Database;
  }

  private async send({ method, path, as, id, body }: Sent): Promise<Answer> {
    this.tally.requests += 1;
    const headers = new Headers({ Authorization: `Bearer ${as}` });
    if (id !== undefined) headers.set('Idempotency-Key', id);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const request = new Request(BASE + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const context = createExecutionContext();
    const response = await this.app.fetch(request, this.bindings, context);
    await waitOnExecutionContext(context);
    return {
      status: response.status,
      body: await response.json<object>(),
      retry_after: response.headers.get('Retry-After'),
    };
  }

  /**
   * Sends a request over a connection that may break. Calls `expected`, which updates the oracle, each time the batch runs. If the request
   * is repeatable, retries it.
   */
  private async exchange(sent: Sent, isRepeatable: boolean, expected: (write: Write) => Answer): Promise<void> {
    const { random, tally } = this;
    const fault: Fault = random.happens(6) ? random.of(['before it ran', 'after it ran'] as const) : 'none';
    if (fault !== 'none') {
      tally.breaks += 1;
      tally.operations += 1;
      if (fault === 'after it ran') expected('is lost');
      this.batchFault = fault;
      const answer = await this.send(sent);
      this.batchFault = 'none';
      this.expect(answer, isRepeatable ? UNAVAILABLE : SERVER_ERROR, `${JSON.stringify(sent)}, broken ${fault}`);
      if (!isRepeatable) return;
    }
    this.writeFault = random.happens(12) ? random.of(['before it ran', 'after it ran'] as const) : 'none';
    const right = expected(this.writeFault === 'before it ran' ? 'is lost' : 'arrives');
    const said = `${JSON.stringify(sent)}, alerts ${this.writeFault}`;
    this.expect(await this.send(sent), right, said);
    this.writeFault = 'none';
  }

  private expect(answer: Answer, right: Answer, said: string): void {
    expect(answer, said).toEqual(right);
    const other = this.errors.filter(({ error }) => !`${error}`.includes(LOST));
    expect(other, said).toEqual([]);
    this.errors.length = 0;
    if (answer.status === 429) this.tally.refused += 1;
  }

  /** A random quantity that often reaches a limit or a threshold exactly, or is off by one. */
  private quantity(): number {
    const { random } = this;
    const edge = random.of([...this.oracle.edges(this.now), 1]) + random.from(-1, 1);
    const quantity = random.happens(35) ? edge : random.happens(50) ? 1 : random.from(1, Math.ceil(this.scale / 4));
    return Math.min(1_000_000, Math.max(1, quantity));
  }

  private id(): string {
    const { random, ids } = this;
    if (ids.length > 0 && random.happens(25)) return random.of(ids.slice(-100));
    this.last += 1;
    const id = `use-${this.last}`;
    ids.push(id);
    return id;
  }

  private async use(): Promise<void> {
    const { random, business, oracle, tally } = this;
    tally.operations += 1;
    tally.uses += 1;
    const isToken = random.happens(20);
    const id = random.happens(50) ? this.id() : undefined;
    const quantity = isToken ? 1 : this.quantity();
    const isPlain = quantity === 1 && random.happens(70);
    const sent: Sent = {
      ...{ method: 'POST', path: this.path, as: isToken ? business.token : business.key, id },
      ...(isToken || isPlain ? {} : { body: { quantity } }),
    };
    const known = id === undefined ? undefined : `${isToken ? 'page' : 'server'} ${id}`;
    await this.exchange(sent, id !== undefined, (write) =>
      oracle.use(quantity, known, this.now, write, isToken ? 'page' : 'server'),
    );
  }

  /** Sends the same use several times concurrently. The responses must equal those to sequential uses, in any order. */
  private async burst(): Promise<void> {
    const { business, oracle, random, tally } = this;
    const quantity = random.happens(50) ? 1 : this.quantity();
    const count = random.from(2, 8);
    tally.operations += count;
    tally.uses += count;
    const sent: Sent = { method: 'POST', path: this.path, as: business.key, body: { quantity } };
    const answers = await Promise.all(Array.from({ length: count }, () => this.send(sent)));
    const right = Array.from({ length: count }, () => oracle.use(quantity, undefined, this.now, 'arrives', 'server'));
    const sorted = (all: Answer[]) => all.toSorted((a, b) => order(JSON.stringify(a), JSON.stringify(b)));
    expect(sorted(answers), `${count} concurrent uses: ${JSON.stringify(sent)}`).toEqual(sorted(right));
    tally.refused += answers.filter(({ status }) => status === 429).length;
  }

  private async list(): Promise<void> {
    const { business, oracle, random, tally } = this;
    const listed: Listed[] = [];
    const isLong = random.happens(30);
    const uses = Array.from({ length: isLong ? random.from(30, 150) : random.from(1, 12) }, () => {
      const id = this.id();
      const age = random.happens(20) ? random.from(-300, 0) * SECOND : random.from(0, random.of([2, 35]) * DAY);
      const at = random.happens(50) ? undefined : this.now - age;
      const quantity = random.happens(isLong ? 95 : 70) ? undefined : random.from(1, Math.ceil(this.scale / 10));
      listed.push({
        id: `server ${id}`,
        day: dayAt(at ?? this.now),
        quantity: quantity ?? 1,
        isDated: at !== undefined,
      });
      return { id, quantity, at: at === undefined ? undefined : new Date(at).toISOString() };
    });
    tally.operations += uses.length;
    tally.listed += uses.length;
    const by = random.happens(30) ? 'operator' : 'server';
    const as = by === 'operator' ? OPERATOR.record : business.key;
    await this.exchange({ method: 'POST', path: this.path, as, body: { uses } }, true, (write) => {
      const answer = oracle.list(listed, this.now, write, by);
      if (answer.status === 429) tally.refused_lists += 1;
      else tally.duplicates += (answer.body as { data: { duplicates: number } }).data.duplicates;
      return answer;
    });
  }

  private async import(): Promise<void> {
    const { business, oracle, random, tally } = this;
    const ages = new Set(Array.from({ length: random.from(1, 4) }, () => random.from(1, random.of([3, 31, 70]))));
    const days = [...ages].map((age) => ({
      date: dayAt(this.now - age * DAY),
      count: random.happens(15) ? 0 : random.from(1, this.scale),
    }));
    tally.operations += days.length;
    tally.imports += 1;
    const replace = random.happens(50);
    const isStored = oracle.import(days, replace);
    const path = `/api/v1/business/${business.id}/history`;
    const { status } = await this.send({ method: 'PUT', path, as: OPERATOR.full, body: { days, replace } });
    expect(status, `import ${replace ? 'to replace ' : ''}${JSON.stringify(days)}`).toBe(isStored ? 200 : 422);
  }

  private limit(): number | null {
    const { random, oracle, scale } = this;
    if (random.happens(20)) return null;
    if (random.happens(5)) return 0;
    // Often close to the current usage.
    const used = [...oracle.counts.values()].slice(-30).reduce((sum, count) => sum + count, 0);
    const near = random.of([used, Math.ceil(used * 1.25), oracle.counts.get(dayAt(this.now)) ?? 0]);
    return random.happens(40) ? near + random.from(0, 2) : random.from(1, scale * random.of([1, 3, 30]));
  }

  private async change(): Promise<void> {
    const { business, oracle, random, tally } = this;
    tally.operations += 1;
    tally.changes += 1;
    const fields: Partial<Settings> = {};
    if (random.happens(60)) fields.daily_limit = this.limit();
    if (random.happens(60)) fields.monthly_limit = this.limit();
    if (random.happens(25)) fields.billing_day = random.from(1, 28);
    if (random.happens(40)) fields.overage = random.of([0, null, random.from(1, this.scale), this.scale * 3]);
    if (random.happens(25)) fields.alert_at = random.of(THRESHOLDS);
    if (Object.keys(fields).length === 0) fields.daily_limit = oracle.settings.daily_limit;
    const path = `/api/v1/business/${business.id}`;
    await this.exchange({ method: 'PATCH', path, as: OPERATOR.full, body: fields }, true, () => {
      oracle.change(fields, this.now);
      return this.shown();
    });
  }

  private shown(): Answer {
    const data = expect.objectContaining({ id: this.business.id, limits: this.oracle.limits(this.now) });
    return { status: 200, body: { status: true, data }, retry_after: null };
  }

  private async read(): Promise<void> {
    const { business, tally } = this;
    tally.operations += 1;
    tally.reads += 1;
    await this.exchange({ method: 'GET', path: `/api/v1/business/${business.id}`, as: business.key }, true, () =>
      this.shown(),
    );
  }

  async step(): Promise<void> {
    const dice = this.random.from(1, 100);
    if (dice <= 55) await this.use();
    else if (dice <= 60) await this.burst();
    else if (dice <= 72) await this.list();
    else if (dice <= 76) await this.import();
    else if (dice <= 86) await this.change();
    else await this.read();
    this.now += this.random.of([0, 1, 500, 5 * SECOND]);
  }
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
let user = 0;

async function newLane(sides: readonly Home[], index: number, start: number, random: Random, tally: Tally) {
  const home = sides[index % sides.length] as Home;
  user += 1;
  const owner = { user_id: user, name: 'Acme' };
  const fields = { main_domain: 'acme.example', site: 'https://acme.example', country_id: 1, business_size: 'small' };
  await homeOf(boundTo(sides, new Date(start)), user, home.number);
  const { id, token } = await createBusiness(home, { ...owner, ...fields }, new Date(start));
  const { api_key } = await createKey(home, { ...owner, expires_on: null }, new Date(start));
  return new Lane({ id, token, key: api_key, home }, sides, random, tally, start);
}

/** Compares the stored counts, and the alerts that were stored since the last call, with those of the oracles. */
class Stored {
  private readonly lastAlert = new Map<string, number>();
  private readonly seen = new Map<Lane, number>();
  private readonly sides: readonly Home[];
  private readonly tally: Tally;
  constructor(sides: readonly Home[], tally: Tally) {
    this.sides = sides;
    this.tally = tally;
  }

  async expectAlerts(lanes: readonly Lane[]): Promise<void> {
    const ofBusiness = new Map<number, Alert[]>();
    for (const { name, d1 } of this.sides) {
      const statement = d1.prepare('select * from alerts where id > ? order by id').bind(this.lastAlert.get(name) ?? 0);
      for (const { id, business_id, ...alert } of (await statement.all<Alert & { id: number; business_id: number }>())
        .results) {
        ofBusiness.set(business_id, [...(ofBusiness.get(business_id) ?? []), alert]);
        this.lastAlert.set(name, id);
        this.tally.alerts += 1;
      }
    }
    const sorted = (all: Alert[]) => all.toSorted((a, b) => order(JSON.stringify(a), JSON.stringify(b)));
    for (const lane of lanes) {
      const { business, oracle } = lane;
      const expected = oracle.alerts.slice(this.seen.get(lane) ?? 0);
      this.seen.set(lane, oracle.alerts.length);
      expect(sorted(ofBusiness.get(business.id) ?? []), `alerts of ${business.id}`).toEqual(sorted(expected));
    }
  }

  async expectCounts(lanes: readonly Lane[]): Promise<void> {
    for (const { business, oracle } of lanes) {
      const statement = business.home.d1.prepare(
        'select day, count from daily_usage where business_id = ? order by day',
      );
      const { results } = await statement.bind(business.id).all<{ day: string; count: number }>();
      const expected = [...oracle.counts].map(([day, count]) => ({ day, count }));
      expect(results, `counts of ${business.id}`).toEqual(expected.sort((a, b) => order(a.day, b.day)));
    }
  }
}

/** Advances the clock after a round. */
function moved(now: number, random: Random): number {
  const dice = random.from(1, 100);
  const ofDay = now % DAY;
  if (dice <= 45) return now + random.from(0, 90) * SECOND;
  if (dice <= 70) return now + random.from(1, 9) * HOUR;
  if (dice <= 82) return now - ofDay + DAY - random.from(1, 10) * SECOND; // the next round spans midnight
  if (dice <= 87) return now - ofDay + DAY; // the first instant of the next day
  if (dice <= 98) return now + random.from(1, 4) * DAY;
  return now + random.from(25, 62) * DAY;
}

test.each([
  ['one database', [one]],
  ['three databases', homes],
] as const)('on %s, all responses, counts and alerts equal the oracle’s', LONG, async (name, sides) => {
  expect(sides).toHaveLength(name === 'one database' ? 1 : 3);
  const tally = newTally();
  const began = Date.now();
  for (const [chapter, day] of STARTS.entries()) {
    const random = new Random(seed + chapter * 1000 + sides.length);
    let now = Date.parse(`${day}T09:00:00Z`);
    const lanes: Lane[] = [];
    for (let index = 0; index < BUSINESSES; index++)
      lanes.push(await newLane(sides, index, now, new Random(random.from(0, 2 ** 31)), tally));
    const stored = new Stored(sides, tally);
    const sweepAll = async () => {
      await Promise.all(sides.map(({ db }) => sweep(db, new Date(now))));
      const minute = new Date(now).getUTCMinutes();
      const hour = new Date(now).getUTCHours();
      for (const { business, oracle } of lanes)
        if (business.id % 15 === minute % 15) oracle.sweep(now, Math.floor(business.id / 60) % 24 === hour);
      tally.sweeps += sides.length;
      tally.operations += sides.length;
      now += MINUTE;
    };
    const end = began + (SECONDS * 1000 * (chapter + 1)) / STARTS.length;
    for (let round = 0; round < MIN_ROUNDS || Date.now() < end; round++) {
      try {
        tally.rounds += 1;
        const work = lanes.map(async (lane) => {
          lane.now = now;
          for (let step = 0; step < STEPS_IN_ROUND; step++) await lane.step();
        });
        const results = await Promise.allSettled(work);
        for (const result of results) if (result.status === 'rejected') throw result.reason;
        now = Math.max(...lanes.map((lane) => lane.now));
        await stored.expectAlerts(lanes);
        if (round % 20 === 0) await stored.expectCounts(lanes);
        now = moved(now, random);
        const sweeps = random.happens(15) ? 15 : random.from(0, 3);
        for (let turn = 0; turn < sweeps; turn++) await sweepAll();
        if (sweeps > 0) await stored.expectAlerts(lanes);
      } catch (error) {
        const where = `FUZZ_SEED=${seed}, ${name}, from ${day}, round ${round}, ${new Date(now).toISOString()}`;
        throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
      }
    }
    await stored.expectCounts(lanes);
    // Removes the limits, so that the sweeps for the next start day skip these businesses.
    for (const { d1 } of sides) await d1.exec('update businesses set daily_limit = null, monthly_limit = null');
  }
  console.log(`${name}: ${JSON.stringify(tally)}, ${((Date.now() - began) / 1000).toFixed(0)} s`);
});
