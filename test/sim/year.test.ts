// A rehearsed year of three customers whose plans change (docs/product.md, "Plans"). Each night, the real program writes the invoices. A second
// program computes them here from the uses that were sent and the history of the plans, without asking the service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { newFolder } from '../node/state.ts';
import { Random } from './random.ts';
import { OPERATOR, World } from './world.ts';

type Limits = { daily_limit: number | null; monthly_limit: number | null; overage: number | null };
/** What happens on a day: the limits change, at once or from a day on, or something else about the plan does. */
type Alert = { on: string } & (
  | { limits: Partial<Limits>; from?: string; billing_day?: number }
  | { cancels: true }
  | { billing_day: number }
  | { extra: number; month: 'this' | 'next' }
  | { closes: true }
);
type Story = { signsUp: string; billing_day: number; starts: Limits; most: number; alerts: Alert[] };
type Use = { sent: string; day: string; quantity: number };

const [FIRST, LAST] = ['2026-01-05', '2027-02-10'];
const STORIES: Story[] = [
  {
    // A trial until the end of January, an upgrade in the middle of March, a pack in April, a downgrade at the end of May, another billing
    // day with a larger plan in July, and a cancellation in November.
    ...{ signsUp: '2026-01-10', billing_day: 1, most: 90 },
    starts: { daily_limit: 40, monthly_limit: 300, overage: 0 },
    alerts: [
      { on: '2026-01-10', limits: { daily_limit: null, monthly_limit: 1000, overage: null }, from: '2026-02-01' },
      { on: '2026-03-17', limits: { monthly_limit: 1500 } },
      { on: '2026-04-20', extra: 500, month: 'this' },
      { on: '2026-05-12', limits: { monthly_limit: 600 }, from: '2026-06-01' },
      { on: '2026-05-20', limits: { overage: 9000 } },
      { on: '2026-07-03', limits: { monthly_limit: 1200 }, from: '2026-08-01', billing_day: 15 },
      { on: '2026-11-20', closes: true },
    ],
  },
  {
    // A free plan that stops, a change that is cancelled, one in the middle of a month, and packs of which one is taken back.
    ...{ signsUp: '2026-02-03', billing_day: 10, most: 60 },
    starts: { daily_limit: null, monthly_limit: 400, overage: 0 },
    alerts: [
      { on: '2026-03-01', limits: { monthly_limit: 100 }, from: '2026-03-10' },
      { on: '2026-03-05', cancels: true },
      { on: '2026-05-02', limits: { monthly_limit: 700, daily_limit: 50 }, from: '2026-05-25' },
      { on: '2026-06-11', extra: 300, month: 'this' },
      { on: '2026-06-30', extra: -120, month: 'this' },
      { on: '2026-08-20', extra: 200, month: 'next' },
      { on: '2026-09-15', limits: { monthly_limit: 250 } },
      { on: '2026-09-16', limits: { monthly_limit: 260 } },
    ],
  },
  {
    // No limit until June. The invoices include 1,000 without one.
    ...{ signsUp: '2026-01-20', billing_day: 28, most: 150 },
    starts: { daily_limit: null, monthly_limit: null, overage: 0 },
    alerts: [
      { on: '2026-06-01', limits: { monthly_limit: 500, overage: null }, from: '2026-06-28' },
      { on: '2026-10-05', limits: { monthly_limit: null } },
      { on: '2026-12-05', billing_day: 5 },
    ],
  },
];

const addDays = (day: string, days: number) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const days: string[] = [];
for (let day = FIRST; day <= LAST; day = addDays(day, 1)) days.push(day);

/** The second program: it knows the documents, the stories and what was sent. */
class Ledger {
  readonly #story: Story;
  /** What holds from a day on, in order. The last may be pending. */
  #plan: { from: string; limits: Limits }[];
  readonly #extras = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  #isClosed = false;
  readonly months: { starts_on: string; ends_on: string }[] = [];
  constructor(story: Story) {
    this.#story = story;
    this.#plan = [{ from: '', limits: story.starts }];
    const isFirst = (day: string, of: number) => Number(day.slice(8)) === of;
    let start = story.signsUp;
    while (!isFirst(start, story.billing_day)) start = addDays(start, -1);
    while (start <= LAST) {
      // A month that has begun keeps its end, and a month after it has at least 28 days.
      const changed = story.alerts.findLast((alert) => 'billing_day' in alert && alert.on < start);
      const billingDay = (changed as { billing_day: number } | undefined)?.billing_day ?? story.billing_day;
      let next = addDays(start, 28);
      while (!isFirst(next, billingDay)) next = addDays(next, 1);
      this.months.push({ starts_on: start, ends_on: addDays(next, -1) });
      start = next;
    }
  }

  #on(day: string): Limits {
    return (this.#plan.findLast(({ from }) => from <= day) ?? this.#plan[0])?.limits as Limits;
  }
  #monthOf(day: string) {
    return this.months.find(({ starts_on, ends_on }) => starts_on <= day && day <= ends_on) as (typeof this.months)[0];
  }
  #countIn(from: string, to: string): number {
    return [...this.#counts].reduce((sum, [day, count]) => (from <= day && day <= to ? sum + count : sum), 0);
  }

  happens(alert: Alert): void {
    const { on } = alert;
    if ('cancels' in alert) this.#plan = this.#plan.filter(({ from }) => from <= on);
    else if ('closes' in alert) this.#isClosed = true;
    else if ('extra' in alert) {
      const { starts_on, ends_on } = this.#monthOf(on);
      const month = alert.month === 'this' ? starts_on : addDays(ends_on, 1);
      this.#extras.set(month, (this.#extras.get(month) ?? 0) + alert.extra);
    } else if ('limits' in alert) {
      const held = this.#on(on);
      const from = alert.from ?? on;
      const pending = this.#plan.find((one) => one.from > on);
      if (pending !== undefined && from === on)
        for (const name of Object.keys(alert.limits) as (keyof Limits)[])
          if (pending.limits[name] === held[name]) pending.limits = { ...pending.limits, [name]: alert.limits[name] };
      this.#plan = [...this.#plan, { from, limits: { ...held, ...alert.limits } }];
      this.#plan.sort((a, b) => (a.from < b.from ? -1 : 1));
    }
  }

  /** Tests whether a use counts, and counts it. */
  counts({ sent, day, quantity }: Use): boolean {
    const month = this.#monthOf(day);
    const ofMonth = this.#on(sent < month.ends_on ? sent : month.ends_on);
    const ofDay = this.#on(day);
    const fits = (limit: number | null, overage: number | null, count: number) =>
      limit === null || overage === null || count + quantity <= limit + overage;
    const total =
      ofMonth.monthly_limit === null ? null : ofMonth.monthly_limit + (this.#extras.get(month.starts_on) ?? 0);
    const isCounted =
      !this.#isClosed &&
      fits(total, ofMonth.overage, this.#countIn(month.starts_on, month.ends_on)) &&
      fits(ofDay.daily_limit, ofDay.overage, this.#countIn(day, day));
    if (isCounted) this.#counts.set(day, (this.#counts.get(day) ?? 0) + quantity);
    return isCounted;
  }

  /** What the month that ended on `day` includes and has used, if the customer had signed up. */
  ended(day: string) {
    const month = this.months.find(({ ends_on }) => ends_on === day && ends_on >= this.#story.signsUp);
    if (month === undefined) return undefined;
    const included = (this.#on(day).monthly_limit ?? 1000) + (this.#extras.get(month.starts_on) ?? 0);
    return { ...month, included, count: this.#countIn(month.starts_on, day) };
  }
}

const at = (day: string, time: string) => Date.parse(`${day}T${time}Z`);
const world = new World({ seed: 1, start: at(FIRST, '00:00:00') });
async function call(method: string, path: string, key: string, body: object, id?: string) {
  const headers = { Authorization: `Bearer ${key}`, ...(id !== undefined && { 'Idempotency-Key': id }) };
  const [answer] = await world.send([{ method, path: `/api/v1${path}`, headers, body: JSON.stringify(body) }]);
  return { status: answer?.status, data: JSON.parse(answer?.text ?? '{}').data };
}

const front = createServer(async ({ method = '', url = '', headers }, response) => {
  const sent = { Authorization: `${headers.authorization}` };
  const [answer] = await world.send([{ method, path: url, headers: sent, body: null }]);
  response.writeHead(answer?.status ?? 503).end(answer?.text);
});
await once(front.listen(0, '127.0.0.1'), 'listening');
const folder = newFolder();
/** One process runs the program each night, because starting one takes as long as a night. */
const program = spawn(
  process.execPath,
  [
    ...['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval'],
    `import { createInterface } from 'node:readline';
    for await (const day of createInterface({ input: process.stdin })) {
      process.argv[2] = day;
      await import(process.env.PROGRAM + '?' + day);
      console.log(day);
    }`,
  ],
  {
    env: {
      API: `http://127.0.0.1:${(front.address() as AddressInfo).port}/api/v1`,
      READ_KEY: OPERATOR.read,
      DATABASE: join(folder, 'product.db'),
      PROGRAM: `file://${resolve('docs/examples/invoices.mjs')}`,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  },
);
const nights = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
afterAll(() => {
  program.kill();
  front.close().closeAllConnections();
});

test('each night’s invoices of a year add up to what a second program computes', {
  tags: 'slow',
  timeout: 300_000,
}, async () => {
  const random = new Random(70);
  const customers = STORIES.map((story, index) => ({
    story,
    user_id: index + 1,
    ledger: new Ledger(story),
    id: 0,
    key: '',
  }));
  const expected: object[] = [];
  const refused = customers.map(() => 0);
  for (const today of days) {
    world.now = at(today, '00:05:00');
    for (const run of ['alerts', 'purge'] as const) expect(await world.run(run)).toBe(true);
    if (today > FIRST) {
      program.stdin.write(`${today}\n`);
      expect(await nights.next()).toEqual({ done: false, value: today });
    }
    for (const { ledger, id, user_id } of customers) {
      const row = (kind: string, { included, ...month }: NonNullable<ReturnType<Ledger['ended']>>, before = 0) => {
        const units = Math.max(month.count - included, 0) - Math.max(before - included, 0);
        expected.push({ business_id: id, user_id, kind, ...month, count: month.count - before, included, units });
      };
      const ended = ledger.ended(addDays(today, -1));
      if (ended !== undefined) row('month', ended);
      const final = ledger.ended(addDays(today, -41));
      const billed = expected.find(
        (one) =>
          'starts_on' in one && one.starts_on === final?.starts_on && 'business_id' in one && one.business_id === id,
      ) as { count: number } | undefined;
      if (final !== undefined && billed !== undefined && final.count !== billed.count) row('late', final, billed.count);
    }
    for (const [index, customer] of customers.entries()) {
      const { story, ledger, user_id } = customer;
      if (today < story.signsUp) continue;
      world.now = at(today, '08:00:00');
      if (today === story.signsUp) {
        const acme = { name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example', country_id: 1 };
        const body = { user_id, ...acme, business_size: 'small', ...story.starts, billing_day: story.billing_day };
        customer.id = (await call('POST', '/business', OPERATOR.full, body)).data.id;
        customer.key = (await call('POST', `/user/${user_id}/keys`, OPERATOR.full, { name: 'server' })).data.api_key;
      }
      const path = `/business/${customer.id}`;
      for (const [number, alert] of story.alerts.entries()) {
        if (alert.on !== today) continue;
        ledger.happens(alert);
        const { on, ...change } = alert;
        const body =
          'limits' in change
            ? { ...change.limits, ...(change.billing_day && { billing_day: change.billing_day }) }
            : 'cancels' in change
              ? { limits_from: null }
              : 'closes' in change
                ? { status: 'closed' }
                : change;
        const from = 'from' in alert && ('billing_day' in alert ? 'next_month' : alert.from);
        const sent =
          'extra' in alert
            ? call('POST', `${path}/extra`, OPERATOR.full, { uses: alert.extra, month: alert.month }, `${number}`)
            : call('PATCH', path, OPERATOR.full, { ...body, ...(from && { limits_from: from }) });
        expect({ alert, status: (await sent).status }).toEqual({ alert, status: 200 });
      }
      for (let turn = 0; turn < 2; turn++) {
        world.now = at(today, `1${turn}:00:00`);
        const late = addDays(today, random.int(4) === 0 ? -random.int(35) : 0);
        const day = late < story.signsUp ? today : late;
        const use = { sent: today, day, quantity: 1 + random.int(story.most) };
        const { quantity } = use;
        const body = { quantity, ...(day !== today && { at: `${day}T12:00:00Z` }) };
        const { status } = await call('POST', `/business/usage/${customer.id}`, customer.key, body, `${today}-${turn}`);
        expect({ use, isCounted: status === 200 }).toEqual({ use, isCounted: ledger.counts(use) });
        if (status !== 200) refused[index] = (refused[index] ?? 0) + 1;
      }
    }
  }
  for (const count of refused.slice(0, 2)) expect(count).toBeGreaterThan(20);
  const order = 'order by business_id, starts_on, kind desc';
  const columns = 'business_id, user_id, kind, starts_on, ends_on, count, included, units';
  const written = new DatabaseSync(join(folder, 'product.db'))
    .prepare(`select ${columns} from invoices ${order}`)
    .all();
  const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
  expect(sorted(written)).toEqual(sorted(expected));
  expect(written.length).toBeGreaterThan(40);
  expect(written.filter(({ kind }) => kind === 'late').length).toBeGreaterThan(10);
});
