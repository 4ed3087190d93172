// Checks in workerd that a request without a valid credential costs at most twice the CPU time of the most expensive valid body. The search
// prints its seed. FUZZ_SEED repeats a search, but not exactly, because measurements also determine which requests it tries. FUZZ_SECONDS
// extends it.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf } from '../bench/bundle.ts';
import { BUSINESS, dayAgo, fill } from '../bench/data.ts';
import { median } from '../bench/load.ts';
import { open, type Stage } from '../bench/stage.ts';
import { kindOf, mutate, newRecipe, type Recipe, requestOf, type Sent } from './requests.ts';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 30);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const MAX_RATIO = 2;
const ROUNDS = 9;

const post = (path: string, body: unknown, key = `bua_sk_0${'0'.repeat(33)}`): Sent => {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return { method: 'POST', path, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
};
const usage = (body: unknown, key?: string) => post(`/api/v1/business/usage/${BUSINESS.id}`, body, key);
const access = (body: unknown, key?: string) => post(`/api/v1/business/${BUSINESS.id}/access`, body, key);

const uses = (idLength: number, digits: number) => ({
  uses: Array.from({ length: 1000 }, (_, index) => ({
    id: `${index}`.padStart(idLength, 'x'),
    at: `${dayAgo(1)}T12:00:00.${'1'.repeat(digits)}Z`,
  })),
});
const sites = (rest: (index: number) => string) => ({
  sites: Array.from({ length: 100 }, (_, index) => `https://${rest(index)}`),
});
const letters = (first: number, length: number) =>
  String.fromCharCode(...Array.from({ length }, (_, index) => first + index));

/** Valid bodies. They are sent repeatedly, so only the first request writes to the database. */
const VALID = {
  'uses with long ids and timestamps': uses(255, 43),
  'uses with long ids': uses(255, 1),
  'short uses': uses(3, 1),
  'long sites': sites((i) => `${'a.'.repeat(124)}a${100 + i}`),
  'sites with CJK labels': sites((i) =>
    [0, 1, 2, 3].map((label) => letters(0x4e00 + 200 * i + 15 * label, 15)).join('.'),
  ),
  'sites with accents': sites((i) => `${i}${'e\u0301'.repeat(40)}.${'o\u0302\u0301'.repeat(30)}.com`),
  wildcards: sites((i) => `*.a${i}.b.example.com`),
  'sites with long paths': sites((i) => `a${i}.example/`.padEnd(2040, 'é')),
};

const marks = Array.from('\u0345\u035d\u035c\u0315\u0300\u0316\u0321\u0334', (mark) => mark.repeat(253)).join('');
const members = Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`m${index}`, 1]));
const numbers = `[${Array(524_000).fill(1)}]`;
/** Requests that used to be too expensive. */
const KNOWN: Record<string, Sent> = {
  'sites with runs of combining marks': access(sites(() => `a${marks}`)),
  'sites with many CJK letters': access(sites(() => letters(0x4e00, 2030))),
  'CJK sites just short enough to be parsed': access(sites(() => letters(0x4e00, 1000))),
  'sites with runs of 29 marks': access(sites(() => `e${'\u0301'.repeat(29)}`.repeat(33))),
  'sites with many Hangul syllables': access(sites((i) => letters(0xac00 + i, 2030))),
  'sites with spaces between letters': access({ sites: Array(100).fill(`x${' '.repeat(10_000)}x`) }),
  'spaces and a letter sent to usage': usage(`${' '.repeat(1_000_000)}x`),
  'open brackets sent to usage': usage('['.repeat(1_000_000)),
  'open brackets sent to access': access('['.repeat(1_000_000)),
  "nested lists as a use's id": usage(`{"uses":[{"id":${'['.repeat(500_000)}${']'.repeat(500_000)}}]}`),
  'nested lists as sites': access(`{"sites":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
  'many members sent to usage': usage(members),
  'many members sent to access': access(members),
  'many numbers sent to usage': usage(numbers),
  'many numbers sent to access': access(numbers),
  'many numbers as sites': access(`{"sites":${numbers}}`),
  'many empty strings as uses': usage(`{"uses":[${Array(349_000).fill('""')}]}`),
};

let stage: Stage;
let pid: string;
let baseline = { name: '', ms: 0, sent: {} as Sent };

beforeAll(async () => {
  if (process.platform !== 'linux') throw new Error('test:cost runs on Linux only: it reads CPU time from /proc');
  const code = { text: codeOf() };
  const ANSWER = { status: 200, headers: {}, body: '{}' };
  stage = await open([
    { name: 'service', code, database: 'stage', services: { ASSETS: 'assets' } },
    { name: 'assets', code: { file: 'constant.js' }, bindings: { ANSWER } },
  ]);
  const size = { businesses: 1, days: 31, sites: 0, uses: 0 };
  await fill(await stage.database('stage'), size);
  pid = childNamed('workerd');
  const valid = Object.entries(VALID).map(([name, body]) => {
    return { name, sent: ('uses' in body ? usage : access)(body, BUSINESS.key), costs: [] as number[] };
  });
  for (const { name, sent } of valid) expect(await send(sent), name).toBe(200);
  for (let round = -ROUNDS; round < ROUNDS; round++) {
    for (const { sent, costs } of valid) costs[Math.max(0, round)] = await validCostOf(sent); // rounds before 0 warm up V8
  }
  for (const { name, sent, costs } of valid) {
    if (median(costs) > baseline.ms) baseline = { name, ms: median(costs), sent };
  }
});
afterAll(() => stage?.[Symbol.asyncDispose]());

function childNamed(name: string): string {
  const children = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' '),
  );
  const named = children.filter((child) => child && readFileSync(`/proc/${child}/comm`, 'utf8').trim() === name);
  if (named[0] === undefined || named.length > 1) throw new Error(`${named.length} children are named ${name}`);
  return named[0];
}

/** The CPU time of all threads of workerd. Throws if workerd has exited. */
function cpuMs(): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`);
  return threads.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6, 0);
}

/** The status, or 0 if workerd rejects the request. */
const send = ({ path, ...request }: Sent) =>
  fetch(stage.url('service') + path, request).then(
    (answer) => answer.arrayBuffer().then(() => answer.status),
    () => 0,
  );

/** The CPU milliseconds of a request, including garbage collection and logging after the response. */
async function costOf(sent: Sent, expected?: number): Promise<number> {
  const before = cpuMs();
  const status = await send(sent);
  if (expected !== undefined) expect(status).toBe(expected);
  let last = before;
  let now = cpuMs();
  for (let waits = 0; now > last && waits < 50; waits++) {
    await sleep(1);
    [last, now] = [now, cpuMs()];
  }
  return now - before;
}

/** What a valid request costs while its owner's allowance lasts: a refusal would be cheap. */
async function validCostOf(sent: Sent): Promise<number> {
  await (await stage.database('stage')).exec('DELETE FROM work');
  return costOf(sent, 200);
}

/** The cost relative to the baseline. The two requests alternate, so that load and garbage collection affect both equally. */
async function ratioOf(sent: Sent): Promise<number> {
  const own: number[] = [];
  const valid: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    valid.push(await validCostOf(baseline.sent));
    own.push(await costOf(sent));
  }
  return median(own) / median(valid);
}

/** A linear congruential generator (Numerical Recipes). */
function randomOf(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each(Object.entries(KNOWN))(
  'an unauthenticated request costs at most twice the CPU time of the most expensive valid body: %s',
  { timeout: 60_000 },
  async (name, sent) => {
    const ratio = await ratioOf(sent);
    console.log(`${ratio.toFixed(2)} × ${baseline.name}: ${name}`);
    expect(ratio).toBeLessThanOrEqual(MAX_RATIO);
  },
);

test('a random search finds no unauthenticated request that costs over twice the CPU time of the most expensive valid body', {
  timeout: (SECONDS + 120) * 1000,
}, async () => {
  console.log(`FUZZ_SEED=${SEED}`);
  const random = randomOf(SEED);
  const kept = new Map<string, { recipe: Recipe; ms: number }>();
  const faults: { ratio: number; recipe: Recipe }[] = [];
  const end = performance.now() + SECONDS * 1000;
  let tried = 0;
  for (; performance.now() < end && faults.length < 3; tried++) {
    const sample = [...kept.values()].sort(() => random() - 0.5).slice(0, 4);
    const [parent, other = parent] = sample.sort((a, b) => b.ms - a.ms);
    const recipe = parent && other && random() < 0.7 ? mutate(parent.recipe, other.recipe, random) : newRecipe(random);
    const sent = requestOf(recipe);
    const dearest = kept.get(kindOf(recipe))?.ms ?? 0;
    let ms = await costOf(sent);
    if (ms > dearest) ms = Math.min(ms, await costOf(sent));
    if (ms <= dearest) continue;
    kept.set(kindOf(recipe), { recipe, ms });
    if (ms <= MAX_RATIO * Math.min(baseline.ms, await validCostOf(baseline.sent))) continue;
    const ratio = await ratioOf(sent);
    if (ratio > MAX_RATIO) faults.push({ ratio, recipe });
  }
  const [most] = [...kept.values()].sort((a, b) => b.ms - a.ms);
  console.log(
    `${tried} requests of ${kept.size} kinds; the baseline, ${baseline.name}, ${baseline.ms.toFixed(1)} ms;`,
    `the most expensive: ${most?.ms.toFixed(1)} ms: ${JSON.stringify(most?.recipe)}`,
  );
  expect(tried).toBeGreaterThan(0);
  expect(faults).toEqual([]);
});
