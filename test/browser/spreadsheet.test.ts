// A report as CSV in a real spreadsheet program: LibreOffice (Debian: apt-get install libreoffice-calc-nogui).
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dailyUsage } from '../../src/db/schema.ts';
import { createBusiness } from '../ask.ts';
import { withDatabases } from '../node/local.ts';
import { startService } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';

const { SOFFICE = 'soffice' } = process.env;
const isInstalled = spawnSync(SOFFICE, ['--version']).status === 0;

type Cell = { type: string; value: string; formula: boolean };

/** The cells of a CSV file as LibreOffice opens it, by row. */
function cellsOf(csv: string): Cell[][] {
  const folder = newFolder();
  writeFileSync(join(folder, 'report.csv'), csv);
  const profile = `-env:UserInstallation=file://${folder}/profile`;
  const convert = ['--headless', profile, '--convert-to', 'fods', '--outdir', folder, join(folder, 'report.csv')];
  execFileSync(SOFFICE, convert, { stdio: 'pipe' });
  const sheet = readFileSync(join(folder, 'report.fods'), 'utf8');
  const rows = sheet.match(/<table:table-row.*?<\/table:table-row>/gs) ?? [];
  return rows.map((row) =>
    Array.from(row.matchAll(/<table:table-cell ([^>]*office:value-type="(\w+)"[^>]*)>\s*(?:<text:p>([^<]*))?/g)).map(
      ([, attributes = '', type = '', text = '']) => ({
        type,
        value: /office:(?:date-)?value="([^"]*)"/.exec(attributes)?.[1] ?? text,
        formula: attributes.includes('table:formula'),
      }),
    ),
  );
}

test.skipIf(!isInstalled)(
  'a report opens with a date and a number in each row, and no formula',
  { timeout: 120_000 },
  async () => {
    const state = newDatabase();
    const business = await withDatabases({ 'persist-to': state }, async ({ first }) => {
      const fields = { user_id: 7, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
      const made = await createBusiness(first, { ...fields, country_id: 1, business_size: 'small' }, new Date());
      const days = [
        { day: '2026-01-30', count: 1_000_000_000_000 },
        { day: '2026-02-01', count: 7 },
      ];
      await first.db.insert(dailyUsage).values(days.map((day) => ({ business_id: made.id, ...day })));
      return made;
    });
    const service = await startService(state);
    try {
      const report = `${service.url}/api/v1/business/usage/${business.id}?from=2026-01-30&to=2026-02-01`;
      const headers = { Authorization: `Bearer ${business.token}`, Accept: 'text/csv' };
      const csv = await (await fetch(report, { headers })).text();
      const text = (value: string): Cell => ({ type: 'string', value, formula: false });
      const day = (value: string): Cell => ({ type: 'date', value, formula: false });
      const count = (value: string): Cell => ({ type: 'float', value, formula: false });
      expect(cellsOf(csv)).toEqual([
        [text('date'), text('count')],
        [day('2026-01-30'), count('1000000000000')],
        [day('2026-01-31'), count('0')],
        [day('2026-02-01'), count('7')],
      ]);
      // What no cell of a report may be: the check finds it in this file.
      expect(
        cellsOf('date,count\r\n2026-01-30,=1+1\r\n')
          .flat()
          .some(({ formula }) => formula),
      ).toBe(true);
    } finally {
      await service.stop();
    }
  },
);
