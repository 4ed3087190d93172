// The formats and hostile input of the usage report (docs/api.md, "Usage report"). The simulator (test/sim) checks its days and counts.
import { describe, expect, test } from 'vitest';
import { answerOf, invalid } from './answers.ts';
import { call, newBusiness, setCount } from './support.ts';

describe('a usage report', () => {
  const RULE = 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD';
  test('cannot begin or end with what is not a date', async () => {
    const { usage, token } = await newBusiness();
    for (const day of [
      ...['2026-02-30', '2026-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '0000-01-01', '1969-12-31'],
      ...[
        '',
        '2026',
        '2026-1-1',
        '26-01-01',
        '2026/01/01',
        '01-01-2026',
        '20260101',
        'today',
        'null',
        '-1',
        '1e3',
        '%',
      ],
      ...['2026-01-01T00:00:00Z', '2026-01-01 ', ' 2026-01-01', '2026-01-01\0', '2026-01-01\n', '+2026-01-01'],
      ...['-2026-01-01', '10000-01-01', '+012026-01-01', '２０２６-01-01', '2026–01–01', "2026-01-01'--", '2026-W01-1'],
    ])
      for (const field of ['from', 'to']) {
        const answer = await call('GET', `${usage}?${field}=${encodeURIComponent(day)}`, { as: token });
        expect(answerOf(answer)).toEqual(invalid(field, `${field} ${RULE}`));
      }
  });

  test('is JSON or CSV, as the header Accept prefers', async () => {
    const { id, usage, key } = await newBusiness();
    await setCount(id, '2026-03-02', 7);
    const json = '{"status":true,"data":{"used":[{"date":"2026-03-01","count":0},{"date":"2026-03-02","count":7}]}}';
    for (const [accept, isCsv] of [
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
    ] as const) {
      const headers = accept === undefined ? {} : { Accept: accept };
      const answer = await call('GET', `${usage}?from=2026-03-01&to=2026-03-02`, { as: key, headers });
      const of = (name: string) => answer.headers.get(name);
      expect([accept, answer.status, of('Vary'), of('Content-Type'), of('Content-Disposition'), answer.text]).toEqual(
        isCsv
          ? [
              ...[accept, 200, 'Accept', 'text/csv', `attachment; filename="usage-${id}-2026-03-01-2026-03-02.csv"`],
              'date,count\r\n2026-03-01,0\r\n2026-03-02,7\r\n',
            ]
          : [accept, 200, 'Accept', 'application/json', null, json],
      );
    }
  });
});
