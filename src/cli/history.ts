// Imports the history of a previous system: a CSV of days and counts.
import { and, eq, sql } from 'drizzle-orm';
import { isDay } from '../core/time.ts';
import { type Database, dailyUsage } from '../db/schema.ts';

/** One day of the history, and its line in the file. */
export type Day = { line: number; day: string; count: number };

/**
 * Reads a CSV of `date,count` lines: each day before `today`, and no day twice. A first line `date,count` is a heading. Errors
 * name the line.
 */
export function readHistory(csv: string, today: string): Day[] {
  const lines = csv.replace(/^\uFEFF/, '').split(/\r?\n/);
  const seen = new Map<string, number>();
  const days: Day[] = [];
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    if ((line === 1 && text === 'date,count') || (text === '' && line === lines.length)) continue;
    const [day = '', digits = '', ...more] = text.split(',');
    const count = /^\d{1,15}$/.test(digits) ? Number(digits) : null;
    if (more.length > 0 || !isDay(day) || count === null) {
      throw new Error(`line ${line} must be a day and a count, such as 2026-01-31,120`);
    }
    if (day >= today) throw new Error(`line ${line} must be a day before today (${today}, UTC)`);
    const before = seen.get(day);
    if (before !== undefined) throw new Error(`line ${line} repeats the day of line ${before}`);
    seen.set(day, line);
    days.push({ line, day, count });
  }
  if (days.length === 0) throw new Error('the file is empty; it needs lines such as 2026-01-31,120');
  return days;
}

/**
 * Stores all days or none. Without `replace`, a day that already has a count is an error; with it, the new count replaces the old
 * one, and 0 removes it. Returns the number of days and their total.
 */
export async function importHistory(db: Database, business_id: number, days: Day[], replace: boolean) {
  const list = sql`json_each(${JSON.stringify(days.map(({ day, count }) => [day, count]))})`;
  const listed = sql`select value ->> 0 from ${list}`;
  const ours = and(eq(dailyUsage.business_id, business_id), sql`${dailyUsage.day} in (${listed})`);
  const counted = db.select({ day: dailyUsage.day }).from(dailyUsage).where(ours).orderBy(dailyUsage.day).limit(1);
  const remove = db.delete(dailyUsage).where(and(ours, sql`${replace}`));
  const none = sql`not exists (select 1 from ${dailyUsage} where ${ours})`;
  const insert = db
    .insert(dailyUsage)
    .select(sql`select ${business_id}, value ->> 0, value ->> 1 from ${list} where value ->> 1 > 0 and ${none}`);
  const [[taken]] = await db.batch([counted, remove, insert]);
  if (taken && !replace) {
    const { line } = days.find(({ day }) => day === taken.day) as Day;
    throw new Error(`line ${line}: ${taken.day} already has a count; use --replace to overwrite it`);
  }
  return { days: days.length, uses: days.reduce((sum, { count }) => sum + count, 0) };
}
