// What the operator's commands do to the database: a history, a look at an origin, a token that is replaced.
import { drizzle } from 'drizzle-orm/d1';
import { describe, expect, test } from 'vitest';
import { checkOrigin } from '../src/cli/access.ts';
import { rotateToken, stopFormerTokens } from '../src/cli/businesses.ts';
import { importHistory, readHistory } from '../src/cli/history.ts';
import { addDays } from '../src/core/time.ts';
import { noCost } from '../src/db/batch.ts';
import { purge } from '../src/db/purge.ts';
import { call, counted, everything, NOW, newBusiness, setCount, TODAY } from './support.ts';

describe('a history', () => {
  test('is read line by line, with or without a heading, a mark or a last line end', () => {
    const days = [
      { day: '2026-01-01', count: 5 },
      { day: '2026-01-02', count: 0 },
    ];
    for (const [csv, first] of [
      ['date,count\n2026-01-01,5\n2026-01-02,0\n', 2],
      ['\uFEFFdate,count\r\n2026-01-01,5\r\n2026-01-02,0', 2],
      ['2026-01-01,5\n2026-01-02,0', 1],
    ] as const) {
      const lines = days.map((day, index) => ({ line: first + index, ...day }));
      expect(readHistory(csv, TODAY)).toEqual({ days: lines, mistakes: [] });
    }
  });

  const RULE = 'must be a day and a count, such as 2026-01-31,120';
  test.each([
    ['2026-02-30,5', `line 1 ${RULE}`],
    ['2026-01-01,5\n2026-01-02', `line 2 ${RULE}`],
    ['2026-01-01,5\n\n2026-01-02,5', `line 2 ${RULE}`],
    ['2026-01-01,5,6', `line 1 ${RULE}`],
    ['2026-01-01,-5', `line 1 ${RULE}`],
    ['2026-01-01,1.5', `line 1 ${RULE}`],
    ['2026-01-01,1e3', `line 1 ${RULE}`],
    ['2026-01-01,', `line 1 ${RULE}`],
    ['2026-01-01;5', `line 1 ${RULE}`],
    [' 2026-01-01,5', `line 1 ${RULE}`],
    ['2026-01-01,9999999999999999', `line 1 ${RULE}`],
    ['date,count\ndate,count', `line 2 ${RULE}`],
    [`${TODAY},5`, `line 1 must be a day before today (${TODAY}, UTC)`],
    ['2027-01-01,5', `line 1 must be a day before today (${TODAY}, UTC)`],
    ['2026-01-01,5\n2026-01-02,5\n2026-01-01,6', 'line 3 repeats the day of line 1'],
    ['', 'the file is empty; it needs lines such as 2026-01-31,120'],
    ['date,count\n', 'the file is empty; it needs lines such as 2026-01-31,120'],
  ])('of %j is refused with its line', (csv, message) => {
    expect(readHistory(csv, TODAY).mistakes.map(({ text }) => text)).toEqual([message]);
  });

  const stored = async (business: Awaited<ReturnType<typeof newBusiness>>) => {
    const { body } = await call('GET', `${business.usage}?from=2026-01-01&to=2026-01-03`, { as: business.key });
    return body.data.used.map(({ count }: { count: number }) => count);
  };

  test('is what the report shows then', async () => {
    const business = await newBusiness();
    const history = readHistory('2026-01-01,5\n2026-01-02,0\n2026-01-03,7', TODAY);
    const imported = await importHistory(business.db, business.id, history, false, NOW);
    expect(JSON.stringify(imported)).toBe('{"days":3,"uses":12}');
    expect(await stored(business)).toEqual([5, 0, 7]);
  });

  test('is all or nothing: a day that has a count already is refused, unless it is to be replaced', async () => {
    const business = await newBusiness();
    await setCount(business.id, '2026-01-02', 9);
    const history = readHistory('date,count\n2026-01-01,5\n2026-01-02,0\n2026-01-03,7', TODAY);
    const before = await everything();
    await expect(importHistory(business.db, business.id, history, false, NOW)).rejects.toThrow(
      'line 3: 2026-01-02 already has a count; use --replace to overwrite it',
    );
    expect(await everything()).toBe(before);
    await importHistory(business.db, business.id, history, true, NOW);
    expect(await stored(business)).toEqual([5, 0, 7]);
  });

  test('names all its mistakes by line: those of the file, and the days that have a count', async () => {
    const business = await newBusiness();
    for (const day of ['2026-01-02', '2026-01-05']) await setCount(business.id, day, 9);
    const history = readHistory('2026-01-05,1\nx\n2026-01-02,5\n2026-01-05,2\n2026-01-03,1', TODAY);
    const before = await everything();
    const taken = (line: number, day: string) =>
      `line ${line}: ${day} already has a count; use --replace to overwrite it`;
    const wrong = ['line 2 must be a day and a count, such as 2026-01-31,120', 'line 4 repeats the day of line 1'];
    const all = [taken(1, '2026-01-05'), wrong[0], taken(3, '2026-01-02'), wrong[1]].join('\n');
    await expect(importHistory(business.db, business.id, history, false, NOW)).rejects.toThrow(new Error(all));
    await expect(importHistory(business.db, business.id, history, true, NOW)).rejects.toThrow(
      new Error(wrong.join('\n')),
    );
    expect(await everything()).toBe(before);
  });

  /** So many days from 1971 on, each with this count. */
  const historyOf = (days: number, count: number) =>
    readHistory(
      Array.from({ length: days }, (_, index) => `${addDays('1971-01-01', index)},${count}`).join('\n'),
      TODAY,
    );

  test('of twenty years is one round trip', async () => {
    const business = await newBusiness();
    const cost = noCost();
    const counting = drizzle(counted(business.home.d1, cost));
    const imported = await importHistory(counting, business.id, historyOf(7300, 3), false, NOW);
    expect(JSON.stringify(imported)).toBe('{"days":7300,"uses":21900}');
    expect(cost.round_trips).toBe(1);
  });

  test.each([
    [3, 1_000_000_000, '3000000000'],
    [11, 999_999_999_999_999, '10999999999999989'], // a number of JavaScript would be rounded
    [9224, 999_999_999_999_999, '9223999999999990776'], // an integer of SQLite overflows
    [20_000, 999_999_999_999_999, '19999999999999980000'],
  ])('of %i days of %i is replaced, and its total is exact to the last digit', async (days, count, uses) => {
    const { db, id, home } = await newBusiness();
    const stored = `{"days":${days},"uses":${uses}}`;
    expect(JSON.stringify(await importHistory(db, id, historyOf(days, count), false, NOW))).toBe(stored);
    const replaced = await importHistory(db, id, historyOf(days, 2), true, NOW);
    expect(JSON.stringify(replaced)).toBe(`{"days":${days},"uses":${2 * days}}`);
    const changes = home.d1
      .prepare("select before, after from changes where subject = 'business' and subject_id = ? order by id desc")
      .bind(id);
    expect((await changes.all()).results).toEqual([
      { before: stored, after: JSON.stringify(replaced) },
      { before: null, after: stored },
    ]);
    const counts = home.d1.prepare('select sum(count) as sum, count(*) as days from daily_usage where business_id = ?');
    expect(await counts.bind(id).first()).toEqual({ sum: 2 * days, days });
  });
});

describe('access check', () => {
  test('tells whether an origin would pass, and by which entry', async () => {
    const business = await newBusiness({ sites: ['https://*.example.com', 'https://shop.example'] });
    const { usage, token } = business;
    for (const [origin, site] of [
      ['https://shop.example', 'https://shop.example'],
      ['https://a.b.example.com', 'https://*.example.com'],
      ['https://example.com', null],
      ['https://*.example.com', null],
      ['null', null],
    ] as const) {
      expect(await checkOrigin(business.db, business, origin, NOW)).toEqual({ allowed: site !== null, site });
      const { status } = await call('GET', usage, { as: token, origin });
      expect(status).toBe(site === null ? 403 : 200);
    }
    const open = await newBusiness();
    expect(await checkOrigin(open.db, open, 'https://anywhere.example', NOW)).toEqual({ allowed: true, site: null });
    const suspended = await newBusiness({ sites: ['https://shop.example'], status: 'suspended' });
    expect(await checkOrigin(suspended.db, suspended, 'https://shop.example', NOW)).toEqual({
      allowed: false,
      site: 'https://shop.example',
    });
  });
});

describe('a token that is replaced', () => {
  const HOUR = 3_600_000;
  const later = (hours: number) => new Date(NOW.getTime() + hours * HOUR);
  type Business = Awaited<ReturnType<typeof newBusiness>>;
  const status = async (business: Business, as: string, hours: number) =>
    (await call('GET', business.usage, { as, at: later(hours) })).status;

  test('is refused at once', async () => {
    const business = await newBusiness();
    const rotated = await rotateToken(business.home, business.id, NOW);
    expect(await status(business, business.token, 0)).toBe(401);
    expect(await status(business, rotated?.token ?? '', 0)).toBe(200);
  });

  test('is accepted for the time it is kept, and not after it', async () => {
    const business = await newBusiness();
    const rotated = await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    expect(await status(business, business.token, 23)).toBe(200);
    expect(await status(business, rotated?.token ?? '', 23)).toBe(200);
    expect(await status(business, business.token, 24)).toBe(401);
    expect(await status(business, rotated?.token ?? '', 24)).toBe(200);
  });

  test('is refused at once when the operator stops former tokens, once, and the present one stays', async () => {
    const business = await newBusiness();
    const rotated = await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    for (let times = 2; times > 0; times--) {
      await stopFormerTokens(business.home, business.id, NOW);
      expect(await status(business, business.token, 0)).toBe(401);
      expect(await status(business, rotated?.token ?? '', 0)).toBe(200);
    }
    const { body } = await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key });
    const made = body.data.changes.map(({ action, actor }: { action: string; actor: string }) => [action, actor]);
    expect(made.slice(0, 2)).toEqual([
      ['stop_former_tokens', 'operator'],
      ['rotate_token', 'operator'],
    ]);
  });

  test('stays restricted to the registered sites while it is kept, and to its own business', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const other = await newBusiness();
    await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    const visit = async (origin: string) => (await call('GET', business.usage, { as: business.token, origin })).status;
    expect(await visit('https://shop.example')).toBe(200);
    expect(await visit('https://evil.example')).toBe(403);
    expect((await call('GET', other.usage, { as: business.token, origin: 'https://shop.example' })).status).toBe(422);
  });

  test('cannot be imported again, by whomever, neither while it is kept nor afterwards', async () => {
    const token = 'Imported-Token-of-Somebody';
    const business = await newBusiness({ token });
    await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    await expect(newBusiness({ token })).rejects.toThrow('token must be one that no business has or had');
    expect(await status(business, token, 1)).toBe(200);
    await purge(business.db, later(25));
    await expect(newBusiness({ token })).rejects.toThrow('token must be one that no business has or had');
  });

  test('is refused at once, kept or not, when the next one is replaced without keeping it', async () => {
    const business = await newBusiness();
    const second = await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    await rotateToken(business.home, business.id, NOW);
    expect(await status(business, business.token, 1)).toBe(401);
    expect(await status(business, second?.token ?? '', 1)).toBe(401);
  });
});
