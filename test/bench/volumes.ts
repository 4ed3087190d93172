// What an owner's calls store until the volume of the day is used up, without waiting for its time.
import { MAX_BYTES_PER_DAY, MAX_IDS_PER_DAY } from '../../src/core/work.ts';
import { DAYS, FIRST, keyOf, LISTS, sites, uses } from './attacks.ts';
import { table } from './duel.ts';

/** The last lists of a day. All would take a minute. */
const LAST_IDS = 100_000;
const MB = 1_000_000;

export async function volumes(db: D1Database, url: string): Promise<string> {
  const bytes = async () => (await db.prepare('select 1').run()).meta.size_after;

  /** Sends calls in turn until one is refused. Returns the permitted calls and the growth of the database. */
  async function fillDay(key: string, calls: { method: string; path: string; body?: () => object }[]) {
    const headers = { Authorization: `Bearer ${key}` };
    const before = await bytes();
    for (let sent = 0; ; sent++) {
      const { method, path, body } = calls[sent % calls.length] as (typeof calls)[number];
      const answer = await fetch(url + path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body()),
      });
      await answer.arrayBuffer();
      if (answer.status === 429)
        return { sent, grown: (await bytes()) - before, wait: answer.headers.get('Retry-After') };
      if (!answer.ok) throw new Error(`${method} ${path}: status ${answer.status}`);
      await db.prepare('update work set busy_until = 0').run();
    }
  }

  const path = `/api/v1/business/${FIRST[DAYS] + 1}/access`;
  const add = { method: 'POST', path, body: () => sites(100) };
  const changed = await fillDay(keyOf(DAYS, 1), [add, add, add, add, add, { method: 'DELETE', path }]);
  await db
    .prepare(`insert or replace into work values (?, 'recording', 0, unixepoch() / 86400, ?, 0)`)
    .bind(LISTS, MAX_IDS_PER_DAY - LAST_IDS)
    .run();
  const listed = await fillDay(keyOf(LISTS, 1), [
    { method: 'POST', path: `/api/v1/business/usage/${LISTS}`, body: () => uses(1000) },
  ]);
  const perId = listed.grown / (listed.sent * 1000);
  return table(
    ['calls of an owner', 'until refused', 'stored', 'bound a day', 'Retry-After'],
    [
      [
        'additions of 100 long sites, removals',
        `${changed.sent}`,
        `${(changed.grown / MB).toFixed(2)} MB`,
        `${MAX_BYTES_PER_DAY / MB} MB counted`,
        `${changed.wait}`,
      ],
      [
        'lists of 1,000 new ids',
        `${listed.sent} of ${MAX_IDS_PER_DAY / 1000}`,
        `${perId.toFixed(1)} bytes an id`,
        `${((perId * MAX_IDS_PER_DAY) / MB).toFixed(0)} MB`,
        `${listed.wait}`,
      ],
    ],
  );
}
