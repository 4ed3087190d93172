// The usage report (docs/api.md, "Usage report").
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, invalid } from './answers.ts';
import { call, newBusiness, setCount, TODAY } from './support.ts';

type Entry = { date: string; count: number };

async function report(query: string, counts: Record<string, number> = {}) {
  const business = await newBusiness();
  for (const [day, count] of Object.entries(counts)) await setCount(business.id, day, count);
  return call('GET', business.usage + query, { as: business.token });
}

test('a usage report matches the specification byte for byte', async () => {
  const answer = await report('?from=2026-03-01&to=2026-03-03', { '2026-03-02': 5 });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('Content-Type')).toBe('application/json');
  expect(answer.text).toBe(
    '{"status":true,"data":{"used":[{"date":"2026-03-01","count":0},{"date":"2026-03-02","count":5},{"date":"2026-03-03","count":0}]}}',
  );
});

describe('the range of a usage report', () => {
  test.each([
    ['30 days up to today', '', '2026-02-14', TODAY],
    ['30 days up to `to`', '?to=2024-03-01', '2024-02-01', '2024-03-01'],
    ['`from` up to today', '?from=2026-03-10', '2026-03-10', TODAY],
    ['one day', '?from=2026-03-01&to=2026-03-01', '2026-03-01', '2026-03-01'],
    ['the days around a leap day', '?from=2024-02-28&to=2024-03-01', '2024-02-28', '2024-03-01'],
    ['the end of February 2100, which has no leap day', '?from=2100-02-28&to=2100-03-01', '2100-02-28', '2100-03-01'],
    ['the days around a year end', '?from=2025-12-31&to=2026-01-01', '2025-12-31', '2026-01-01'],
    ['366 days of a leap year', '?from=2024-01-01&to=2024-12-31', '2024-01-01', '2024-12-31'],
    ['1,830 days, which cover five years', '?from=2022-01-01&to=2027-01-04', '2022-01-01', '2027-01-04'],
    ['days in the future', '?from=2027-01-01&to=2027-01-02', '2027-01-01', '2027-01-02'],
    ['the first valid day', '?from=1970-01-01&to=1970-01-01', '1970-01-01', '1970-01-01'],
    ['the last valid day', '?from=9999-12-31&to=9999-12-31', '9999-12-31', '9999-12-31'],
  ])('can be %s', async (_, query, from, to) => {
    const { status, body } = await report(query);
    expect(status).toBe(200);
    const dates = body.data.used.map(({ date }: Entry) => date);
    expect(dates[0]).toBe(from);
    expect(dates.at(-1)).toBe(to);
    for (const [index, date] of dates.entries()) expect(date).toBe(addDays(from, index));
    expect(dates).toHaveLength((Date.parse(to) - Date.parse(from)) / 86_400_000 + 1);
  });

  const RULE = 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD';
  test.each([
    ...['2026-02-30', '2026-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '2026-04-31', '0000-01-01', '1969-12-31'],
    ...['', '2026', '2026-1-1', '2026-01-1', '26-01-01', '2026/01/01', '01-01-2026', '20260101', 'today', 'null', '-1'],
    ...['2026-01-01T00:00:00Z', '2026-01-01 ', ' 2026-01-01', '2026-01-01%00', '+2026-01-01', '-2026-01-01'],
    ...['10000-01-01'],
    ...['+012026-01-01', '２０２６-01-01', '2026–01–01', '2026-01-01%0A', "2026-01-01'--", '1e3', '%', '2026-W01-1'],
    ...['2026-001'],
  ])('cannot begin or end with %j', async (day) => {
    const sent = encodeURIComponent(decodeURIComponent(day === '%' ? '%25' : day));
    for (const field of ['from', 'to']) {
      expect(answerOf(await report(`?${field}=${sent}`))).toEqual(invalid(field, `${field} ${RULE}`));
    }
  });

  test.each([
    ['from', '?from=2026-03-02&to=2026-03-01', 'from must not be after to (2026-03-01)'],
    ['from', '?from=2026-03-16', 'from must not be after to (2026-03-15, today)'],
    ['from', '?from=2021-03-11', 'from must be at most 1829 days before to (2026-03-15, today)'],
    ['from', '?from=2022-01-01&to=2027-01-05', 'from must be at most 1829 days before to (2027-01-05)'],
    ['from', '?from=1970-01-01&to=9999-12-31', 'from must be at most 1829 days before to (9999-12-31)'],
    ['from', '?from=2026-03-01&from=2026-03-02', `from ${RULE}, and must appear only once`],
    ['to', '?to=2026-03-01&to=2026-03-01', `to ${RULE}, and must appear only once`],
  ])('is refused with an error for %s: %s', async (field, query, message) => {
    expect(answerOf(await report(query))).toEqual(invalid(field, message));
  });

  test.each([
    ['form', '?form=2026-03-01'],
    ['FROM', '?from=2026-03-01&FROM=2026-03-01'],
    ['tom', '?from=2026-03-01&tom'],
    ['api_key', '?api_key=secret'],
    ['__proto__', '?__proto__=1'],
    ['n'.repeat(64), `?${'n'.repeat(65)}=1`],
    ['7', '?7=2'],
    ['""', '?=1'],
  ])('is refused if the query contains %s, and the message names that parameter', async (name, query) => {
    const message = `${name} is not a parameter of this report, which accepts from, to, by, and source`;
    const { status, text } = await report(query);
    expect({ status, text }).toEqual({ status, text: JSON.stringify(invalid(name, message).body) });
    expect(status).toBe(422);
  });
});

describe('the CSV format', () => {
  test.each([
    ['text/csv', true],
    ['TEXT/CSV; charset=utf-8', true],
    ['text/*', true],
    ['text/csv, */*;q=0.1', true],
    ['text/csv;q=0.9, application/json;q=0.8', true],
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['application/json, text/csv', false],
    ['*/*, text/csv', false],
    ['text/csv;q=0.5, application/json', false],
    ['text/csv;q=0', false],
    ['text/csv;q=0, text/*', false],
    ['text/*;q=0.9, application/json;q=0.8, text/csv;q=0.1', false],
    ['text/*;q=0.5, application/json;q=0.4', true],
    ['application/*;q=0.5, text/csv;q=0.4', false],
    ['*/*, application/json;q=0.1, text/csv;q=0.5', true],
    ['text/csv;q=0.5, */*;q=0.5', true],
    ['image/png', false],
  ])('depends on the header Accept: %s → %s', async (accept, csv) => {
    const business = await newBusiness();
    await setCount(business.id, '2026-03-02', 7);
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    const answer = await call('GET', `${business.usage}?from=2026-03-01&to=2026-03-02`, { as: business.key, headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Vary')).toBe('Accept');
    expect(answer.headers.get('Content-Type')).toBe(csv ? 'text/csv' : 'application/json');
    const name = `usage-${business.id}-2026-03-01-2026-03-02.csv`;
    expect(answer.headers.get('Content-Disposition')).toBe(csv ? `attachment; filename="${name}"` : null);
    if (csv) expect(answer.text).toBe('date,count\r\n2026-03-01,0\r\n2026-03-02,7\r\n');
  });

  test('does not apply to refusals, which are always JSON', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const headers = { Accept: 'text/csv' };
    for (const [query, options, status] of [
      ['', { as: business.token, origin: 'https://evil.example' }, 403],
      ['?from=x', { as: business.key }, 422],
      ['', {}, 401],
    ] as const) {
      const answer = await call('GET', business.usage + query, { ...options, headers });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('Content-Type')).toBe('application/json');
    }
  });
});

test('a usage report ends on the UTC day on which the request began', async () => {
  const business = await newBusiness();
  for (const [at, day] of [
    ['2026-12-31T23:59:59.999Z', '2026-12-31'],
    ['2027-01-01T00:00:00.000Z', '2027-01-01'],
  ] as const) {
    const { body } = await call('GET', business.usage, { as: business.token, at: new Date(at) });
    expect(body.data.used.at(-1).date).toBe(day);
  }
});
