// Usage totals of all businesses, for invoicing (docs/api.md, "Invoices").
import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, granted, invalid } from './answers.ts';
import {
  type Business,
  type CallOptions,
  call,
  failingWith,
  homes,
  later,
  newBusiness,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

type Total = { business_id: number; user_id: number; name: string; count: number };

const PATH = '/api/v1/usage';
const as = OPERATOR.record;
const read = (query = '', options: CallOptions = {}) => call('GET', PATH + query, { as, ...options });

/** Reads all pages, and checks that each takes one round trip. */
async function pagesOf(query: string) {
  const pages: { usage: Total[]; next: number | null; rows_read: number }[] = [];
  let after: number | null | undefined;
  while (after !== null) {
    const { status, body, cost } = await read(`?${query}${after === undefined ? '' : `&after=${after}`}`);
    expect(status).toBe(200);
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    pages.push({ ...body.data, rows_read: cost.rows_read });
    after = body.data.next;
  }
  return pages;
}
const databaseOf = ({ business_id }: Total) => Math.floor((business_id - 1) / 1e9);

/** Two businesses per database, by id: an active business with uses around March 2026, and a suspended business without uses. */
let made: Business[];
beforeAll(async () => {
  const all: Business[] = [];
  for (const _ of homes) {
    const used = await newBusiness();
    const counts = { '2026-02-28': 1000, '2026-03-01': 2, '2026-03-10': 30, '2026-03-31': 400, '2026-04-01': 5000 };
    for (const [day, count] of Object.entries(counts)) await setCount(used.id, day, count);
    all.push(used, await newBusiness({ user_id: used.user_id, status: 'suspended' }));
  }
  made = all.sort((a, b) => a.id - b.id);
});
const totals = (...counts: [number, number]): Total[] =>
  made.map(({ id, user_id, name, status }) => ({
    ...{ business_id: id, user_id, name },
    count: counts[status === 'active' ? 0 : 1],
  }));

test('the totals list every business with its uses in the range, including both ends, or with 0', async () => {
  const pages = await pagesOf('from=2026-03-01&to=2026-03-31');
  expect(pages.flatMap(({ usage }) => usage)).toEqual(totals(432, 0));
});

test('both operator roles get byte-identical totals', async () => {
  const [first] = totals(432, 0);
  for (const role of [OPERATOR.full, OPERATOR.record]) {
    const answer = await read('?from=2026-03-01&to=2026-03-31&limit=1', { as: role });
    expect(answer.status).toBe(200);
    const { business_id, user_id, name } = first as Total;
    expect(answer.text).toBe(
      `{"status":true,"data":{"usage":[{"business_id":${business_id},"user_id":${user_id},"name":"${name}","count":432}],"next":${business_id}}}`,
    );
    expect(answer.headers.get('Vary')).toBe('Accept');
    expect(answer.headers.get('Link')).toBeNull();
    expect(answer.lines).toMatchObject([{ operation: 'read_all_usage', status: 200, business_id: null }]);
  }
});

describe('the range of the totals', () => {
  const countOf = async (query: string, options: CallOptions = {}) =>
    (await read(query, options)).body.data.usage[0].count;

  test('defaults to the last 30 days and follows the rules of a usage report', async () => {
    expect(await countOf('')).toBe(1032); // from 2026-02-14 to 2026-03-15
    expect(await countOf('?to=2026-03-29')).toBe(1032);
    expect(await countOf('?to=2026-03-30')).toBe(32);
    expect(await countOf('?from=2026-03-10')).toBe(30);
    expect(await countOf('?from=2022-01-01&to=2027-01-04')).toBe(6432);
    expect(await countOf('', { at: new Date('2026-03-31T23:59:59.999Z') })).toBe(430); // from 2026-03-02
  });

  test.each([
    ['?from=2026-03-02&to=2026-03-01', 'from must not be after to (2026-03-01)'],
    ['?from=2026-03-16', `from must not be after to (${TODAY}, today)`],
    ['?from=2022-01-01&to=2027-01-05', 'from must be at most 1829 days before to (2027-01-05)'],
    ['?from=2026-02-30', 'from must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD'],
  ])('cannot be %s', async (query, message) => {
    const { status, body } = await read(query);
    expect({ status, body }).toEqual(invalid('from', message));
  });
});

test('the totals can be limited to one user’s businesses, in two round trips', async () => {
  const [used, other] = made as [Business, Business];
  const range = 'from=2026-03-01&to=2026-03-31';
  const answer = await read(`?${range}&user_id=${used.user_id}`);
  const usage = [
    { business_id: used.id, user_id: used.user_id, name: used.name, count: 432 },
    { business_id: other.id, user_id: used.user_id, name: other.name, count: 0 },
  ];
  expect(answerOf(answer)).toEqual(granted({ usage, next: null }));
  expect(answer.cost).toMatchObject({ round_trips: 2, rows_written: 0 });
  const csv = await read(`?${range}&user_id=${used.user_id}&limit=1`, { headers: { Accept: 'text/csv' } });
  const next = `https://service.example/api/v1/usage?${range}&user_id=${used.user_id}&limit=1&after=${used.id}`;
  expect(csv.headers.get('Link')).toBe(`<${next}>; rel="next"`);
  expect(answerOf(await read('?user_id=999999999'))).toEqual(granted({ usage: [], next: null }));
});

describe('pages of totals', () => {
  test.each([1, 2, 3, 1000])(
    'with a limit of %i contain each business once, ordered by id, and each page covers one database',
    async (limit) => {
      const pages = await pagesOf(`from=2026-03-01&to=2026-03-31&limit=${limit}`);
      expect(pages.flatMap(({ usage }) => usage)).toEqual(totals(432, 0));
      for (const { usage } of pages) {
        expect(usage.length).toBeLessThanOrEqual(limit);
        expect(new Set(usage.map(databaseOf)).size).toBeLessThanOrEqual(1);
      }
      expect(pages.length).toBeLessThanOrEqual(Math.ceil(made.length / limit) + homes.length);
    },
  );

  test('continue after any id, even if no business has that id', async () => {
    const last = made.at(-1)?.id ?? 0;
    const gone = [last, last + 1, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER];
    for (const after of [...gone, 61_000_000_001, 62_000_000_001]) {
      const { status, body } = await read(`?after=${after}`);
      expect({ status, body }).toEqual(granted({ usage: [], next: null }));
    }
  });

  test('get 503 instead of being skipped if their database is down', async () => {
    for (const down of homes) {
      const bindings = failingWith('D1_ERROR: Network connection lost.', 'before', down);
      for (const { number } of homes) {
        const { status } = await read(number === 0 ? '' : `?after=${number * 1e9}`, { bindings });
        expect({ number, status }).toEqual({ number, status: number === down.number ? 503 : 200 });
      }
    }
  });

  test.each(['0', '1001', '-1', '1.5', 'all'])('cannot have a limit of %s', async (limit) => {
    const { status, body } = await read(`?limit=${limit}`);
    const message = 'limit must be a whole number from 1 to 1000';
    expect({ status, body }).toEqual(invalid('limit', message));
  });
});

describe('a page as CSV', () => {
  const csv = { Accept: 'text/csv' };

  test('is a download with a filename and the same rows as JSON', async () => {
    const { body } = await read('?from=2026-03-01&to=2026-03-31');
    const file = await read('?from=2026-03-01&to=2026-03-31', { headers: csv });
    const rows = body.data.usage.map(
      ({ business_id, user_id, name, count }: Total) => `${business_id},${user_id},${name},${count}\r\n`,
    );
    expect({ status: file.status, text: file.text }).toEqual({
      status: 200,
      text: `business_id,user_id,name,count\r\n${rows.join('')}`,
    });
    expect(file.headers.get('Content-Type')).toBe('text/csv');
    expect(file.headers.get('Content-Disposition')).toBe('attachment; filename="usage-2026-03-01-2026-03-31.csv"');
    expect(file.headers.get('Vary')).toBe('Accept');
  });

  test('links to the next page for the same range, even on a later day', async () => {
    const rows: string[] = [];
    const names = new Set<string>();
    let path: string | undefined = `${PATH}?limit=1`;
    for (let day = 0; path !== undefined; day++) {
      const at = later(day * 86_400_000);
      const { text, headers } = await call('GET', path, { as, headers: csv, at });
      const [header, ...page] = text.trimEnd().split('\r\n');
      expect(header).toBe('business_id,user_id,name,count');
      rows.push(...page);
      names.add(headers.get('Content-Disposition') ?? '');
      const link = headers.get('Link');
      path = link === null ? undefined : /^<https:\/\/service\.example(\/.*)>; rel="next"$/.exec(link)?.[1];
      if (link !== null) expect(path).toContain(`?from=${addDays(TODAY, -29)}&to=${TODAY}&limit=1&after=`);
      expect(names.size).toBe(day + 1);
    }
    expect(rows).toEqual(totals(1032, 0).map((total) => Object.values(total).join(',')));
  });

  test('is JSON if the request is refused', async () => {
    const { status, headers } = await read('?from=x', { headers: csv });
    expect({ status, type: headers.get('Content-Type') }).toEqual({ status: 422, type: 'application/json' });
  });
});

describe('with ten thousand businesses', { tags: 'slow' }, () => {
  const PER_DATABASE = Math.ceil(10_000 / homes.length);
  const [FROM, TO] = ['2026-02-01', '2026-02-28'];

  beforeAll(async () => {
    const numbers = (last: number) =>
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${last})`;
    const stamp = "'2026-01-01T00:00:00.000000Z'";
    for (const { d1, number } of homes) {
      await d1
        .prepare(
          `insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
          ${numbers(PER_DATABASE)} select 1000000 + i / 3, 'Acme', 'acme.example', 'https://acme.example', 1, 'small',
            printf('token-of-${number}-%030d', i), case i % 10 when 0 then 'closed' else 'active' end, ${stamp}, ${stamp} from n`,
        )
        .run();
      // 60 days with gaps. Some are before the range, some in it, and some after it. Some businesses have no uses.
      const days = `insert into daily_usage (business_id, day, count) ${numbers(60)} select id, date('2026-03-15', '-' || i || ' days'), (id * 7 + i) % 90 + 1
        from businesses, n where user_id >= 1000000 and id % 11 > 0 and (id + i) % 3 > 0 and id between ? and ? + 499`;
      const first = number * 1e9 + 1;
      for (let id = first; id < first + PER_DATABASE + 500; id += 500) await d1.prepare(days).bind(id, id).run();
    }
  }, 120_000);

  test('the pages of totals contain each business once, add up to the stored uses, and agree with the usage reports', async () => {
    const pages = await pagesOf(`from=${FROM}&to=${TO}`);
    const usage = pages.flatMap((page) => page.usage);
    const ofDatabases = await Promise.all(
      homes.map(async ({ d1 }) => {
        const ids = await d1.prepare('select id from businesses order by id').all<{ id: number }>();
        const counted = await d1
          .prepare('select count(*) as days, sum(count) as uses from daily_usage where day between ? and ?')
          .bind(FROM, TO)
          .first<{ days: number; uses: number }>();
        return { ids: ids.results.map(({ id }) => id), days: counted?.days ?? 0, uses: counted?.uses ?? 0 };
      }),
    );
    expect(usage.map(({ business_id }) => business_id)).toEqual(ofDatabases.flatMap(({ ids }) => ids));
    expect(usage.length).toBeGreaterThanOrEqual(10_000);
    const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
    expect(sum(usage.map(({ count }) => count))).toBe(sum(ofDatabases.map(({ uses }) => uses)));
    expect(pages.length).toBe(sum(ofDatabases.map(({ ids }) => Math.ceil(ids.length / 1000))));

    for (const { business_id, count } of usage.filter((_, index) => index % 173 === 0)) {
      const path = `/api/v1/business/usage/${business_id}?from=${FROM}&to=${TO}`;
      const { used } = (await call('GET', path, { as })).body.data;
      expect({ business_id, count }).toEqual({
        business_id,
        count: sum(used.map((day: { count: number }) => day.count)),
      });
    }

    // The query reads the counted days, two rows per business and two per page, and no other stored row.
    const rowsRead = sum(pages.map(({ rows_read }) => rows_read));
    expect(rowsRead).toBeLessThanOrEqual(
      sum(ofDatabases.map(({ days }) => days)) + 2 * usage.length + 2 * pages.length,
    );
  });
});
