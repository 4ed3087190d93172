// Honest loads at their true rates, with the rate limits of wrangler.toml: a console and an export of an owner with 5,000 businesses, while
// operators record 5 million uses a day in lists, and the owner a million. Throws if one is refused.
import { createHash } from 'node:crypto';
import { BUSINESS, fill } from './data.ts';
import { table } from './duel.ts';
import { open } from './stage.ts';

const OPERATOR = `bua_op_${'0'.repeat(43)}`;
const OPERATOR_KEY_1 = `full:${createHash('sha256').update(OPERATOR).digest('hex')}`;
const BUSINESSES = 5000;
const PER_PAGE = 50;
const DAY_SECONDS = 86_400;
/** A page of a console takes at least this long to arrive. */
const ROUND_TRIP_MS = 30;
/** What a person needs to look at a view. */
const LOOK_MS = 1000;
const [VIEWS, EXPORTED_PAGES] = [10, 20];
/** An export sends at most so many requests a second. */
const EXPORT_RATE = 100;

let last = 0;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function honest(code: string, progress: (text: string) => void): Promise<string> {
  const bindings = { OPERATOR_KEY_1 };
  await using stage = await open([
    { name: 'service', code: { text: code }, database: 'stage', bindings, isLimited: true },
  ]);
  const db = await stage.database('stage');
  await fill(db, { businesses: BUSINESSES, days: 30, sites: 2, uses: 100_000 });
  await db.prepare('update businesses set user_id = 1').run();
  const url = stage.url('service');
  const sent = new Map<string, number>();

  async function send(name: string, key: string, path: string, body?: object) {
    const method = body === undefined ? 'GET' : 'POST';
    const headers = { Authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: body ? JSON.stringify(body) : null });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${name}: ${method} ${path}: status ${answer.status}: ${text}`);
    sent.set(name, (sent.get(name) ?? 0) + 1);
    return JSON.parse(text).data;
  }
  const page = async (name: string, after: number): Promise<number[]> =>
    (await send(name, BUSINESS.key, `/business?limit=${PER_PAGE}${after > 0 ? `&after=${after}` : ''}`)).businesses.map(
      ({ id }: { id: number }) => id,
    );

  async function browse(): Promise<void> {
    for (let after = 0, got = PER_PAGE; got === PER_PAGE; ) {
      const [ids] = await Promise.all([page('console: pages of businesses', after), pause(ROUND_TRIP_MS)]);
      got = ids.length;
      after = ids.at(-1) ?? after;
    }
    for (let id = 1; id <= VIEWS; id++) {
      const views = ['', '/access', '/access/refused', '/alerts?limit=100', '/changes?limit=20'];
      await Promise.all(views.map((view) => send('console: views', BUSINESS.key, `/business/${id}${view}`)));
      await pause(LOOK_MS);
    }
  }
  async function exportAll(): Promise<void> {
    let after = 0;
    for (let pages = 0; pages < EXPORTED_PAGES; pages++) {
      const ids = await page('export: pages of businesses', after);
      for (const id of ids) {
        const report = send('export: reports', BUSINESS.key, `/business/usage/${id}`);
        await Promise.all([report, pause(1000 / EXPORT_RATE)]);
      }
      after = ids.at(-1) ?? after;
    }
  }
  let isOver = false;
  /** Sends a second's uses of the day as a list each second, after a list of 1,000. */
  async function record(name: string, key: string, perDay: number): Promise<void> {
    const list = (count: number) => ({ uses: Array.from({ length: count }, () => ({ id: `h${++last}` })) });
    await send(name, key, `/business/usage/${BUSINESS.id}`, list(1000));
    while (!isOver) {
      const perSecond = Math.ceil(perDay / DAY_SECONDS);
      await Promise.all([send(name, key, `/business/usage/${BUSINESS.id}`, list(perSecond)), pause(1000)]);
    }
  }

  const began = performance.now();
  async function use(): Promise<void> {
    progress('a console');
    await browse();
    progress('an export');
    await exportAll();
  }
  await Promise.all([
    record('operator: lists, 5 million uses a day', OPERATOR, 5_000_000),
    record('owner: lists, 1 million uses a day', BUSINESS.key, 1_000_000),
    use().finally(() => {
      isOver = true;
    }),
  ]);
  const seconds = Math.round((performance.now() - began) / 1000);
  return table(
    [`in ${seconds} seconds`, 'permitted', 'refused'],
    [...sent].map(([name, count]) => [name, `${count}`, '0']),
  );
}
