// Writes the invoices (docs/product.md). Run it a few minutes after each midnight (UTC). Replace the price.
// For Stripe, send a meter event for a row with units above 0, and issue a credit note for a row below 0. Store each identifier that you
// sent, because Stripe rejects duplicates only within a day: business_id, starts_on and kind, joined by "-". payload[value] is units, and
// payload[stripe_customer_id] your Stripe customer for user_id. The timestamp of a month row is the end of ends_on, and otherwise now,
// because Stripe accepts events of the last 35 days.
import { DatabaseSync } from 'node:sqlite';

const { API, READ_KEY, DATABASE = 'product.db' } = process.env;
if (!API || !READ_KEY) throw new Error('Set API and READ_KEY');

/** The price in cents of each use beyond those that a month includes: its limit and extra or, without a limit, this number. */
const [INCLUDED, PRICE] = [1000, 2];
/** A month's count is final 41 days after the month ends, which is 40 nights after the night that bills it. */
const NIGHTS_UNTIL_FINAL = 40;

const db = new DatabaseSync(DATABASE);
db.exec(`
  pragma busy_timeout = 5000;
  create table if not exists nights (day text primary key) strict;
  create table if not exists invoices (
    business_id integer, starts_on text, kind text check (kind in ('month', 'late')), ends_on text,
    user_id integer, count integer, included integer, price integer, units integer,
    amount integer as (units * price), primary key (business_id, starts_on, kind)
  ) strict;
`);

const dayAfter = (day, days = 1) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

/** Reads all pages of the billing months that ended on a day. */
async function monthsEnded(day) {
  const months = [];
  for (let after = ''; after !== null; ) {
    const headers = { Authorization: `Bearer ${READ_KEY}` };
    const signal = AbortSignal.timeout(11_000); // the service waits up to 10 seconds for its database
    const response = await fetch(`${API}/usage?ended=${day}${after}`, { headers, signal });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const { usage, next } = (await response.json()).data;
    months.push(...usage);
    after = next && `&after=${next}`;
  }
  return months;
}

/** Writes a row for what has not been billed of a month. Below 0, it is a credit. */
function bill(kind, { business_id, starts_on, ends_on, user_id, count, monthly_limit, extra }) {
  // A month keeps the terms of its first row, even if the price changes later.
  const before = db
    .prepare(`select coalesce(sum(count), 0) as count, coalesce(sum(units), 0) as units,
      coalesce(max(included), ?) as included, coalesce(max(price), ${PRICE}) as price
      from invoices where business_id = ? and starts_on = ?`)
    .get((monthly_limit ?? INCLUDED) + extra, business_id, starts_on);
  if (kind === 'late' && count === before.count) return;
  const units = Math.max(count - before.included, 0) - before.units;
  const values = [ends_on, user_id, count - before.count, before.included, before.price, units];
  const insert = db.prepare('insert into invoices values (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  insert.run(business_id, starts_on, kind, ...values);
}

/** Bills the months that ended on `day`, and settles those that have become final since. */
async function billNight(day, firstNight) {
  const ended = await monthsEnded(day);
  const settled = dayAfter(day, -NIGHTS_UNTIL_FINAL);
  const final = settled < firstNight ? [] : await monthsEnded(settled); // earlier months were not billed here
  if (!final.every((month) => month.final)) throw new Error('The clocks differ: run this again later');
  db.exec('begin immediate');
  try {
    db.prepare('insert into nights values (?)').run(day); // fails if another process has billed this night
    for (const month of ended) bill('month', month);
    for (const month of final) bill('late', month);
    db.exec('commit');
  } catch (error) {
    db.exec('rollback');
    throw error;
  }
}

const today = process.argv[2] ?? new Date().toISOString().slice(0, 10);
const { first, last } = db.prepare('select min(day) as first, max(day) as last from nights').get();
for (let day = last ? dayAfter(last) : dayAfter(today, -1); day < today; day = dayAfter(day))
  await billNight(day, first ?? day);
