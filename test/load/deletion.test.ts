// A business with a million rows is deleted in steps, also when it is interrupted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBusiness } from '../../src/cli/businesses.ts';
import { withDatabases } from '../../src/cli/open.ts';
import { admin, open, ROOT } from '../cli/support.ts';
import { newDatabase } from '../node/state.ts';

const ROWS = 1_000_000;
const KEPT = 1000;

test('killed with SIGKILL and run again, leaves nothing of the business but one change', async () => {
  const state = newDatabase();
  const fields = {
    user_id: 1,
    main_domain: 'acme.example',
    site: 'https://acme.example',
    country_id: 1,
    business_size: 's',
  };
  const [gone, kept] = await withDatabases({ 'persist-to': state }, async ({ first }) => [
    await createBusiness(first, { ...fields, name: 'Gone' }, new Date()),
    await createBusiness(first, { ...fields, name: 'Kept' }, new Date()),
  ]);
  if (gone === undefined || kept === undefined) throw new Error('no business');
  const fill = (id: number, count: number) => {
    using database = open(state);
    database.exec(`insert into ledger (business_id, digest, day, recorded_on)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      select ${id}, unhex(printf('%032x', i)), '2026-03-15', '2026-03-15' from n`);
    database.exec(`insert into daily_usage values (${id}, '2026-03-15', ${count})`);
  };
  fill(gone.id, ROWS);
  fill(kept.id, KEPT);
  // One connection for the whole test: to close the last one locks the database, which the command opens meanwhile.
  using database = open(state);
  const count = database.prepare('select count(*) as n from ledger where business_id = ?');
  const left = () => Number(count.get(gone.id)?.n);
  const rowsOf = (table: string) => database.prepare(`select * from ${table} order by 1`).all();

  const command = ['business', 'delete', `${gone.id}`, '--confirm', 'Gone', '--persist-to', state];
  const first = spawn(process.execPath, [join(ROOT, 'src/cli/main.ts'), ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const [exit, stderr] = [once(first, 'exit'), text(first.stderr)];
  while (left() === ROWS) {
    const ended = await Promise.race([exit, wait(20)]);
    if (ended !== undefined) throw new Error(`the command ended before it deleted anything: ${await stderr}`);
  }
  process.kill(-(first.pid as number), 'SIGKILL'); // its workerd, too
  await exit;
  const interrupted = left();
  expect(interrupted).toBeGreaterThan(0);
  expect(interrupted).toBeLessThan(ROWS);
  expect(rowsOf('businesses')).toMatchObject([{ id: kept.id }]);

  expect(await admin(...command)).toEqual({
    code: 0,
    stdout: `{"deleted":{"id":${gone.id},"name":"Gone"}}\n`,
    stderr: '',
  });
  expect(left()).toBe(0);
  const ids = (table: string) => [...new Set(rowsOf(table).map(({ business_id }) => business_id))];
  expect(rowsOf('businesses')).toMatchObject([{ id: kept.id, status: 'active', token: kept.token }]);
  for (const table of ['ledger', 'daily_usage']) expect(ids(table)).toEqual([kept.id]);
  expect(rowsOf('ledger')).toHaveLength(KEPT);
  const changes = rowsOf('changes').filter(({ subject_id }) => subject_id === gone.id);
  expect(changes).toMatchObject([{ action: 'delete_business', actor: 'operator', after: null }]);
  expect(rowsOf('retired_tokens')).toEqual([]); // a token of ours cannot be imported
  console.log(`deleted ${ROWS - interrupted} of ${ROWS} ids before the kill`);
}, 240_000);
