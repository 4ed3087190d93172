// The global setup of the console tests: one server for all of them, with owners and businesses in many states. Tests that change a
// business create their own, see `spare`.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import type { TestProject } from 'vitest/node';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { newCredential, sha256Hex } from '../../src/core/credential.ts';
import type { Role } from '../../src/core/policy.ts';
import { sitesCovering } from '../../src/core/site.ts';
import { addDays, dayOf, formatTimestamp } from '../../src/core/time.ts';
import { businesses, changes, codes, dailyUsage, seenOrigins, sites, sources } from '../../src/db/schema.ts';
import { boundTo, createBusiness, createKey, homeOf } from '../ask.ts';
import { type LocalDatabase, withDatabases } from '../node/local.ts';
import type {} from '../node/migrated.ts'; // for the types of the provided values
import { startService } from '../node/server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the server, an operator key, and the seeded data. */
    owners: { url: string; operatorKey: string; made: Awaited<ReturnType<typeof makeOwners>> };
  }
}

export default async function owners(project: TestProject) {
  const { folder, migrated } = project.getProvidedContext();
  const state = join(folder, 'owners');
  cpSync(migrated, state, { recursive: true });
  const made = await withDatabases({ 'persist-to': state }, ({ first }) => makeOwners(first));
  const { operator_key: operatorKey, secret } = await createOperatorKey('full', 'OPERATOR_KEY_1');
  const { url, stop } = await startService(state, { secrets: { OPERATOR_KEY_1: secret } });
  project.provide('owners', { url, operatorKey, made });
  return () => stop();
}

const NOW = new Date();
const STAMP = formatTimestamp(NOW);
const OWNER = 9;
const MANY = 10;
const NOBODY = 11;
const SPARE = 12;
const BUSY = 13;
const CHARTED = 14;
const BUSY_BUSINESSES = 35;
const MANY_BUSINESSES = 45;
const LONG =
  'The Most Remarkable Society for the Propagation of Tulips, Daffodils and Donaudampfschifffahrtsgesellschaftskapitäne';

/** Generates plausible counts, the same in each run: growth, quiet weekends, a little noise. */
const counts = (days: number, scale: number) =>
  Array.from({ length: days }, (_, index) => {
    const day = addDays(dayOf(NOW), index + 1 - days);
    const noise = (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
    const weekend = [0, 6].includes(new Date(day).getUTCDay()) ? 0.45 : 1;
    return { day, count: Math.round(scale * (1 + index / days) * weekend * (0.8 + noise * 0.4)) };
  });

async function makeOwners(first: LocalDatabase) {
  const { db } = first;
  async function business(user_id: number, name: string, main_domain = 'shop.example') {
    const fields = {
      user_id,
      name,
      main_domain,
      site: `https://${main_domain}`,
      country_id: 1,
      business_size: 'small',
    };
    return createBusiness(first, fields, NOW);
  }
  const uses = (business_id: number, days: { day: string; count: number }[]) => {
    const rows = JSON.stringify(days.map(({ day, count }) => [day, count])); // one parameter, because a statement accepts at most 100
    const listed = sql`select ${business_id}, value ->> 0, value ->> 1, null from json_each(${rows}) where value ->> 1 > 0`;
    return db.insert(dailyUsage).select(listed);
  };
  const register = async (business_id: number, list: string[]) => {
    await db.insert(sites).values(list.map((site) => ({ business_id, site, created_at: STAMP, updated_at: STAMP })));
    await db.insert(sources).values(list.map((name, index) => ({ business_id, name, number: -1 - index })));
  };
  const key = async (user_id: number, more: { role?: Role; business_id?: number } = {}) =>
    (await createKey(first, { user_id, name: 'test', ...more }, NOW)).api_key;

  await homeOf(boundTo([first], NOW), OWNER); // assigns a home, as creating a key or link does
  const tulip = await business(OWNER, 'Tulip Shop', 'tulip.example');
  for (const part of [counts(90, 180), counts(400, 90).slice(0, 310)]) await uses(tulip.id, part);
  await register(tulip.id, ['https://tulip.example', 'https://*.tulip.example']);
  const seen = (origin: string, count: number) => ({
    business_id: tulip.id,
    origin,
    candidates: JSON.stringify(sitesCovering(origin)),
    count,
    first_seen: STAMP,
    last_seen: STAMP,
  });
  await db
    .insert(seenOrigins)
    .values([
      seen('https://tulip-shop.example', 148),
      seen('http://localhost:5173', 12),
      seen('https://copycat.example', 1),
    ]);
  const quiet = await business(OWNER, 'Quiet Shop', 'quiet.example');
  const oneDay = await business(OWNER, 'First Day Bakery', 'bakery.example');
  await uses(oneDay.id, [{ day: dayOf(NOW), count: 1 }]);
  const long = await business(OWNER, LONG, `${'a-very-long-label-'.repeat(3)}.of-a-long-name.example`);
  await uses(long.id, counts(30, 400));
  await register(long.id, [`https://${'a-very-long-label-'.repeat(3)}x.of-a-long-name.example:8443`]);
  const huge = await business(OWNER, 'Galactic Counters', 'galactic.example');
  await uses(huge.id, counts(60, 30_000_000_000));
  const closed = await business(OWNER, 'Winter Garden', 'winter.example');
  await uses(closed.id, counts(60, 30).slice(0, 40));
  await db.update(businesses).set({ status: 'suspended' }).where(eq(businesses.id, closed.id));
  const limited = await business(OWNER, 'Metered Post', 'post.example');
  await uses(limited.id, counts(20, 60));
  await db.update(businesses).set({ daily_limit: 150, monthly_limit: 5000 }).where(eq(businesses.id, limited.id));
  /** Returns 100 uses for each previous day, and `today` uses for today. */
  const steady = (today: number) => counts(20, 0).map(({ day }) => ({ day, count: day === dayOf(NOW) ? today : 100 }));
  const near = await business(OWNER, 'Night Train Records', 'night-train.example');
  await uses(near.id, steady(86));
  await db.update(businesses).set({ daily_limit: 100 }).where(eq(businesses.id, near.id));
  const full = await business(OWNER, 'Sold Out Tickets', 'tickets.example');
  await uses(full.id, steady(100));
  await db.update(businesses).set({ daily_limit: 100, monthly_limit: 100 }).where(eq(businesses.id, full.id));
  for (let n = 1; n <= MANY_BUSINESSES; n++) await business(MANY, `Shop number ${n}`, `shop-${n}.example`);
  // The owner in owner-jobs.test.ts, with two years of history.
  for (let n = 1; n < BUSY_BUSINESSES; n++) await business(BUSY, `Branch ${n}`, `branch-${n}.example`);
  const busy = await business(BUSY, 'Zürich Café', 'cafe.example');
  await uses(busy.id, counts(730, 200));
  await register(busy.id, ['https://cafe.example', 'https://shop.cafe.example']);
  await db.update(businesses).set({ monthly_limit: 20_000 }).where(eq(businesses.id, busy.id));
  await db.insert(seenOrigins).values({ ...seen('https://www.cafe.example', 31), business_id: busy.id });
  const laptop = await createKey(first, { user_id: BUSY, name: 'Owner laptop' }, NOW);
  const change = (id: number, daysAgo: number, action: 'add_sites' | 'remove_sites') => {
    const changed = JSON.stringify({ sites: [`https://page-${id}.cafe.example`] });
    const [before, after] = action === 'add_sites' ? [null, changed] : [changed, null];
    const at = formatTimestamp(new Date(NOW.getTime() - daysAgo * 86_400_000));
    const actor = `key ${laptop.id} (…${laptop.api_key.slice(-4)})`;
    return { subject: 'business' as const, subject_id: busy.id, id, at, actor, action, before, after };
  };
  await db.run(sql`delete from ${changes} where ${eq(changes.subject_id, busy.id)}`);
  for (let id = 1; id <= 60; id++)
    await db.insert(changes).values(change(id, (62 - id) / 3, id % 15 === 0 ? 'remove_sites' : 'add_sites'));
  // For chart.test.ts: n uses on day n of March 2026, except none on the 7th, and 10 uses on each day of February.
  const shop = await business(CHARTED, 'Tulip Shop');
  const silent = await business(CHARTED, 'Quiet Shop');
  const lively = await business(CHARTED, 'Busy Shop');
  const from = (first: string, length: number, count: (index: number) => number) =>
    Array.from({ length }, (_, index) => ({ day: addDays(first, index), count: count(index) }));
  await uses(shop.id, [
    ...from('2026-02-01', 28, () => 10),
    ...from('2026-03-01', 31, (index) => (index === 6 ? 0 : index + 1)),
  ]);
  const wave = (index: number) => 100 + Math.round(60 * Math.sin(index / 20) + 30 * Math.cos(index * 1.7));
  await uses(lively.id, from('2025-01-01', 366, wave));
  await uses(
    lively.id,
    from(addDays(dayOf(NOW), -59), 60, (index) => (index === 59 ? 40 : 2 * wave(index * 6))),
  );
  await uses(lively.id, [{ day: '2024-06-01', count: 1_000_000_000_000 }]);
  const lateCode = newCredential('bua_pk_', 0).slice('bua_pk_'.length);
  await db.insert(codes).values({
    ...{ user_id: OWNER, role: 'full', minutes: 60, hash: sha256Hex(lateCode) },
    expires_at: formatTimestamp(new Date(NOW.getTime() - 1000)),
  });
  const keys = {
    owner: await key(OWNER),
    reader: await key(OWNER, { role: 'read' }),
    recorder: await key(OWNER, { role: 'record' }),
    many: await key(MANY),
    nobody: await key(NOBODY),
    spare: await key(SPARE),
    spareReader: await key(SPARE, { role: 'read' }),
    busy: laptop.api_key,
    charted: await key(CHARTED),
  };
  const users = { owner: OWNER, spare: SPARE };
  const many = MANY_BUSINESSES; // the number of businesses that the key `many` owns
  const shops = { tulip, quiet, oneDay, long, huge, closed, limited, near, full, busy, shop, silent, lively };
  return { ...shops, users, many, keys, lateCode };
}
