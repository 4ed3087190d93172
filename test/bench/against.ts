// Two bundles of the service, the new one beside the old one, on one database.
import { dayAgo } from './calls.ts';
import { fill } from './data.ts';
import { type Duel, type Effort, measure, type Outcome, type Progress } from './duel.ts';
import { DATABASE, ROWS, SIZE } from './floors.ts';
import { OWN_ROWS, type OwnTime, ownDuel, ownTimeOf } from './own.ts';
import { type Contender, open } from './stage.ts';

export async function compareWith(
  oldCode: string,
  newCode: string,
  how: Effort,
  progress: Progress,
): Promise<{ rows: Outcome[]; own: OwnTime[] }> {
  const contenders = Object.entries({ old: oldCode, new: newCode }).flatMap(([name, text]): Contender[] => {
    const service = { name, code: { text }, databases: [DATABASE] };
    return [service, { ...service, name: `${name}Repeated`, around: 'repeated' }];
  });
  const stage = await open(contenders);
  try {
    progress('filling the database');
    await fill(await stage.database(DATABASE), SIZE, dayAgo(0));
    const rows = ROWS.map(({ name, call, status }): Duel => {
      const both = { call, status, span: how.span };
      return { name, side: { ...both, contender: 'new' }, against: { ...both, contender: 'old' } };
    }).filter(({ name }) => name.includes(how.only));
    const own = OWN_ROWS.filter(({ name }) => name.includes(how.only));
    const ownDuels = own.map((row) => ownDuel(row, 'newRepeated', 'oldRepeated'));
    const outcomes = await measure(stage, [...rows, ...ownDuels], how, progress);
    return { rows: outcomes.slice(0, rows.length), own: outcomes.slice(rows.length).map(ownTimeOf) };
  } finally {
    await stage.dispose();
  }
}
