// Takes steps in a world and compares every answer, and the databases, with the model.
import { createHash } from 'node:crypto';
import type { RunName } from '../../src/core/schedule.ts';
import { compare, compareDatabase, numberOfDay } from './check.ts';
import type { SimulatedD1 } from './d1.ts';
import type { FaultKind } from './faults.ts';
import { foldLimits } from './model/business.ts';
import { ANY, type Expected } from './model/call.ts';
import { Model, outageStatus } from './model/model.ts';
import { dayOf, stamp } from './model/time.ts';
import { Past } from './past.ts';
import { Random } from './random.ts';
import { type RequestStep, resolve, type SpentStep, type Step, TOKENS } from './steps.ts';
import { type Answer, type Commit, type Hit, OPERATOR, type Plain, World } from './world.ts';

/** A step with the seed of what the world draws during it, so that removing other steps leaves it as it was. */
export type Taken = Step & { seed: number };
export type Setting = { seed: number; databases: number };

/**
 * A request with its answer (null: none), what the model expects if it was carried out, and the faults that hit it. `isHalfDone`: only the
 * first of its batches were carried out.
 */
type Sent = { request: Plain; answer: Answer | null; expected: Expected | null; hits: Hit[]; isHalfDone: boolean };

type Row = Record<string, unknown>;

/** The databases are compared after each n-th request, each fault, and each run that deleted something. */
const COMPARED_EVERY = 25;
const DAY_MS = 86_400_000;
/** The faults after which a scheduled run reports that it failed. After the others, it may only have taken longer. */
const FAILS_RUN: FaultKind[] = ['refused', 'lost_before', 'lost_after', 'silent_before', 'silent_after', 'broken'];
/** The longest that a request waits for its databases. */
const PURGE_EVERY_MS = 2 * 60_000;
/** Each kind of data is purged at least twice, because a deletion ends after its changes are purged. */
const SWEEPING_RUNS = 20;
/** No run takes longer. */
const RUN_MS = 60_000;
/** The receiver has this long to answer. */
const RECEIVER_MS = 10_000;
const RETRY_AFTER_MS = 10_000;
/** The health check caches its result for at most this long. */
const HEALTH_MS = 10_000;
/** How long a request waits for its database. */
const deadlineOf = ({ headers: { Authorization: as = '' } }: Plain) =>
  as === '' || /^Bearer bua_(sk|op)_/.test(as) ? 10_000 : 3000;
/** A request that has changed something waits at most half of its time for the answer. After that, its database may have been late. */
const certainOf = (request: Plain) => deadlineOf(request) / 2;

export class Simulation {
  readonly world: World;
  readonly model: Model;
  #requests = 0;
  /** The ids of alerts that were given up. */
  readonly #givenUp = new Set<unknown>();
  /** When each scheduled run last ended. */
  readonly #ended: Record<RunName, unknown> = { alerts: null, purge: null };
  readonly #trace = createHash('sha256');
  readonly #past = new Past();

  constructor({ seed, databases }: Setting) {
    const random = new Random(seed);
    const start = Date.parse('2026-01-01T00:00:00Z') + random.int(1000) * DAY_MS + random.int(DAY_MS);
    this.world = new World({ seed, start, databases });
    this.model = new Model(databases, OPERATOR);
  }

  /** The hash of all answers. The same for each run of the same steps. */
  get hash(): string {
    return this.#trace.copy().digest('hex');
  }

  /** Takes a step. Returns the first difference from the model or from what held before, or null. */
  async take({ seed, ...step }: Taken): Promise<string | null> {
    this.world.random = new Random(seed);
    return (await this.#take(step)) ?? this.#past.difference(this.world);
  }

  async #take(step: Step): Promise<string | null> {
    const { world, model } = this;
    switch (step.kind) {
      case 'wait':
        world.now += step.ms;
        return null;
      case 'fault':
        world.inject({ ...step, kind: step.fault });
        return null;
      case 'down':
        world.takeDown(step.database % world.databases.length, step.ms);
        return null;
      case 'receiver':
        world.receiver = step;
        return null;
      case 'run': {
        const before = this.#rowsChanged();
        const began = world.now;
        const succeeded = await this.#run(step.name, {
          scheduledTime: world.now - (step.late ?? 0),
          times: step.times ?? 1,
        });
        if (!succeeded && world.hits.length === 0) return `the run ${step.name} failed: ${this.#logged()}`;
        this.#adoptFolded(began);
        const difference = this.#judgeRun(succeeded);
        if (difference !== null) return difference;
        if (succeeded && world.hits.some(failsRun))
          return `the run ${step.name} reports success, although its database failed`;
        // A run that succeeds stores when it ended. One that was killed may have deleted a row and stored nothing.
        const stored = succeeded ? (step.times ?? 1) : 0;
        return this.#rowsChanged() > before + stored ? this.compareDatabases() : null;
      }
      case 'sweep':
        return this.#sweep();
      case 'health':
        return this.#checkHealth();
      case 'spent':
        this.#spend(step);
        return null;
      case 'request':
        return this.#send([resolve(step, model, world.now)]);
      case 'together':
        return this.#send(step.requests.map((request: RequestStep) => resolve(request, model, world.now)));
    }
  }

  /** Starts a scheduled run, and learns when it ended, which is uncertain after a fault. */
  async #run(name: RunName, options: { scheduledTime?: number; times?: number } = {}): Promise<boolean> {
    const { world } = this;
    const succeeded = await world.run(name, options);
    this.#ended[name] = world.hits.length === 0 ? stamp(world.now) : ANY;
    return succeeded;
  }

  /** Asks for the health when no earlier result is cached. A database that fails makes it 503. */
  async #checkHealth(): Promise<string | null> {
    const { world, model } = this;
    world.now += HEALTH_MS;
    const [answer] = await world.send([{ method: 'GET', path: '/api/v1/health', headers: {}, body: null }]);
    const { hits } = world;
    if (answer === null || answer === undefined)
      return hits.some(({ fault }) => fault.kind === 'killed') ? null : 'no answer of the health check';
    if (hits.length > 0 && answer.status === 503) return null;
    const body = { status: true, runs: this.#ended, large_databases: [] };
    return compare(model, { status: 200, code: null, headers: {}, body }, answer);
  }

  /** Waits for midnight, and lets each kind of data be purged twice without faults. Then nothing that had expired may be left. */
  async #sweep(): Promise<string | null> {
    const { world } = this;
    const midnight = Math.ceil(world.now / DAY_MS) * DAY_MS;
    world.now = midnight;
    world.heal();
    for (let run = 0; run < SWEEPING_RUNS; run++, world.now += PURGE_EVERY_MS)
      if (!(await this.#run('purge'))) return `the run purge failed: ${this.#logged()}`;
    return this.compareDatabases() ?? this.compareDatabases({ isSettled: true }, midnight);
  }

  /** Lets a day pass without faults, with every purge. Then nothing that had expired may be left. */
  async settle(): Promise<string | null> {
    const { world } = this;
    const began = world.now;
    world.heal();
    world.receiver = { status: 204, retryAfter: null, ms: 0 };
    for (const end = began + DAY_MS + PURGE_EVERY_MS; world.now < end; world.now += PURGE_EVERY_MS)
      for (const name of ['purge', 'alerts'] as const) {
        const { now } = world;
        const succeeded = await this.#run(name);
        this.#adoptFolded(now);
        if (!succeeded) return `the run ${name} failed: ${this.#logged()}`;
        const difference = this.#judgeRun(succeeded);
        if (difference !== null) return difference;
      }
    const [due] = this.#alerts('due_at is not null');
    if (due !== undefined) return `an alert is still due: ${JSON.stringify(due)}`;
    const unfolded = this.model.state.businesses.find((business) => (business.unfolded ?? '9') <= dayOf(began));
    if (unfolded !== undefined) return `the limits of business ${unfolded.id} have not been folded`;
    return this.compareDatabases() ?? this.compareDatabases({ isSettled: true }, began);
  }

  /** Stores what the owner of a business would have taken with calls that are too many to play, or by a clock that was wrong. */
  #spend({ class: kind, pick, ahead, day, ids, bytes }: SpentStep): void {
    const { world, model } = this;
    const { businesses, homes, taken } = model.state;
    const user_id = businesses[pick % Math.max(1, businesses.length)]?.user_id ?? 0;
    const home = homes[user_id];
    if (home === undefined) return;
    const row = { until: world.now + ahead, day: dayOf(world.now + day * DAY_MS), ids, bytes };
    taken[user_id] = { ...taken[user_id], [kind]: row };
    world.databases[home.database]?.sqlite
      .prepare('replace into work (user_id, class, busy_until, day, ids, bytes) values (?, ?, ?, ?, ?, ?)')
      .run(user_id, kind, row.until, numberOfDay(row.day), ids, bytes);
  }

  /** Learns which of the limits whose day has come a run has folded. It may have been too early, late, or interrupted. */
  #adoptFolded(now: number): void {
    const pending = new Set(
      this.world.databases
        .flatMap((d1) => d1.rows('select id from businesses where next_from is not null'))
        .map(({ id }) => id),
    );
    for (const business of this.model.state.businesses)
      if ((business.unfolded ?? '9') <= dayOf(now) && !pending.has(business.id))
        foldLimits(this.model.state, business, now);
  }

  #alerts(where: string): Row[] {
    return this.world.databases.flatMap(({ sqlite }) => sqlite.prepare(`select * from alerts where ${where}`).all());
  }

  /**
   * Judges what a run sent. Each message is about a threshold that was reached, each alert has one id, and none is sent again after the
   * service learned that it was accepted. An alert that is given up is three days old, and is logged.
   */
  #judgeRun(succeeded: boolean): string | null {
    const { world, model } = this;
    const isCertain = succeeded && world.hits.length === 0;
    for (const { id, body, at, status, ms } of world.deliveries) {
      const { data, ...message } = JSON.parse(body);
      const { business_id, user_id, ...sent } = data;
      const alert = (model.state.alerts[business_id] ?? []).find((alert) =>
        (['period', 'starts_on', 'limit', 'threshold'] as const).every((name) => alert[name] === sent[name]),
      );
      if (alert === undefined) return `an alert that did not happen was sent: ${body}`;
      if (at > Date.parse(alert.at) + 3 * DAY_MS + RUN_MS) return `an alert of more than three days was sent: ${body}`;
      const { accepted, ...stored } = alert;
      const owner = model.state.businesses.find((business) => business.id === business_id)?.user_id;
      const right = { type: 'limit.reached', timestamp: alert.at, ...{ ...stored, id: alert.id ?? id } };
      if (
        JSON.stringify(Object.entries({ ...message, ...sent }).sort()) !== JSON.stringify(Object.entries(right).sort())
      )
        return `the message ${body} is not ${JSON.stringify(right)}`;
      if (sent.id !== id || user_id !== owner) return `the message ${body} has the id ${id} and the owner ${owner}`;
      if (accepted === 'surely') return `an alert was sent again after it was accepted: ${body}`;
      alert.id = id;
      if (status >= 200 && status < 300) alert.accepted = isCertain && ms < RECEIVER_MS ? 'surely' : 'perhaps';
    }
    const [late] = this.#alerts(`due_at > '${stamp(world.now + DAY_MS)}'`);
    if (late !== undefined) return `an alert waits for more than a day: ${JSON.stringify(late)}`;
    const acceptanceOf = ({ business_id, id }: Row) =>
      model.state.alerts[Number(business_id)]?.find((alert) => alert.id === id)?.accepted ?? 'no';
    for (const row of this.#alerts('sent_at is not null'))
      if (acceptanceOf(row) === 'no') return `an alert was not sent: ${JSON.stringify(row)}`;
    for (const row of this.#alerts('sent_at is null'))
      if (acceptanceOf(row) === 'surely') return `it is not stored that an alert was sent: ${JSON.stringify(row)}`;
    for (const row of this.#alerts('sent_at is null and due_at is null')) {
      if (this.#givenUp.has(row.id)) continue;
      this.#givenUp.add(row.id);
      if (Date.parse(`${row.at}`) > world.now - 3 * DAY_MS)
        return `an alert was given up early: ${JSON.stringify(row)}`;
      const isLogged = world.lines.some((line) => 'alert_id' in line && line.alert_id === row.id);
      if (isCertain && !isLogged) return `an alert was given up silently: ${JSON.stringify(row)}`;
    }
    return null;
  }

  async #send(requests: Plain[]): Promise<string | null> {
    const { world, model } = this;
    const { now } = world;
    const before = world.mayFail && !requests.every(isOneBatch) ? structuredClone(model.state) : model.state;
    const all = requests.map(
      (request): Sent => ({ request, answer: null, expected: null, hits: [], isHalfDone: false }),
    );
    const tooLate: string[] = [];
    const answers = await world.send(requests, {
      // Concurrent requests take effect in the order in which their batches commit.
      committed: (index, commit) => this.#expect(all[index] as Sent, now, commit),
      answered: (index) => {
        if (world.now > now + deadlineOf(requests[index] as Plain))
          tooLate.push(`answered after ${world.now - now} ms`);
        const isHit = world.hits.some((hit) => hit.index === index);
        if (!isHit) this.#expect(all[index] as Sent, now, { clock: world.now, isLate: false });
      },
    });
    if (tooLate[0] !== undefined) return `${tooLate[0]}: ${JSON.stringify(requests)}`;
    for (const [index, sent] of all.entries()) {
      sent.answer = answers[index] ?? null;
      sent.hits = world.hits.filter((hit) => hit.index === index);
      this.#trace.update(`${world.now} ${sent.answer?.status} ${sent.answer?.text}\n`);
      const difference = isOneBatch(sent.request) ? this.#judge(sent, now) : this.#judgeSeveral(sent, before, now);
      if (difference !== null) return `${difference}\n${JSON.stringify(sent.request)}\n${this.#logged()}`;
    }
    this.#requests += 1;
    const wasHit = world.hits.length > 0;
    const isHalfDone = all.some((sent) => sent.isHalfDone);
    // A Worker stores an origin after its response. Which one yields to it depends on what new sites let in by then.
    const isUnordered = requests.length > 1 && requests.some(isAdditionOfSites);
    for (const { expected } of isUnordered ? all : [])
      model.forgetAfter({ key: null, former: null, refused: expected?.after.refused ?? null, limited: null });
    const isCompared = (wasHit || isUnordered || this.#requests % COMPARED_EVERY === 0) && !isHalfDone;
    const difference = isCompared ? this.compareDatabases() : null;
    if (difference !== null) return `${difference}\n${JSON.stringify(requests)}`;
    // A key that was just refused is remembered for a second (test/work.test.ts). Here, everyone waits.
    if (all.some(({ expected }) => expected?.code === 'rate_limited')) world.now += 1000;
    for (const { request, answer } of all) {
      if (!isHalfDone && (!wasHit || answer?.status !== 503)) continue;
      world.now = Math.max(world.now + RETRY_AFTER_MS, world.upAt);
      const again = (await this.#send([request])) ?? this.compareDatabases();
      if (again !== null) return `tried again: ${again}`;
    }
    return null;
  }

  #expect(sent: Sent, now: number, commit: Commit): void {
    sent.expected ??= this.model.answer(sent.request, now, commit);
  }

  /** Judges the answer to a request of one batch, whose effect the model has if that batch committed. */
  #judge({ request, answer, expected, hits }: Sent, now: number): string | null {
    const hit = hits.find(({ wasAnswered }) => !wasAnswered);
    if (hits.length > 0 && expected !== null) this.model.forgetAfter(expected.after);
    if (hit?.fault.kind === 'killed') return null;
    if (answer === null) return 'no answer';
    const isUncertain =
      hit?.fault.kind === 'delayed' && (hit.fault.ms ?? 0) >= certainOf(request) && answer.status >= 500;
    if (hit === undefined || (['delayed', 'ahead'].includes(hit.fault.kind) && !isUncertain))
      return expected === null ? 'no answer was expected' : compare(this.model, expected, answer);
    if (answer.status === statusAfter(hit, request)) return null;
    const writesNothing = answer.status === 503 && (expected ?? this.#imagine(request, now)).code !== null;
    return writesNothing && hit.fault.kind !== 'broken' ? null : misleading(answer, hit);
  }

  /**
   * Judges the answer to a request of several batches. After a fault it was carried out, or not, or in part. Part of it may remain only if
   * sending it again completes it.
   */
  #judgeSeveral(sent: Sent, before: Model['state'], now: number): string | null {
    const { model } = this;
    const { request, answer, expected, hits } = sent;
    if (!hits.some(({ wasAnswered }) => !wasAnswered))
      return answer === null || expected === null ? 'no answer' : compare(model, expected, answer);
    const [hit] = hits as [Hit];
    const isAnswered = answer !== null && answer.status < 500;
    const bound = model.state.databases;
    // A new user is assigned a database that responds.
    const responding = bound.filter((number) => !hits.some(({ database }) => database === number));
    const possible = [bound, responding].map((databases) => () => {
      if (databases.length > 0) model.state.databases = databases;
      sent.expected = model.answer(request, now);
      model.state.databases = bound;
      return !isAnswered || compare(model, sent.expected, answer) === null;
    });
    const nothing = () => !isAnswered || (request.method === 'GET' && answer.status === 200);
    for (const happens of [nothing, ...possible]) {
      model.state = structuredClone(before);
      sent.expected = null;
      if (!happens() || this.compareDatabases() !== null) continue;
      const isDone = (sent as Sent).expected?.code === null && request.method !== 'GET';
      return isDone && answer?.status === 503 && outageStatus(request) === 500 ? misleading(answer, hit) : null;
    }
    model.state = before;
    if (isAnswered) return `unexpected after ${hit.fault.kind}: ${answer.status} ${answer.text}`;
    this.#adoptHomes();
    sent.isHalfDone = this.compareDatabases() !== null;
    return null;
  }

  /** A request that prepares the creation of something may have given its user a home, and claimed a token, and then failed. */
  #adoptHomes(): void {
    const { state } = this.model;
    const [first] = this.world.databases as [SimulatedD1, ...SimulatedD1[]];
    for (const { user_id, ...home } of first.rows('select * from homes'))
      state.homes[Number(user_id)] = home as (typeof state.homes)[number];
    for (const { hash, user_id } of first.rows('select * from imported_tokens')) {
      const token = TOKENS.find((text) => createHash('sha256').update(text).digest('hex') === hash);
      if (token !== undefined) state.claims[token] ??= { user_id: Number(user_id) };
    }
  }

  /** What the model would answer. */
  #imagine(request: Plain, now: number): Expected {
    const { state } = this.model;
    this.model.state = structuredClone(state);
    const expected = this.model.answer(request, now);
    this.model.state = state;
    return expected;
  }

  #rowsChanged(): number {
    return this.world.databases.reduce((sum, d1) => sum + Number(d1.rows('select total_changes() as n')[0]?.n), 0);
  }

  /** Compares every table with the model. Returns the first difference, or null. */
  compareDatabases(options = {}, now = this.world.now): string | null {
    return compareDatabase(this.model, this.world.databases, now, options);
  }

  #logged(): string {
    const errors = this.world.lines.flatMap((line) => ('error' in line ? [`${line.error}`] : []));
    return errors.join('\n').slice(0, 1000);
  }
}

/** Whether all that a request does is in one batch. Only an operator's requests for users, or for all businesses, need several. */
const isOneBatch = ({ method, path, headers, body }: Plain): boolean =>
  !headers.Authorization?.includes('bua_op_') ||
  (/\/business\/(usage\/)?\d/.test(path) && !(method === 'PATCH' && body?.includes('user_id')));

const isAdditionOfSites = ({ method, path }: Plain): boolean => method === 'POST' && path.endsWith('/access');

/** The status of a request whose only batch was hit. */
function statusAfter({ fault: { kind } }: Hit, request: Plain): number {
  if (kind === 'refused') return 503;
  return kind === 'broken' ? 500 : outageStatus(request);
}
/** Whether a run must report a failure. The last thing that it does is to store in the first database when it ended, which may fail. */
const failsRun = ({ fault, database }: Hit) => FAILS_RUN.includes(fault.kind) && (fault.at === 0 || database > 0);
const misleading = ({ status, text }: Answer, { fault }: Hit) =>
  `status ${status} tells the caller the wrong thing after ${fault.kind}: ${text}`;
