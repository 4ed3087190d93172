// What one owner's calls do to another owner's: the time of a use alone, and beside the attacks. The Workers run without rate limits, which
// only make it better.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Order, Taken } from './attacker.ts';
import { ATTACKS, type Attack, crowd } from './attacks.ts';
import { recordOf } from './data.ts';
import { table } from './duel.ts';
import { median, quantile, send } from './load.ts';
import { open } from './stage.ts';

/** Uses are measured alone before and after the attack. In its second half, the allowance is used up. */
const [ALONE_MS, BESIDE_MS] = [1000, 8000];
/** Between two uses. A use is sent on time, even if others still wait, or slow moments would count less. */
const INTERVAL_MS = 20;

const USE = recordOf({ Authorization: `Bearer bua_pk_0${'2'.padStart(33, '0')}`, Origin: 'https://s1.example' }, 2);

/** The times of another owner's uses, and of their waits for the database, in milliseconds. */
type Times = { whole: number[]; database: number[] };
const noTimes = (): Times => ({ whole: [], database: [] });

/** Sends uses for some time, and adds their times. */
async function usesFor(ms: number, url: string, { whole, database }: Times): Promise<void> {
  const began = performance.now();
  await Promise.all(
    Array.from({ length: ms / INTERVAL_MS }, async (_, index) => {
      const due = began + index * INTERVAL_MS;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      const { headers } = await send(url, USE);
      whole.push(performance.now() - due);
      database.push(Number(headers.get('Bench-Taken')?.split(' ')[0]));
    }),
  );
}

const ms = (times: number[]) => [0.5, 0.95].map((share) => quantile(times, share).toFixed(1)).join('; ');
const thousands = (value: number) => Math.round(value).toLocaleString('en');

export async function neighbours(code: string, progress: (text: string) => void): Promise<string> {
  await using stage = await open([{ name: 'service', code: { text: code }, database: 'stage', around: 'metered' }]);
  const db = await stage.database('stage');
  await crowd(db);
  const url = stage.url('service');
  await usesFor(ALONE_MS, url, noTimes());
  const thread = new Worker(new URL('./attacker.ts', import.meta.url));

  async function scene({ name, rate }: Attack, waits: boolean): Promise<string[]> {
    await db.prepare('delete from work').run();
    const [alone, beside, later] = [noTimes(), noTimes(), noTimes()];
    await usesFor(ALONE_MS, url, alone);
    thread.postMessage({ url, name, waits, ms: BESIDE_MS } satisfies Order);
    const answered = once(thread, 'message');
    await usesFor(BESIDE_MS / 2, url, beside);
    await usesFor(BESIDE_MS / 2, url, later);
    const [counts] = (await answered) as [Taken];
    await usesFor(ALONE_MS, url, alone);
    for (const figure of ['whole', 'database'] as const) beside[figure].push(...later[figure]);
    const perSecond = (figure: keyof Taken) => thousands((counts[figure] * 1000) / BESIDE_MS);
    return [
      name,
      rate !== undefined ? '' : waits ? 'yes' : 'no',
      ...[alone, beside, later].map(({ whole }) => ms(whole)),
      ...[beside, later].map(({ whole }) => (median(whole) / median(alone.whole)).toFixed(1)),
      ...[alone, beside, later].map(({ database }) => ms(database)),
      ...(['permitted', 'refused', 'others', 'sql', 'read', 'written'] as const).map(perSecond),
    ];
  }

  const rows: string[][] = [];
  for (const attack of ATTACKS)
    for (const waits of attack.rate === undefined ? [true, false] : [false]) {
      const row = await scene(attack, waits);
      rows.push(row);
      progress(row.join(' | '));
    }
  await thread.terminate();
  return table(
    [
      ...[
        'one owner’s calls',
        'waits after a 429',
        'alone: p50; p95 in ms',
        'beside',
        'second half',
        '×',
        '×, second half',
      ],
      ...['wait for the database alone', 'beside', 'second half'],
      ...['permitted/s', 'refused/s', 'others/s', 'ms of SQL/s', 'rows read/s', 'rows written/s'],
    ],
    rows,
  );
}
