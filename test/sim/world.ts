// The simulated world: the real service in Node, with virtual time, random values from a seed, stand-ins for its databases, and faults. The
// world decides the order in which concurrent requests reach a database and learn its answers. Nothing is taken from the machine, so the
// same steps with the same seeds give the same answers.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { createApp } from '../../src/app.ts';
import { BINDINGS } from '../../src/core/database.ts';
import { type RunName, SCHEDULES } from '../../src/core/schedule.ts';
import type { Bindings } from '../../src/env.ts';
import { isShared } from '../../src/public-suffix.ts';
import { runScheduled } from '../../src/schedule.ts';
import { SimulatedD1 } from './d1.ts';
import { type Fault, failing } from './faults.ts';
import { Random } from './random.ts';

export const BASE = 'https://service.example';
/** The operator's keys, one for each role. */
export const OPERATOR = {
  full: `bua_op_${'f'.repeat(43)}`,
  record: `bua_op_${'r'.repeat(43)}`,
  read: `bua_op_${'e'.repeat(43)}`,
};

/** How the receiver of alerts answers, and after how many milliseconds. With the status 0, it cannot be reached. */
export type Receiver = { status: number; retryAfter: string | null; ms: number };
/** A message that reached the receiver, and its answer. */
type Delivery = { id: string; body: string; at: number } & Receiver;

export type Plain = { method: string; path: string; headers: Record<string, string>; body: string | null };
export type Answer = { status: number; headers: Headers; text: string };
/** A batch that commits, and the time by the clock of its database. `isLate`: after the deadline, by that clock. */
export type Commit = { clock: number; isLate: boolean };
/** Called for the request with this index: when a batch of its commits before its answer, and when it is answered. */
type Watch = {
  committed?: (index: number, commit: Commit) => void;
  answered?: (index: number, answer: Answer) => void;
};

/** A fault that hit a call of the request with this index. `wasAnswered`: the call was work after the response. */
export type Hit = { index: number; database: number; fault: Fault; wasAnswered: boolean };

/** A Worker's invocation: a request or a scheduled run, with the work after its response. */
type Invocation = {
  world: World;
  index: number;
  wasAnswered: boolean;
  /** Parts of the invocation that have not ended. */
  open: number;
  /** Parts that wait for the world: at a gate or for a timer. */
  waiting: number;
  hasEnded: boolean;
  committed: (commit: Commit) => void;
};
const current = new AsyncLocalStorage<Invocation>();

type Timer = { at: number; order: number; invocation: Invocation; fire: () => void };
type Gate = { invocation: Invocation; pass: () => void };

/**
 * More turns of the machine's alert loop than the service ever needs between two calls of a database. It waits for promises only, so a busy
 * machine needs no more turns than an idle one.
 */
const MAX_TURNS = 100;
await isShared('shop.example'); // loads the list of suffixes, for which the first request would wait in real time

const hexOf = (text: string) => createHash('sha256').update(text).digest('hex');
const MIGRATIONS = readdirSync('migrations')
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => readFileSync(`migrations/${name}`, 'utf8'));

export class World {
  /** Milliseconds since 1970. */
  now: number;
  /** Draws the order of alerts, and what the service takes for random values. */
  random: Random;
  readonly databases: SimulatedD1[];
  /** What the last step did: the lines that the service logged, and the faults that hit a call. */
  lines: object[] = [];
  hits: Hit[] = [];
  /** The messages of the last run. */
  deliveries: Delivery[] = [];
  receiver: Receiver = { status: 204, retryAfter: null, ms: 0 };
  readonly #bindings: Bindings;
  #app = this.#newWorker();
  #timers: Timer[] = [];
  #gates: Gate[] = [];
  #order = 0;
  #faults: Fault[] = [];
  #calls = 0;
  /** By how much the databases' clocks are ahead. */
  #ahead = 0;
  /** The databases that are down, with the time at which they are up again. */
  readonly #down = new Map<number, number>();

  /** With `stored`, the databases continue from what `store` returned. */
  constructor({
    seed,
    start,
    databases = 1,
    stored,
  }: { seed: number; start: number; databases?: number; stored?: Uint8Array[] }) {
    this.now = start;
    this.random = new Random(seed);
    this.databases = Array.from({ length: databases }, (_, number) => {
      const d1 = new SimulatedD1(
        () => this.now + this.#ahead,
        (run) => this.#call(number, run),
      );
      const content = stored?.[number];
      if (content !== undefined) d1.sqlite.deserialize(content);
      else for (const migration of MIGRATIONS) d1.sqlite.exec(migration);
      return d1;
    });
    this.#bindings = {
      ...Object.fromEntries(this.databases.map((d1, number) => [BINDINGS[number], d1])),
      OPERATOR_KEY_1: `full:${hexOf(OPERATOR.full)}`,
      OPERATOR_KEY_2: `record:${hexOf(OPERATOR.record)}`,
      OPERATOR_KEY_3: `read:${hexOf(OPERATOR.read)}`,
      ALERTS: { fetch: (_: string, init: RequestInit) => this.#receive(init) },
      ALERT_SECRET: `whsec_${'A'.repeat(32)}`,
    } as unknown as Bindings;
  }

  #newWorker() {
    const log = (line: object) => this.lines.push(line);
    return createApp(() => new Date(this.now), { log, error: log });
  }

  /** The content of the databases. */
  store(): Uint8Array[] {
    return this.databases.map(({ sqlite }) => sqlite.serialize());
  }

  /** Hits a call of the next step. */
  inject(fault: Fault): void {
    this.#faults.push(fault);
  }
  /** Takes a database down for a while: its calls do not run. */
  takeDown(database: number, ms: number): void {
    this.#down.set(database, this.now + ms);
  }
  /** Whether a fault may hit the next step. */
  get mayFail(): boolean {
    return this.#faults.length > 0 || this.upAt > this.now;
  }
  /** The time from which all databases are up. */
  get upAt(): number {
    return Math.max(0, ...this.#down.values());
  }
  /** From now on, no fault occurs. */
  heal(): void {
    this.#faults = [];
    this.#down.clear();
  }

  /** Sends requests at the same time, and runs until all of them, and the work after their responses, have ended. Null is no answer. */
  async send(requests: readonly Plain[], { committed, answered }: Watch = {}): Promise<(Answer | null)[]> {
    const answers = requests.map((): Answer | null => null);
    await this.#step(
      requests.map((request, index) => ({
        committed: (commit) => committed?.(index, commit),
        work: async (invocation) => {
          const answer = await this.#fetch(request, invocation);
          if (invocation.hasEnded) return;
          invocation.wasAnswered = true;
          answers[index] = answer;
          answered?.(index, answer);
          const fault = this.#faults.find(({ kind }) => kind === 'ends');
          if (fault === undefined) return;
          this.hits.push({ index, database: 0, fault, wasAnswered: true });
          end(invocation);
        },
      })),
    );
    return answers;
  }

  /** Starts a scheduled run that was due at `scheduledTime`, or several at once. Returns whether all succeeded. */
  async run(name: RunName, { scheduledTime = this.now, times = 1 } = {}): Promise<boolean> {
    let succeeded = 0;
    const log = { log: (line: object) => this.lines.push(line), error: (line: object) => this.lines.push(line) };
    const work = () =>
      runScheduled({ cron: SCHEDULES[name], scheduledTime }, this.#bindings, () => new Date(this.now), log).then(
        () => {
          succeeded += 1;
        },
        () => {},
      );
    await this.#step(Array.from({ length: times }, () => ({ committed() {}, work })));
    return succeeded === times;
  }

  async #receive({ headers, body }: RequestInit): Promise<Response> {
    const { status, retryAfter, ms } = this.receiver;
    await this.#gate();
    const id = `${new Headers(headers).get('webhook-id')}`;
    this.deliveries.push({ id, body: `${body}`, at: this.now, status, retryAfter, ms });
    if (ms > 0) await this.sleep(ms);
    if (status === 0) throw new TypeError('connection refused');
    return new Response(null, { status, headers: retryAfter === null ? {} : { 'Retry-After': retryAfter } });
  }

  async #fetch({ method, path, headers, body }: Plain, invocation: Invocation): Promise<Answer> {
    const context = {
      waitUntil: (promise: Promise<unknown>) => void part(invocation, () => promise),
      passThroughOnException() {},
      props: {},
    };
    const response = await this.#app.fetch(
      new Request(BASE + path, { method, headers, body }),
      this.#bindings,
      context,
    );
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  async #step(
    all: { committed: (commit: Commit) => void; work: (invocation: Invocation) => Promise<void> }[],
  ): Promise<void> {
    this.lines = [];
    this.hits = [];
    this.deliveries = [];
    this.#calls = 0;
    const invocations = all.map(({ committed, work }, index) => {
      const invocation = { world: this, index, wasAnswered: false, open: 0, waiting: 0, hasEnded: false, committed };
      current.run(invocation, () => part(invocation, () => work(invocation)));
      return invocation;
    });
    while (true) {
      for (let turn = 0; turn === 0 || invocations.some(isBusy); turn++) {
        if (turn > MAX_TURNS) throw new Error('the service waits for something that is not simulated');
        await setImmediate();
      }
      if (!invocations.some(isOpen)) break;
      this.#next();
    }
    // What a Worker has in memory when it ends is lost (docs/api.md, of refused uses), so the next request reaches a new one.
    if (invocations.some(({ hasEnded }) => hasEnded)) this.#app = this.#newWorker();
    this.#timers = [];
    this.#gates = [];
    this.#faults = [];
  }

  /** Lets one gate pass or, if none is left, moves time to the next timer. */
  #next(): void {
    this.#gates = this.#gates.filter(({ invocation }) => isOpen(invocation));
    const gate = this.#gates[this.random.int(this.#gates.length)];
    if (gate !== undefined) {
      this.#gates.splice(this.#gates.indexOf(gate), 1);
      gate.pass();
      return;
    }
    this.#timers = this.#timers.filter(({ invocation }) => isOpen(invocation));
    const [timer] = this.#timers.sort((a, b) => a.at - b.at || a.order - b.order);
    if (timer === undefined) throw new Error('a request waits for something that never happens');
    this.#timers.shift();
    this.now = Math.max(this.now, timer.at);
    timer.fire();
  }

  /** Adds a timer for the current invocation. Returns a function that removes it. */
  addTimer(ms: number, callback: () => void): () => void {
    const invocation = here();
    invocation.waiting += 1;
    const fire = () => {
      invocation.waiting -= 1;
      callback();
    };
    const timer = { at: this.now + ms, order: this.#order++, invocation, fire };
    this.#timers.push(timer);
    return () => {
      if (!this.#timers.includes(timer)) return;
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      invocation.waiting -= 1;
    };
  }
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.addTimer(ms, resolve));
  }

  #gate(): Promise<void> {
    const invocation = here();
    invocation.waiting += 1;
    return new Promise((resolve) => {
      const pass = () => {
        invocation.waiting -= 1;
        resolve();
      };
      this.#gates.push({ invocation, pass });
    });
  }

  /** Runs a call of a database, at a time that the world chooses and with the fault that hits it. */
  async #call<T>(database: number, run: () => T): Promise<T> {
    const invocation = here();
    const number = this.#calls++;
    const fault =
      (this.#down.get(database) ?? 0) > this.now
        ? ({ kind: 'refused', at: number } as const)
        : this.#faults.find(
            ({ kind, at, database: only = database }) => kind !== 'ends' && at === number && only === database,
          );
    const runs = () => {
      const result = run();
      if (!invocation.wasAnswered && fault?.kind !== 'late')
        invocation.committed({ clock: this.now + this.#ahead, isLate: fault?.kind === 'ahead' });
      return result;
    };
    await this.#gate();
    if (fault !== undefined) {
      const { index, wasAnswered } = invocation;
      this.hits.push({ index, database, fault, wasAnswered });
    }
    const result =
      fault === undefined
        ? runs()
        : await failing(fault, runs, {
            sleep: (ms) => part(invocation, () => this.sleep(ms)),
            setAhead: (ms) => {
              this.#ahead = ms;
            },
            kill: () => end(invocation),
          });
    await this.#gate();
    return result;
  }
}

const isOpen = ({ open, hasEnded }: Invocation) => open > 0 && !hasEnded;
const isBusy = (invocation: Invocation) => isOpen(invocation) && invocation.waiting === 0;
function here(): Invocation {
  const invocation = current.getStore();
  if (invocation === undefined) throw new Error('the service works outside of an invocation');
  return invocation;
}
function end(invocation: Invocation): void {
  invocation.hasEnded = true;
}
async function part<T>(invocation: Invocation, work: () => Promise<T>): Promise<T> {
  invocation.open += 1;
  try {
    return await work();
  } finally {
    invocation.open -= 1;
  }
}

// Replaces what the service takes from the machine, for its own code only.
const machine = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, crypto: globalThis.crypto };

Object.assign(globalThis, {
  setTimeout(callback: () => void, ms = 0, ...rest: unknown[]) {
    const world = current.getStore()?.world;
    return world === undefined ? machine.setTimeout(callback, ms, ...rest) : { remove: world.addTimer(ms, callback) };
  },
  clearTimeout(timer: { remove?: () => void } | undefined) {
    if (timer?.remove === undefined) machine.clearTimeout(timer as never);
    else timer.remove();
  },
  scheduler: { wait: (ms: number) => here().world.sleep(ms) },
});
Object.defineProperty(globalThis, 'crypto', {
  value: {
    getRandomValues(array: Uint8Array<ArrayBuffer>) {
      const world = current.getStore()?.world;
      if (world === undefined) return machine.crypto.getRandomValues(array);
      array.set(world.random.bytes(array.length));
      return array;
    },
    randomUUID() {
      const world = current.getStore()?.world;
      if (world === undefined) return machine.crypto.randomUUID();
      const hex = Buffer.from(world.random.bytes(16)).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
    subtle: {
      // These complete at once. The real ones complete in any order.
      importKey: async (_: string, key: Uint8Array) => key,
      sign: async (_: unknown, key: Uint8Array, data: Uint8Array) =>
        Uint8Array.from(createHmac('sha256', key).update(data).digest()).buffer,
    },
  },
});
