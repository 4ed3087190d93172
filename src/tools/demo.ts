// The two demo businesses of local development: one with three months of use and no sites, so that its token works everywhere, and
// one for trying out domains.
import { and, eq, isNull, sql } from 'drizzle-orm';
import { createBusiness } from '../cli/businesses.ts';
import { createKey } from '../cli/keys.ts';
import { addDays, dayOf, timestampOf } from '../core/time.ts';
import { apiKeys, type Business, businesses, type Database, dailyUsage } from '../db/schema.ts';

const USER = 1;
const DAYS = 92;

/**
 * Creates what is missing of the demo, and a new key to replace the last one, since only its hash is stored. Each port has its own
 * key, because two servers may share a database.
 */
export async function prepareDemo(db: Database, now: Date, port: number) {
  const name = `npm run dev, port ${port}`;
  const charts = await ensureBusiness(db, 'Demo Charts', 'charts.example', now);
  const shop = await ensureBusiness(db, 'Demo Shop', 'shop.example', now);
  const counted = await db.$count(dailyUsage, eq(dailyUsage.business_id, charts.id));
  if (counted === 0) {
    const today = dayOf(now);
    const uses = Array.from({ length: DAYS }, (_, index) => {
      const day = addDays(today, index - DAYS);
      return [day, believableCount(day, index)] as const;
    }).filter(([, count]) => count > 0);
    // In one statement, so that an interrupted run stores all of it or nothing.
    await db
      .insert(dailyUsage)
      .select(sql`select ${charts.id}, value ->> 0, value ->> 1 from json_each(${JSON.stringify(uses)})`);
  }
  const old = and(eq(apiKeys.user_id, USER), eq(apiKeys.name, name), isNull(apiKeys.revoked_at));
  await db
    .update(apiKeys)
    .set({ revoked_at: timestampOf(now) })
    .where(old);
  const { api_key } = await createKey(db, { user_id: USER, name, expires_on: null }, now);
  return { charts, shop, api_key };
}

async function ensureBusiness(db: Database, name: string, main_domain: string, now: Date): Promise<Business> {
  const known = and(eq(businesses.user_id, USER), eq(businesses.name, name));
  const row = {
    user_id: USER,
    name,
    main_domain,
    site: `https://${main_domain}`,
    country_id: 1,
    business_size: 'small',
  };
  return (await db.select().from(businesses).where(known).get()) ?? (await createBusiness(db, row, now));
}

/** Slow growth, quiet weekends, some noise, and now and then a day without use. */
function believableCount(day: string, index: number): number {
  const noise = (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
  const weekend = [0, 6].includes(new Date(day).getUTCDay());
  if (noise < 0.02) return 0;
  return Math.round((120 + index * 1.5) * (weekend ? 0.4 : 1) * (0.8 + noise * 0.4));
}
