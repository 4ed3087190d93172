// Stores when each scheduled run last ended. Only DB contains these times.
import { drizzle } from 'drizzle-orm/d1';
import type { RunName } from '../core/schedule.ts';
import { formatTimestamp } from '../core/time.ts';
import { runs } from './schema.ts';

export async function recordEnd(d1: D1Database, name: RunName, now: Date): Promise<void> {
  const ended_at = formatTimestamp(now);
  await drizzle(d1)
    .insert(runs)
    .values({ name, ended_at })
    .onConflictDoUpdate({ target: runs.name, set: { ended_at } });
}
