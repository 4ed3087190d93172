// Two bundles of the service, the new one beside the old one, on one database.
import { dayAgo } from './calls.ts';
import { fill } from './data.ts';
import { type Duel, type Effort, measure, type Outcome, type Progress } from './duel.ts';
import { DATABASE, ROWS, SIZE } from './floors.ts';
import { OWN_ROWS, type OwnTime, ownDuel, ownTimeOf } from './own.ts';
import { type Contender, open } from './stage.ts';

/** A row of calls that have an address, as every call from the internet has, and that the service counts and logs as it does there. */
const asDeployed = ({ name, call, bare }: (typeof OWN_ROWS)[number]) => ({
  name: `${name}, with rate limits and log line`,
  call: { ...call, headers: { ...call.headers, 'CF-Connecting-IP': '192.0.2.1' } },
  bare,
});

export async function compareWith(
  oldCode: string,
  newCode: string,
  how: Effort,
  progress: Progress,
): Promise<{ rows: Outcome[]; own: OwnTime[] }> {
  const contenders = Object.entries({ old: oldCode, new: newCode }).flatMap(([name, text]): Contender[] => {
    const service = { name, code: { text }, databases: [DATABASE] };
    const repeated: Contender = { ...service, name: `${name}Repeated`, around: 'repeated' };
    return [service, repeated, { ...repeated, name: `${name}Deployed`, isDeployed: true }];
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
    const ownDuels = own.flatMap((row) => [
      ownDuel(row, 'newRepeated', 'oldRepeated'),
      ownDuel(asDeployed(row), 'newDeployed', 'oldDeployed'),
    ]);
    const outcomes = await measure(stage, [...rows, ...ownDuels], how, progress);
    return { rows: outcomes.slice(0, rows.length), own: outcomes.slice(rows.length).map(ownTimeOf) };
  } finally {
    await stage.dispose();
  }
}
