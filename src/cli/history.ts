// Imports the history of a previous system: a CSV of days and counts.
import { and, eq, sql } from 'drizzle-orm';
import { isDay } from '../core/time.ts';
import { type Database, dailyUsage } from '../db/schema.ts';
import { changeByOperator } from './changes.ts';
import { InvalidFile } from './errors.ts';

declare global {
  interface JSON {
    /** A number with all its digits, as JSON.stringify writes it. In Node and workerd, and not yet in TypeScript's library. */
    rawJSON(digits: string): object;
  }
}

/** One day of the history, and its line in the file. */
export type Day = { line: number; day: string; count: number };
/** What is wrong with a line. */
type Mistake = { line: number; text: string };

/**
 * Reads a CSV of `date,count` lines: each day before `today`, and no day twice. A first line `date,count` is a heading. Returns the
 * days, and the mistakes by line.
 */
export function readHistory(csv: string, today: string): { days: Day[]; mistakes: Mistake[] } {
  const lines = csv.replace(/^\uFEFF/, '').split(/\r?\n/);
  const seen = new Map<string, number>();
  const days: Day[] = [];
  const mistakes: Mistake[] = [];
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    if ((line === 1 && text === 'date,count') || (text === '' && line === lines.length)) continue;
    const [day = '', digits = '', ...more] = text.split(',');
    const count = /^\d{1,15}$/.test(digits) ? Number(digits) : null;
    const before = seen.get(day);
    const mistake = (text: string) => mistakes.push({ line, text: `line ${line} ${text}` });
    if (more.length > 0 || !isDay(day) || count === null) {
      mistake('must be a day and a count, such as 2026-01-31,120');
    } else if (day >= today) mistake(`must be a day before today (${today}, UTC)`);
    else if (before !== undefined) mistake(`repeats the day of line ${before}`);
    else {
      seen.set(day, line);
      days.push({ line, day, count });
    }
  }
  if (days.length + mistakes.length === 0)
    mistakes.push({ line: 1, text: 'the file is empty; it needs lines such as 2026-01-31,120' });
  return { days, mistakes };
}

/**
 * Stores all days of a file or, if it has mistakes, none. Without `replace`, a day that already has a count is a mistake; with it, the
 * new count replaces the old one, and 0 removes it. Returns the number of days and their total, exact as JSON.
 */
export async function importHistory(
  db: Database,
  business_id: number,
  { days, mistakes }: ReturnType<typeof readHistory>,
  replace: boolean,
  now: Date,
) {
  const list = sql`json_each(${JSON.stringify(days.map(({ day, count }) => [day, count]))})`;
  const listed = sql`select value ->> 0 from ${list}`;
  const ours = and(eq(dailyUsage.business_id, business_id), sql`${dailyUsage.day} in (${listed})`);
  const counted = db.select({ day: dailyUsage.day }).from(dailyUsage).where(ours).orderBy(dailyUsage.day);
  const uses = days.reduce((sum, { count }) => sum + BigInt(count), 0n);
  const total = { days: days.length, uses: JSON.rawJSON(`${uses}`) };
  const none = sql`not exists (select 1 from ${dailyUsage} where ${ours})`;
  const stored = sql`coalesce((select ${dailyUsage.count} from ${dailyUsage}
    where ${and(eq(dailyUsage.business_id, business_id), sql`${dailyUsage.day} = value ->> 0`)}), 0)`;
  const differs = sql`exists (select 1 from ${list} where value ->> 1 <> ${stored}) and (${replace} or ${none})`;
  // The total of all days can be greater than any integer of SQLite, so its last nine digits are added on their own.
  const [high, low] = [sql`sum(${dailyUsage.count} / 1000000000)`, sql`sum(${dailyUsage.count} % 1000000000)`];
  const digits = sql`printf('%d%09d', ${high} + ${low} / 1000000000, ${low} % 1000000000)`;
  const replaced = sql`(select json_object('days', count(*), 'uses', json(ltrim(${digits}, '0'))) from ${dailyUsage}
    where ${ours} having count(*) > 0)`;
  const change = { before: replaced, after: total };
  const remove = db.delete(dailyUsage).where(and(ours, sql`${replace}`));
  const insert = db
    .insert(dailyUsage)
    .select(sql`select ${business_id}, value ->> 0, value ->> 1 from ${list} where value ->> 1 > 0 and ${none}`);
  /** Throws all mistakes of the file, those days included that have a count. */
  const refuseTaken = (taken: { day: string }[]) => {
    const lines = new Map(days.map(({ day, line }) => [day, line]));
    const all = taken.map(({ day }) => {
      const line = lines.get(day) ?? 0;
      return { line, text: `line ${line}: ${day} already has a count; use --replace to overwrite it` };
    });
    all.push(...mistakes);
    if (all.length > 0) throw new InvalidFile(all.sort((a, b) => a.line - b.line).map(({ text }) => text));
  };
  if (mistakes.length > 0) refuseTaken(replace ? [] : await counted);
  const [taken] = await db.batch([
    counted,
    changeByOperator(db, { subject: 'business', subject_id: business_id }, 'import_usage', change, now, differs),
    remove,
    insert,
  ]);
  if (!replace) refuseTaken(taken);
  return total;
}
