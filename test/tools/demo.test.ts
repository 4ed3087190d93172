// Prepares the demo of `npm run dev` over HTTP, on services that wrangler runs.
import { expect, test, vi } from 'vitest';
import type { ListedBusiness } from '../../src/business/description.ts';
import type { Changes } from '../../src/changes/description.ts';
import { serviceAt } from '../../src/cli/client.ts';
import { newOperatorKey, sha256Hex } from '../../src/core/credential.ts';
import { formatSecret } from '../../src/core/operator.ts';
import { addDays, DAY_MS, dayOf, fillRange } from '../../src/core/time.ts';
import { paceOf } from '../../src/page/owner/pace.ts';
import type { BusinessDetails } from '../../src/shown-business/description.ts';
import { prepareDemo } from '../../src/tools/demo.ts';
import { businessesAt } from '../../src/tools/demo-businesses.ts';
import type { UsageReport } from '../../src/usage/description.ts';
import { startService } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';

const TIMEOUT = { timeout: 120_000 };
const NOW = new Date();
const NAMES = businessesAt(NOW).map(({ name }) => name);

/** Starts a service and returns functions that read its data. */
async function newService() {
  const operatorKey = newOperatorKey();
  const secrets = { OPERATOR_KEY_4: formatSecret('full', sha256Hex(operatorKey)) };
  const { url, stop } = await startService(newDatabase(), { secrets });
  const service = serviceAt(url, operatorKey);
  type Key = { name: string; last_four: string; revoked_at: string | null };
  return {
    service,
    /** Reads the daily counts of the last 100 days with this credential. */
    async usesOf(id: number, key: string) {
      const path = `GET /business/usage/${id}?from=${addDays(dayOf(NOW), -100)}`;
      return (await service.ok<{ used: { date: string; count: number }[] }>(path, { key })).used;
    },
    async businessesOf(user: number) {
      return (await service.ok<{ businesses: { name: string }[] }>(`GET /business?user_id=${user}`)).businesses;
    },
    async keysOf(user: number) {
      const { keys } = await service.ok<{ keys: Key[] }>(`GET /user/${user}/keys`);
      return keys.map(({ name, last_four, revoked_at }) => [name, last_four, revoked_at === null]);
    },
    [Symbol.asyncDispose]: () => stop(),
  };
}

test('a later start creates no other demo, and replaces only the key of the earlier one', TIMEOUT, async () => {
  await using served = await newService();
  const { service, usesOf, businessesOf, keysOf } = served;
  const one = await prepareDemo(service, NOW);
  const { charts, shop } = one;
  const made = await businessesOf(1);
  expect(made.map(({ name }) => name)).toEqual(NAMES);
  expect(made.slice(0, 2)).toMatchObject([charts, shop].map(({ id, token }) => ({ id, token, status: 'active' })));

  const uses = await usesOf(charts.id, charts.token); // needs no Origin header, because the business has no sites
  const days = uses.filter(({ count }) => count > 0).map(({ date }) => date);
  expect([days.at(0), days.at(-1)]).toEqual([addDays(dayOf(NOW), -92), addDays(dayOf(NOW), -1)]);
  expect(days.length).toBeGreaterThan(85);
  expect((await usesOf(shop.id, shop.token)).every(({ count }) => count === 0)).toBe(true);

  await service.ok(`POST /business/usage/${charts.id}`);
  const own = await service.ok<{ api_key: string }>('POST /user/1/keys', { body: { name: 'own' } });
  const later = await prepareDemo(service, new Date(NOW.getTime() + 86_400_000));
  expect([later.charts.token, later.shop.token]).toEqual([charts.token, shop.token]);
  const total = (list: typeof uses) => list.reduce((sum, { count }) => sum + count, 0);
  expect(total(await usesOf(charts.id, later.api_key))).toBe(total(uses) + 1);
  expect((await keysOf(1)).sort()).toEqual(
    [
      ['npm run dev', one.api_key.slice(-4), false],
      ['npm run dev', later.api_key.slice(-4), true],
      ['own', own.api_key.slice(-4), true],
    ].sort(),
  );
});

test(
  'the six businesses for the console show limits, refused origins, an old token, sources and who changed what',
  TIMEOUT,
  async () => {
    await using served = await newService();
    const { service } = served;
    const { refusing } = await prepareDemo(service, NOW);
    const readList = async () =>
      (await service.ok<{ businesses: ListedBusiness[] }>('GET /business?user_id=1')).businesses.slice(2);
    // The service stores refused origins after its response.
    const hasAll = async () => (await readList()).some(({ refused_origins }) => refused_origins === 3);
    await vi.waitUntil(hasAll, { timeout: 20_000 });
    const list = await readList();
    const shown = await Promise.all(
      list.map(async ({ id, name, status, limits, refused_origins }) => {
        const { former_tokens, access_list } = await service.ok<BusinessDetails>(`GET /business/${id}`);
        const { changes } = await service.ok<Changes>(`GET /business/${id}/changes`);
        const { sources } = await service.ok<UsageReport>(`GET /business/usage/${id}?by=source`);
        const people = new Set(changes.flatMap(({ actor_name }) => actor_name ?? []));
        const percent = limits?.monthly ? Math.floor(((limits.month ?? 0) / limits.monthly) * 100) : null;
        return [
          ...[name, status, percent, refused_origins, former_tokens.length, access_list.length],
          ...[sources?.flatMap(({ source }) => source ?? []).length, [...people].sort().join()],
        ];
      }),
    );
    const [anna, both] = ['Anna Keller', 'Anna Keller,Ben Ortiz'];
    expect(shown).toEqual([
      ['Alpine Outfitters', 'active', 104, 0, 0, 2, 3, both],
      ['Bright Dental', 'active', 92, 0, 0, 2, 2, both],
      ['Café Lumen', 'active', null, 3, 0, 1, 1, anna],
      ['Delta Rentals', 'active', null, 0, 1, 2, 3, both],
      ['Easel & Ink', 'suspended', null, 0, 0, 1, 1, anna],
      ['Fern & Co', 'active', null, 0, 0, 1, expect.any(Number), anna],
    ]);
    expect(list.find(({ id }) => id === refusing)?.name).toBe('Café Lumen');
    await prepareDemo(service, NOW);
    const figuresOf = (businesses: ListedBusiness[]) => businesses.map(({ updated_at, used }) => [updated_at, used]);
    expect(figuresOf(await readList())).toEqual(figuresOf(list));
  },
);

test('on any day, one business is at 104% of its month, and one at 92%, which lasts for two to four days, depending on the weekend', () => {
  for (let hour = 0; hour < 400 * 24; hour += 53) {
    const now = new Date(Date.UTC(2026, 0, 1, hour, 1));
    const today = dayOf(now);
    const found = businessesAt(now).flatMap(({ created, counts }) => {
      expect(counts.every(({ date, count }) => date <= today && Number.isInteger(count) && count > 0)).toBe(true);
      const { monthly_limit: limit, billing_day } = created;
      if (limit === undefined || billing_day === undefined) return [];
      const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
      const startOf = (ago: number) =>
        dayOf(new Date(Date.UTC(year, month - ago - (day < billing_day ? 1 : 0), billing_day)));
      const usesOf = (ago: number) =>
        counts.reduce((sum, { date, count }) => sum + (startOf(ago) <= date && date < startOf(ago - 1) ? count : 0), 0);
      const byDay = Object.fromEntries(counts.map(({ date, count }) => [date, count]));
      const days = fillRange({ from: addDays(today, -28), to: today }, byDay);
      const pace = paceOf({ limit, used: usesOf(0), ends: Date.parse(startOf(-1)) }, days, now.getTime());
      return {
        percent: Math.floor((100 * usesOf(0)) / limit),
        wereWithin: Array.from({ length: 13 }, (_, ago) => usesOf(ago + 1) <= limit).every(Boolean),
        daysLeft: pace?.is === 'reaching' ? Math.round((pace.at - now.getTime()) / DAY_MS) : 0,
      };
    });
    expect({ now, found }).toEqual({
      now,
      found: [
        { percent: 104, wereWithin: true, daysLeft: 0 },
        { percent: 92, wereWithin: true, daysLeft: expect.toSatisfy((days) => days >= 2 && days <= 4) },
      ],
    });
  }
});
