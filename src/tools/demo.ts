// The demo businesses of local development: one with three months of use and no sites, so that its token works everywhere, and one
// for trying out domains. With several databases, a third one belongs to another user, in another database.
import { and, eq, isNull, sql } from 'drizzle-orm';
import { createBusiness } from '../cli/businesses.ts';
import type { BoundDatabase, Databases } from '../cli/databases.ts';
import { createKey } from '../cli/keys.ts';
import { addDays, dayOf, timestampOf } from '../core/time.ts';
import { homeOf } from '../db/homes.ts';
import { apiKeys, type BusinessRow, businessColumns, businesses, dailyUsage } from '../db/schema.ts';

const USER = 1;
const OTHER_USER = 2;
const DAYS = 92;

/**
 * Creates what is missing of the demo, and new keys to replace the last ones, since only their hashes are stored. Each port has its
 * own keys, because two servers may share a database. `other` is null if there is one database.
 */
export async function prepareDemo(databases: Databases, now: Date, port: number) {
  const keyName = `npm run dev, port ${port}`;
  const home = await homeOfUser(databases, USER, now);
  const charts = await ensureBusiness(home, USER, 'Demo Charts', 'charts.example', now);
  const shop = await ensureBusiness(home, USER, 'Demo Shop', 'shop.example', now);
  const counted = await home.db.$count(dailyUsage, eq(dailyUsage.business_id, charts.id));
  if (counted === 0) {
    const today = dayOf(now);
    const uses = Array.from({ length: DAYS }, (_, index) => {
      const day = addDays(today, index - DAYS);
      return [day, believableCount(day, index)] as const;
    }).filter(([, count]) => count > 0);
    // In one statement, so that an interrupted run stores all of it or nothing.
    await home.db
      .insert(dailyUsage)
      .select(sql`select ${charts.id}, value ->> 0, value ->> 1 from json_each(${JSON.stringify(uses)})`);
  }
  const api_key = await replaceKey(home, USER, keyName, now);
  return {
    charts,
    shop,
    api_key,
    other: databases.all.length > 1 ? await prepareOther(databases, keyName, now) : null,
  };
}

async function prepareOther(databases: Databases, keyName: string, now: Date) {
  const home = await homeOfUser(databases, OTHER_USER, now);
  const business = await ensureBusiness(home, OTHER_USER, 'Demo Abroad', 'abroad.example', now);
  return { business, api_key: await replaceKey(home, OTHER_USER, keyName, now) };
}

async function homeOfUser(databases: Databases, user_id: number, now: Date): Promise<BoundDatabase> {
  const number = await homeOf(databases.asking('create_business', now), user_id);
  return databases.numbered(number) as BoundDatabase;
}

/** Revokes the key with this name, and creates another. */
async function replaceKey(home: BoundDatabase, user_id: number, name: string, now: Date): Promise<string> {
  const old = and(eq(apiKeys.user_id, user_id), eq(apiKeys.name, name), isNull(apiKeys.revoked_at));
  await home.db
    .update(apiKeys)
    .set({ revoked_at: timestampOf(now) })
    .where(old);
  const { api_key } = await createKey(home, { user_id, name, expires_on: null }, now);
  return api_key;
}

async function ensureBusiness(
  home: BoundDatabase,
  user_id: number,
  name: string,
  main_domain: string,
  now: Date,
): Promise<BusinessRow> {
  const known = and(eq(businesses.user_id, user_id), eq(businesses.name, name));
  const row = {
    user_id,
    name,
    main_domain,
    site: `https://${main_domain}`,
    country_id: 1,
    business_size: 'small',
  };
  return (
    (await home.db.select(businessColumns).from(businesses).where(known).get()) ??
    (await createBusiness(home, row, now))
  );
}

/** Slow growth, quiet weekends, some noise, and now and then a day without use. */
function believableCount(day: string, index: number): number {
  const noise = (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
  const weekend = [0, 6].includes(new Date(day).getUTCDay());
  if (noise < 0.02) return 0;
  return Math.round((120 + index * 1.5) * (weekend ? 0.4 : 1) * (0.8 + noise * 0.4));
}
