// Opens a CSV report in LibreOffice (Debian: apt-get install libreoffice-calc-nogui).
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { newFolder } from '../node/state.ts';
import type {} from './owners.ts'; // for the types of the provided values

const { SOFFICE = 'soffice' } = process.env;
const isInstalled = spawnSync(SOFFICE, ['--version']).status === 0;

type Cell = { type: string; value: string; formula: boolean };

/** Returns the cells of a CSV file by row, as LibreOffice reads them. */
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
  'LibreOffice reads a date and a number in each row of a CSV report, and finds no formulas',
  async () => {
    const { url, made } = inject('owners');
    const { id, token } = made.lively;
    const report = `${url}/api/v1/business/usage/${id}?from=2024-05-31&to=2024-06-01`;
    const csv = await (
      await fetch(report, { headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' } })
    ).text();
    const cell = (type: string, value: string): Cell => ({ type, value, formula: false });
    expect(cellsOf(csv)).toEqual([
      [cell('string', 'date'), cell('string', 'count')],
      [cell('date', '2024-05-31'), cell('float', '0')],
      [cell('date', '2024-06-01'), cell('float', '1000000000000')],
    ]);
    // Proves that the check finds a formula.
    const summed = cellsOf('date,count\r\n2026-01-30,=1+1\r\n');
    expect(summed.flat().some(({ formula }) => formula)).toBe(true);
  },
);
