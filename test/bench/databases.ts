// The service on three databases beside the service on one: the same owners and the same load, in one workerd.
import { drizzle } from 'drizzle-orm/d1';
import { access, dailyUsage } from '../../src/db/schema.ts';
import { createBusiness } from '../ask.ts';
import type { Bundle } from './bundle.ts';
import { dayAgo, RANGE_DAYS } from './calls.ts';
import { fill, type Size, SMALL } from './data.ts';
import { type Duel, type Effort, measure, type Outcome, type Progress } from './duel.ts';
import type { Call } from './load.ts';
import { open, type Stage } from './stage.ts';

const THREE = ['first', 'second', 'third'];
/** Of each database, beside the owners who are asked about. */
const SIZE: Size = { ...SMALL, businesses: 1000 };
const OWNERS = 24;
const SITE = 'https://acme.example';

type Owned = { path: string; headers: Record<string, string> };

export async function threeBesideOne({ code }: Bundle, how: Effort, progress: Progress): Promise<Outcome[]> {
  const stage = await open([
    { name: 'one', code: { text: code }, databases: ['one'] },
    { name: 'three', code: { text: code }, databases: THREE },
  ]);
  try {
    progress('filling the databases');
    const [three, one] = [await ownersIn(stage, THREE), await ownersIn(stage, ['one'])];
    const record = ({ path, headers }: Owned): Call => ({ method: 'POST', path, headers });
    const report = ({ path, headers }: Owned): Call => {
      return { method: 'GET', path: `${path}?from=${dayAgo(RANGE_DAYS - 1)}&to=${dayAgo(0)}`, headers };
    };
    const duel = (name: string, call: (owned: Owned) => Call): Duel => {
      const both = { status: 200, span: how.span };
      return {
        name: `3 databases: ${name}`,
        side: { ...both, contender: 'three', call: three.map(call) },
        against: { ...both, contender: 'one', call: one.map(call) },
      };
    };
    const duels = [duel('record a use', record), duel(`report, ${RANGE_DAYS} days`, report)];
    return await measure(
      stage,
      duels.filter(({ name }) => name.includes(how.only)),
      how,
      progress,
    );
  } finally {
    await stage.dispose();
  }
}

/** The rows in which three are slower than one, beyond what varies from round to round. */
export const slower = (rows: Outcome[]): string[] =>
  rows.filter(({ ratio }) => ratio.high < 1).map(({ name, ratio }) => `${name}: ${ratio.median.toFixed(2)} of one`);

/** Businesses with a site and counts, in these databases in turn, and what a page of each sends. */
async function ownersIn(stage: Stage, names: string[]): Promise<Owned[]> {
  const homes = await Promise.all(
    names.map(async (name, number) => {
      const d1 = await stage.database(name);
      await fill(d1, SIZE, dayAgo(0));
      return { number, db: drizzle(d1) };
    }),
  );
  const owners: Owned[] = [];
  const now = new Date();
  const stamps = { created_at: now.toISOString(), updated_at: now.toISOString() };
  for (let user = 0; user < OWNERS; user++) {
    const home = homes[user % homes.length] as (typeof homes)[number];
    const fields = { name: 'Acme', main_domain: 'acme.example', site: SITE, country_id: 1, business_size: 'small' };
    const { id, token } = await createBusiness(home, { ...fields, user_id: SIZE.businesses + 1 + user }, now);
    const days = Array.from({ length: RANGE_DAYS }, (_, ago) => ({ business_id: id, day: dayAgo(ago), count: 100 }));
    await home.db.batch([
      home.db.insert(access).values({ business_id: id, site: SITE, ...stamps }),
      home.db.insert(dailyUsage).values(days),
    ]);
    owners.push({
      path: `/api/v1/business/usage/${id}`,
      headers: { Authorization: `Bearer ${token}`, Origin: SITE },
    });
  }
  return owners;
}
