// What one owner's calls do to another owner's: the median time of a use alone, and beside 40 calls in flight with 21 keys. The Workers run
// without rate limits, which only make it better.
import { createHash } from 'node:crypto';
import { BUSINESS, CALLS, fill, recordOf } from './data.ts';
import { table } from './duel.ts';
import { median, send } from './load.ts';
import { open } from './stage.ts';

const KEYS = Array.from({ length: 21 }, (_, index) => `bua_sk_0${`${index}`.padStart(33, 'k')}`);
const IN_FLIGHT = 40;
const SECONDS = 4;
const STAMP = '2026-01-01T00:00:00.000000Z';
const USAGE = `/api/v1/business/usage/${BUSINESS.id}`;
const ACCESS = `/api/v1/business/${BUSINESS.id}/access`;

let last = 0;
const sites = () => Array.from({ length: 100 }, () => `https://s${++last}.${'a'.repeat(60)}.example`);
const uses = () => Array.from({ length: 1000 }, () => ({ id: `u${++last}` }));

type Attack = { method: string; path: string; body?: () => object };
const ATTACKS: [name: string, attack: Attack][] = [
  ['lists of 1,000 uses', { method: 'POST', path: USAGE, body: () => ({ uses: uses() }) }],
  [
    'pages of changes, searched',
    { method: 'GET', path: `/api/v1/business/${BUSINESS.id}/changes?limit=100&search=zz` },
  ],
  ['50 businesses × 500 sites, one refused origin each', { method: 'GET', path: '/api/v1/business?limit=50' }],
  ['the same, 20 a page', { method: 'GET', path: '/api/v1/business?limit=20' }],
  ['additions of 100 sites', { method: 'POST', path: ACCESS, body: () => ({ sites: sites() }) }],
];

/** Stores 50 more businesses of the attacker, with 500 sites and a refused origin each, 20 more keys, and 1,000 changes of 450 bytes. */
async function crowd(db: D1Database): Promise<void> {
  await fill(db, { businesses: 52, days: 56, sites: 1, uses: 10 });
  const numbers = (count: number) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
  const hash = (key: string) => createHash('sha256').update(key).digest('hex');
  await db.batch([
    db.prepare('update businesses set user_id = 1 where id <> 2'),
    db.prepare(`insert or ignore into access (business_id, site, created_at, updated_at) ${numbers(500)}
      select id, 'https://p' || i || '.example', '${STAMP}', '${STAMP}' from businesses, n where id > 2`),
    db.prepare(`insert into refused_origins select id, 'https://evil.example', 1, date('now'), date('now'), 0, '["https://evil.example"]'
      from businesses where id > 2`),
    db.prepare(`insert into changes (subject, subject_id, id, at, actor, action, before, after) ${numbers(1000)}
      select 'business', 1, i, '${STAMP}', 'key 1 (…0001)', 'rotate_token', null, json_object('token', hex(zeroblob(220))) from n`),
    ...KEYS.map((key) =>
      db
        .prepare(`insert into api_keys (user_id, name, hash, last_four, role, created_at, created_by)
          values (1, 'key', ?, '0000', 'full', '${STAMP}', 'operator')`)
        .bind(hash(key)),
    ),
  ]);
}

type Counts = { permitted: number; refused: number };
async function attack(url: string, { method, path, body }: Attack, waits: boolean, end: AbortSignal): Promise<Counts> {
  const counts = { permitted: 0, refused: 0 };
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async (_, index) => {
      const headers = { Authorization: `Bearer ${KEYS[index % KEYS.length]}` };
      while (!end.aborted) {
        const sent = body === undefined ? null : JSON.stringify(body());
        const answer = await fetch(url + path, { method, headers, body: sent, signal: end }).catch(() => null);
        if (answer === null) return;
        await answer.text().catch(() => '');
        if (answer.status === 429) counts.refused += 1;
        else counts.permitted += 1;
        if (answer.status !== 429 || !waits) continue;
        const ms = Number(answer.headers.get('Retry-After')) * 1000;
        await new Promise((resolve) => setTimeout(resolve, Math.min(ms, SECONDS * 1000)));
      }
    }),
  );
  return counts;
}

/** The median time of another owner's use, sent one after the other. */
async function usesOf(url: string, end: AbortSignal): Promise<number> {
  const call = recordOf({ Authorization: `Bearer bua_pk_0${'2'.padStart(33, '0')}`, Origin: 'https://s1.example' }, 2);
  const times: number[] = [];
  while (!end.aborted) {
    const began = performance.now();
    await send(url, call);
    times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return median(times);
}

export async function neighbours(code: string, progress: (text: string) => void): Promise<string> {
  await using stage = await open([{ name: 'service', code: { text: code }, database: 'stage' }]);
  const db = await stage.database('stage');
  await crowd(db);
  const url = stage.url('service');
  await send(url, CALLS.record);
  const rows: string[][] = [];
  for (const [name, kind] of ATTACKS)
    for (const waits of [true, false]) {
      await db.prepare('delete from work').run();
      const alone = await usesOf(url, AbortSignal.timeout(2000));
      // The first seconds, in which the allowance is used up, are not measured.
      const end = AbortSignal.timeout((SECONDS + 3) * 1000);
      const [counts, beside] = await Promise.all([
        attack(url, kind, waits, end),
        new Promise((resolve) => setTimeout(resolve, 3000)).then(() => usesOf(url, end)),
      ]);
      const ms = (time: number) => `${time.toFixed(1)} ms`;
      rows.push([
        name,
        waits ? 'yes' : 'no',
        ms(alone),
        ms(beside),
        (beside / alone).toFixed(1),
        `${counts.permitted}`,
        `${counts.refused}`,
      ]);
      progress(rows.at(-1)?.join(' | ') ?? '');
    }
  return table(['one owner’s calls', 'waits after a 429', 'alone', 'beside', '×', 'permitted', 'refused'], rows);
}
