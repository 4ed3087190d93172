// What costly calls take of the database, and how many times as much they spend (src/core/work.ts). And what the allowance itself takes of a
// call that is permitted, and of one that is refused.
import { createHash } from 'node:crypto';
import { addDays, dayOf, type Range } from '../../src/core/time.ts';
import {
  ADDITION_OF_SITES,
  LIST_OF_USES,
  LONG_REPORT,
  PAGE_OF_BUSINESSES,
  PAGE_OF_CHANGES,
  PAGE_OF_MONTHS,
  REPORT_OF_SOURCES,
} from '../../src/core/work.ts';
import { crowd, DAYS, FIRST, FRESH, keyOf, LABEL, LARGE, LISTS, SITES, sites, uses } from './attacks.ts';
import { table } from './duel.ts';
import { median } from './load.ts';
import { open } from './stage.ts';
import { volumes } from './volumes.ts';

const OPERATOR = `bua_op_${'0'.repeat(43)}`;
const OPERATOR_KEY_1 = `full:${createHash('sha256').update(OPERATOR).digest('hex')}`;

type Priced = {
  name: string;
  key: string;
  method: string;
  path: string;
  body?: () => unknown;
  price?: number;
  status?: number;
};
const usage = `/api/v1/business/usage/${LISTS}`;
const access = `/api/v1/business/${FIRST[DAYS]}/access`;

const listOf = (count: number): Priced => ({
  name: `list of ${count} uses`,
  key: keyOf(LISTS, 0),
  method: 'POST',
  path: usage,
  body: () => uses(count),
  price: LIST_OF_USES.price({ uses: Array(count) }),
});
const pageOf = (user: number, limit: number, name: string): Priced => ({
  name,
  key: keyOf(user, 0),
  method: 'GET',
  path: `/api/v1/business?limit=${limit}`,
  price: PAGE_OF_BUSINESSES.price({ limit: `${limit}` }),
});
const lastMonth = dayOf(new Date(new Date().setUTCDate(0)));
const monthsOf = (limit: number): Priced => ({
  name: `page of the months of ${limit} businesses`,
  key: keyOf(LARGE, 0),
  method: 'GET',
  path: `/api/v1/usage?ended=${lastMonth}&limit=${limit}`,
  price: PAGE_OF_MONTHS.price({ limit: `${limit}` }),
});
const report = (query: string, name: string, price: number): Priced => ({
  name,
  key: keyOf(LARGE, 0),
  method: 'GET',
  path: `/api/v1/business/usage/${FIRST[LARGE]}${query}`,
  price,
});
const NOW = new Date();
const [yesterday, years] = [1, 1830].map((days) => addDays(dayOf(NOW), -days)) as [string, string];
const ofYears = { from: years, to: yesterday };
const ofDays = { from: addDays(yesterday, -91), to: yesterday };
const rangeIn = ({ from, to }: Range) => `?from=${from}&to=${to}`;
const changes = (query: string, name: string): Priced => ({
  name,
  key: keyOf(LISTS, 0),
  method: 'GET',
  path: `/api/v1/business/${LISTS}/changes?limit=100${query}`,
  price: PAGE_OF_CHANGES.price(),
});
const additionOf = (count: number): Priced => ({
  name: `adding ${count} sites`,
  key: keyOf(DAYS, 0),
  method: 'POST',
  path: access,
  body: () => sites(count),
  price: ADDITION_OF_SITES.price(),
});
/** All of its sites have counted, in 1,830 days. */
const additionToMany: Priced = {
  ...additionOf(1),
  name: 'adding a site beyond 1,000',
  key: keyOf(LARGE, 0),
  path: `/api/v1/business/${FIRST[LARGE]}/access`,
  status: 422,
};

const PRICED: Priced[] = [
  ...[1, 100, 1000].map(listOf),
  changes('', 'page of 100 changes'),
  changes('&search=zz', 'page of changes, searched'),
  pageOf(SITES, 50, 'page of 50 businesses × 500 sites'),
  pageOf(LARGE, 25, 'page of the 25 largest businesses'),
  pageOf(LARGE, 50, 'page of the 50 largest businesses'),
  pageOf(LARGE, 24, 'page of the 24 largest businesses'),
  ...[1, 50].map(monthsOf),
  report(rangeIn(ofYears), 'report of 1,830 days', LONG_REPORT.price(ofYears, NOW)),
  report(`${rangeIn(ofYears)}&source=${LABEL}`, '… of one source', REPORT_OF_SOURCES.price(ofYears, NOW)),
  report(
    `${rangeIn(ofDays)}&by=source`,
    '92 days by 120 of 1,200 sources',
    REPORT_OF_SOURCES.price({ by: 'source', ...ofDays }, NOW),
  ),
  ...[1, 100].map(additionOf),
  additionToMany,
];
/** Each differs from the one before by the allowance alone, or nearly so. */
const COMPARED: Priced[] = [
  { ...pageOf(LISTS, 24, 'page of one business, limit=24'), price: 0 },
  pageOf(LISTS, 25, 'the same, limit=25'),
  { ...listOf(1), name: 'list of one use, of the operator', key: OPERATOR, price: 0 },
  { ...listOf(1), name: 'the same, of the owner' },
];
const ROUNDS = 30;

export async function prices(code: string, progress: (text: string) => void): Promise<string> {
  const bindings = { OPERATOR_KEY_1 };
  await using stage = await open([
    { name: 'service', code: { text: code }, database: 'stage', around: 'metered', bindings },
  ]);
  const db = await stage.database('stage');
  await crowd(db);
  const url = stage.url('service');

  async function take({ key, method, path, body }: Priced, status = 200) {
    const sent = body === undefined ? null : JSON.stringify(body());
    const began = performance.now();
    const answer = await fetch(url + path, { method, body: sent, headers: { Authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    const whole = performance.now() - began;
    if (answer.status !== status) throw new Error(`${method} ${path}: status ${answer.status}`);
    const [, sql = 0, read = 0, written = 0] = (answer.headers.get('Bench-Taken') ?? '').split(' ').map(Number);
    return { whole, sql, read, written };
  }
  type Took = Awaited<ReturnType<typeof take>>;
  const of = (took: Took[], figure: keyof Took) => median(took.map((one) => one[figure]));
  const mean = (took: Took[]) => took.reduce((sum, { sql }) => sum + sql, 0) / took.length;
  const row = (name: string, price: number | undefined, took: Took[]) => [
    name,
    mean(took).toFixed(2),
    price === undefined ? '' : `${price}`,
    price ? (price / mean(took)).toFixed(0) : '',
    `${of(took, 'read')}, ${of(took, 'written')}`,
    of(took, 'whole').toFixed(1),
  ];

  /** Takes turns, after a first turn that does not count. */
  async function measured(calls: Priced[], status = 200): Promise<string[][]> {
    const took = calls.map((): Took[] => []);
    for (let round = 0; round <= ROUNDS; round++)
      for (const [index, call] of calls.entries()) {
        if (status === 200) await db.prepare('delete from work').run();
        const one = await take(call, call.status ?? status);
        if (round > 0) took[index]?.push(one);
        if (call.path === access)
          await fetch(url + access, { method: 'DELETE', headers: { Authorization: `Bearer ${call.key}` } });
      }
    return calls.map(({ name, price }, index) => row(name, price, took[index] ?? []));
  }

  const rows = await measured(PRICED);
  progress('what the allowance takes');
  rows.push(...(await measured(COMPARED)));
  const list = listOf(1000);
  const bodies = list.body?.();
  const refused: Took[] = [];
  const again: Took[] = [];
  const unknown: Took[] = [];
  const malformed: Took[] = [];
  for (const index of FRESH) {
    await db
      .prepare(
        `insert or replace into work values (?, 'recording', cast(unixepoch('subsec') * 1000 as integer) + 10200, unixepoch() / 86400, 0, 0)`,
      )
      .bind(LISTS)
      .run();
    const call = { ...list, body: () => bodies, key: keyOf(LISTS, index) };
    refused.push(await take(call, 429));
    again.push(await take(call, 429));
    unknown.push(await take({ ...call, key: keyOf(9, index) }, 401));
    malformed.push(await take({ ...call, key: 'x' }, 401));
  }
  rows.push(row('list of 1,000, refused (429)', undefined, refused));
  rows.push(row('… again within a second', undefined, again));
  rows.push(row('… of an unknown key (401)', undefined, unknown));
  rows.push(row('… of a malformed key (401)', undefined, malformed));
  progress('what a day stores');
  const stored = await volumes(db, url);
  const priced = table(['call', 'ms of SQL', 'price', 'price / SQL', 'rows read, written', 'ms in all'], rows);
  return `${priced}\n\n${stored}`;
}
