// What an owner decides the size of is bounded: the rows that a call reads and the bytes of its response, with everything as large as an
// owner can make it. docs/performance.md states the bounds (“What an owner can make large”).
import { beforeAll, expect, test } from 'vitest';
import performance from '../docs/performance.md?raw';
import { MAX_LABELS, MAX_LABELS_PER_DAY, MAX_NAMED_SITES, MAX_SITES_PER_DAY } from '../src/core/sources.ts';
import { formatTimestamp, MAX_RANGE_DAYS } from '../src/core/time.ts';
import { ROUTES } from './routes.ts';
import { type Business, call, INSERT_CHANGES, later, NOW, newBusiness, newKey, OPERATOR } from './support.ts';

const [, section = ''] = performance.split('### What an owner can make large');
/** By the paths that the table names. */
const BOUNDS = [...section.matchAll(/^\| `GET ([^`]+)` \|[^|]*\| ([\d,]+) \| (\d+) \|/gm)].map(
  ([, path = '', rows = '', kilobytes]) => ({
    path,
    rows: Number(rows.replaceAll(',', '')),
    bytes: Number(kilobytes) * 1000,
  }),
);
const [SITES, LABELS, DAYS_BY_SOURCE, LISTED, IN_MONTHS] = [500, 80, 92, 50, 1000];
const dayBefore = (days: number) =>
  later(-days * 86_400_000)
    .toISOString()
    .slice(0, 10);
const ENDED = '2026-01-31';
const OLD = '2025-01-01T00:00:00.000000Z';
const ORIGIN = `https://${'a'.repeat(60)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(50)}.example`;
const site = (number: number) => `${ORIGIN.slice(0, -11)}${`${number}`.padStart(4, '0')}.example:65535`;

let business: Business;
beforeAll(async () => {
  business = await newBusiness({ sites: Array.from({ length: SITES }, (_, number) => site(number)) });
  const { id, user_id, key, usage, home } = business;
  for (let count = 1; count < LISTED; count++) await newBusiness({ user_id });
  for (let count = 1; count < 50; count++) await newKey(business, { role: 'read' });
  const uses = Array.from({ length: LABELS }, (_, number) => ({
    id: `${number}`,
    label: `${number}`.padStart(64, 'x'),
  }));
  expect((await call('POST', usage, { as: key, body: { uses } })).status).toBe(200);
  const numbers = (most: number) => `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${most})`;
  const each = `n, (select id from businesses where user_id = ${user_id}) as own`;
  const at = formatTimestamp(NOW);
  await home.d1.batch(
    [
      // Registered sites have their names already.
      `insert into sources (business_id, name, number) ${numbers(MAX_LABELS - LABELS)}
        select ${id}, printf('%064d', i), ${LABELS} + i from n`,
      `insert into sources (business_id, name, number) ${numbers(MAX_NAMED_SITES - SITES)}
        select ${id}, replace('${site(0)}', 'aa.', printf('x%d.', i)), -${SITES} - i from n`,
      `insert into daily_usage ${numbers(MAX_RANGE_DAYS - 1)} select own.id, date('${dayBefore(0)}', '-' || i || ' days'), 123456789012,
        iif(i < ${DAYS_BY_SOURCE}, (select json_group_object(number, 1000000000) from sources where business_id = own.id
          and iif(number > 0, (number - 1 + ${MAX_LABELS_PER_DAY} * i) % ${MAX_LABELS} < ${MAX_LABELS_PER_DAY},
            (-number - 1 + ${MAX_SITES_PER_DAY} * i) % ${MAX_NAMED_SITES} < ${MAX_SITES_PER_DAY})), null) from ${each}`,
      `insert into seen_origins ${numbers(50)} select own.id, replace('${ORIGIN}', 'https://a', 'https://' || i), 1000000, '${at}', '${at}',
        0, json_array('${ORIGIN}') from ${each}`,
      `insert into limit_refusals ${numbers(MAX_RANGE_DAYS - 1)} select own.id, date('${dayBefore(0)}', '-' || i || ' days'), 1000000 from ${each}`,
      `insert into alerts ${numbers(450)} select printf('%036d', i), ${id}, 'day', '${dayBefore(1)}', '${dayBefore(1)}', 1000000 + i, 80,
        1000000, '${at}', null, 1, null from n`,
      `${INSERT_CHANGES} ${numbers(1200)} select 'business', ${id}, i, '${at}', 'key 1 (…abcd)', 'add_sites', null,
        json_object('sites', json_array(hex(zeroblob(6000)))) from n`,
      `insert into former_tokens (token, business_id, expires_at) ${numbers(5)} select printf('former-%d', i), ${id}, '2026-03-17T00:00:00.000000Z'
        from n`,
      // 20 that work, and 200 that no longer do.
      `insert into api_keys (user_id, business_id, name, hash, last_four, role, created_at, revoked_at, created_by, creator_id) ${numbers(220)}
        select ${user_id}, ${id}, printf('%0255d', i), printf('%064d', ${user_id}000 + i), '0000', 'read', '${OLD}', iif(i > 20, '${OLD}', null),
        'key 1 (…abcd)', 1 from n`,
      // Beyond those that a page lists, only for the months that have ended.
      `insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
        ${numbers(IN_MONTHS - LISTED)} select ${user_id}, printf('%0255d', i), 'a.example', 'https://a.example', 1, 's',
        printf('bound-${user_id}-%030d', i), 'active', '${OLD}', '${OLD}' from n`,
      `insert into sites (business_id, site, created_at, updated_at) select id, 'https://*.shop.example', '${OLD}', '${OLD}' from businesses
        where user_id = ${user_id} and created_at = '${OLD}'`,
      `insert or ignore into daily_usage (business_id, day, count) ${numbers(31)} select id, date('${ENDED}', (1 - i) || ' days'), 123456789012
        from businesses, n where user_id = ${user_id}`,
    ].map((sql) => home.d1.prepare(sql)),
  );
  const limits = { daily_limit: 1e12, monthly_limit: 1e12, overage: 0, alert_at: [1, 2, 3, 4, 5] };
  expect((await call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: limits })).status).toBe(200);
});

/** The queries of the largest calls, by path. A path without an entry is called without a query. */
const LARGEST: Record<string, string[]> = {
  '/business': ['?limit=50'],
  '/business/{business_id}/alerts': ['?limit=100'],
  '/business/{business_id}/changes': ['?limit=100', '?limit=100&search=nothing', '?limit=100&action=rotate_token'],
  '/business/{business_id}/refusals': [`?from=${dayBefore(MAX_RANGE_DAYS - 1)}&to=${dayBefore(0)}`],
  '/business/usage/{business_id}': [`?from=${dayBefore(MAX_RANGE_DAYS - 1)}&to=${dayBefore(0)}`],
  '/business/usage/{business_id}?by=source': [`&from=${dayBefore(DAYS_BY_SOURCE - 1)}&to=${dayBefore(0)}`],
  '/usage': [`?ended=${ENDED}`],
  '/business/usage/{business_id}/use': ['?id=1'],
};

/** A page that asks for a list, from an origin that many wildcards could cover. */
const ORIGINS: Record<string, string> = { '/usage': 'https://a.b.c.d.e.f.shop.example' };

test('the table names each read that an API key may call', { tags: 'slow' }, () => {
  const readable = ROUTES.filter(({ method, keyRefusal }) => method === 'GET' && keyRefusal === null);
  const paths = readable.map(({ pattern }) => pattern.slice('/api/v1'.length).replaceAll(/:(\w+)/g, '{$1}'));
  expect([...new Set(BOUNDS.map(({ path }) => path.split('?')[0]))].sort()).toEqual([...new Set(paths)].sort());
});

test('with everything as large as an owner can make it, no read examines more rows or returns more bytes than its bound', {
  tags: 'slow',
}, async () => {
  const exceeded: string[] = [];
  for (const { path, rows, bytes } of BOUNDS)
    for (const query of LARGEST[path] ?? ['']) {
      const { id, user_id } = business;
      const url = `/api/v1${path.replace('{business_id}', `${id}`).replace('{user_id}', `${user_id}`)}${query}`;
      for (const Accept of ['application/json', 'text/csv']) {
        const asked = { as: business.key, headers: { Accept }, ...(ORIGINS[path] && { origin: ORIGINS[path] }) };
        const { status, text, cost } = await call('GET', url, asked);
        const isBounded = status === 200 && cost.rows_read <= rows && text.length <= bytes;
        if (!isBounded)
          exceeded.push(`${path}${query}, ${Accept}: ${status}, ${cost.rows_read} rows, ${text.length} bytes`);
      }
    }
  expect(exceeded).toEqual([]);
});
