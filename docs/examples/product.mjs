// A product's back end, from sign-up to invoice (docs/product.md). Replace the login, the work, the plans and the prices with your own.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

const { API, OPERATOR_KEY, RECORD_KEY, PAYMENT_SECRET = '', DATABASE = 'product.db', PORT = '3000' } = process.env;
const paymentKey = Buffer.from(PAYMENT_SECRET.replace('whsec_', ''), 'base64');
if (!API || !OPERATOR_KEY || !RECORD_KEY || paymentKey.length < 24) throw new Error('A variable is missing');

/** Beyond the monthly limit, `free` stops, and `pro` costs `price` cents per use. */
const PLANS = {
  free: { price: 0, limits: { monthly_limit: 1000, overage: 0 } },
  pro: { price: 2, limits: { monthly_limit: 10_000, overage: null } },
};
/** The maximum number of uses per job, charged before the work. */
const MOST = 50;

/** Your login. */
const userOf = (request) => Number(request.headers['x-user']);
/** Does the work that customers pay for, and returns how many uses it took. */
const work = async ({ text }) => ({ answer: 42, uses: Math.min(Math.ceil(text.trim().length / 100), MOST) });

const db = new DatabaseSync(DATABASE);
db.exec(`
  pragma journal_mode = wal;
  pragma busy_timeout = 5000;
  create table if not exists customers (
    user_id integer primary key, business_id integer not null unique, signed_up text not null,
    told text, -- limits and status last sent to the service
    step text not null default 'open' -- then cancelled, then billed, then the row is deleted
  ) strict;
  create table if not exists plans (
    business_id integer, starts_on text, plan text not null, primary key (business_id, starts_on)
  ) strict;
  create table if not exists late (
    id text primary key, business_id integer not null, at text not null, quantity integer not null,
    refused text -- why the service rejected it
  ) strict;
  create index if not exists late_of on late (business_id, at);
  create table if not exists payments (
    id text primary key, user_id integer not null, at text not null, paid integer not null
  ) strict;
  create index if not exists payments_of on payments (user_id, at);
  create table if not exists invoices (
    business_id integer, starts_on text, kind text, ends_on text, user_id integer, count integer,
    included integer, price integer, units integer, amount integer as (units * price),
    primary key (business_id, starts_on, kind)
  ) strict;
  create index if not exists invoices_of on invoices (user_id, kind);
  create table if not exists nights (day text primary key) strict;
  create view if not exists account as select *, coalesce((
    select paid from payments where user_id = customers.user_id order by at desc limit 1
  ), 1) as paid from customers;
`);
const all = (sql, ...values) => db.prepare(sql).all(...values);
const one = (sql, ...values) => db.prepare(sql).get(...values);
const run = (sql, ...values) => db.prepare(sql).run(...values).changes;
function inTransaction(steps) {
  db.exec('begin immediate');
  try {
    steps();
    db.exec('commit');
  } catch (error) {
    db.exec('rollback');
    throw error;
  }
}

const DAY_MS = 86_400_000;
const dayOf = (time) => new Date(time).toISOString().slice(0, 10);
const today = () => dayOf(Date.now());
const dayAfter = (day, days = 1) => dayOf(Date.parse(day) + days * DAY_MS);
const nextMonth = (day) => `${dayAfter(`${day.slice(0, 7)}-01`, 31).slice(0, 7)}-01`;

const planOn = (business, day) =>
  one(
    'select plan from plans where business_id = ? and starts_on <= ? order by starts_on desc limit 1',
    ...[business, day],
  )?.plan ?? 'free';
/**
 * The limits of a plan in the month of `day`, minus what the customer's cancelled businesses used in that month. So signing up again grants
 * no extra uses.
 */
function limitsOf(plan, user, day) {
  const { used } = one(
    "select coalesce(sum(count), 0) as used from invoices where user_id = ? and kind = 'last' and ends_on like ?",
    ...[user, `${day.slice(0, 7)}%`],
  );
  const { monthly_limit, overage } = PLANS[plan].limits;
  return { monthly_limit: Math.max(monthly_limit - used, 0), overage };
}

function fail(code, message, more) {
  throw Object.assign(new Error(message), { code, ...more });
}
const SAFE = ['rate_limited', 'unavailable'];
const UNKNOWN = ['server_error', 'no_response'];
/** HTTP statuses by error code. All other errors are 502. */
const STATUS = {
  ...{ not_signed_in: 401, inactive_business: 402, unknown_entry: 404 },
  ...{ invalid_input: 422, last_domain: 422, limit_reached: 429, rate_limited: 429 },
};

/** Sends a request. Times out after 11 seconds by default, because the service waits up to 10 for its database. */
async function sendOnce(method, path, { key = OPERATOR_KEY, once, body, seconds = 11 } = {}) {
  const headers = { Authorization: `Bearer ${key}`, ...(once && { 'Idempotency-Key': once }) };
  const signal = AbortSignal.timeout(seconds * 1000);
  const init = { method, headers, body: JSON.stringify(body), signal };
  const response = await fetch(API + path, init).catch(() => null);
  const json = await response?.json().catch(() => null);
  if (response?.ok && json) return json.data;
  // Without this header, the response is not from the service.
  const code = response?.headers.get('Error-Code') ?? 'no_response';
  const retryAfter = Number(response?.headers.get('Retry-After') ?? 1);
  fail(code, json?.message ?? 'No response', { errors: json?.errors ?? {}, retryAfter });
}
/** Sends a request, and retries it once if that is safe. */
async function ask(method, path, options = {}) {
  try {
    return await sendOnce(method, path, options);
  } catch (error) {
    const isSafe = UNKNOWN.includes(error.code) && (method !== 'POST' || options.once);
    if (!SAFE.includes(error.code) && !isSafe) throw error;
    await wait(error.retryAfter * 1000);
    return sendOnce(method, path, options);
  }
}

function customer(user) {
  const found = one(
    "select *, '/business/' || business_id as path from account where user_id = ? and step = 'open'",
    user,
  );
  return found ?? fail('unknown_entry', 'Sign up first');
}
async function settingsOf(user) {
  const { path, business_id } = customer(user);
  const [plan, last] = [planOn(business_id, today()), planOn(business_id, '9999-12-31')];
  return { ...(await ask('GET', path)), plan, next_plan: last === plan ? null : last };
}
/** Corrects the business of an earlier sign-up whose response was lost. */
async function correct(error, user, fields, sites) {
  if (error.code !== 'invalid_input') throw error;
  const { businesses } = await ask('GET', `/business?user_id=${user}`);
  if (businesses.length === 0) throw error;
  const path = `/business/${businesses[0].id}`;
  await ask('PATCH', path, { body: fields });
  return ask('POST', `${path}/access`, { body: { sites } });
}

/** Charges the maximum before the work. */
async function record({ business_id }) {
  const use = { id: randomUUID(), business_id, at: new Date().toISOString(), quantity: MOST };
  const options = { key: RECORD_KEY, once: use.id, body: { quantity: MOST }, seconds: 2 };
  await sendOnce('POST', usagePath(business_id), options).catch((error) => {
    // A customer can exceed the rate limit at will, so this must not count as an outage.
    if (!['unavailable', ...UNKNOWN].includes(error.code)) throw error;
    keep(use);
  });
  return use;
}
/** Lowers the charge to the actual quantity after the work. */
async function settle(use, quantity) {
  if (quantity === use.quantity) return;
  if (run('update late set quantity = ? where id = ?', quantity, use.id) > 0) return;
  const options = { key: RECORD_KEY, body: { uses: [{ id: use.id, quantity }] }, seconds: 2 };
  await sendOnce('PATCH', usagePath(use.business_id), options).catch(() => keep({ ...use, quantity }));
}
const keep = (use) => run('insert into late values (:id, :business_id, :at, :quantity, null)', use);
const usagePath = (business) => `/business/usage/${business}`;
/** The number of running jobs per customer. */
const underWay = new Map();
const addWork = (user, change) => underWay.set(user, (underWay.get(user) ?? 0) + change);

const routes = {
  // A repeated sign-up creates no second business.
  'POST /signup': (user, { name, domain }) =>
    inTurn(user, async () => {
      if (one("select 1 from customers where user_id = ? and step <> 'open'", user))
        fail('inactive_business', 'Your cancellation is under way. Try again in a minute.');
      const fields = { name, main_domain: domain, site: `https://${domain}` };
      const sites = [fields.site];
      const limits = limitsOf('free', user, today());
      const body = { user_id: user, ...fields, sites, country_id: 1, business_size: 'small', ...limits };
      const create = () => ask('POST', '/business', { once: `signup-${user}`, body });
      const stored = await create().catch((error) => correct(error, user, fields, sites));
      inTransaction(() => {
        // An earlier business has been deleted in the service if this is another one.
        run('delete from customers where user_id = ? and business_id <> ?', user, stored.id);
        run(
          'insert into customers (user_id, business_id, signed_up) values (?, ?, ?) on conflict (user_id) do nothing',
          ...[user, stored.id, today()],
        );
      });
      return { business: stored.id };
    }),
  // The HTML of a chart for the customer's own pages.
  'GET /snippet': async (user) => {
    const { id, token } = await ask('GET', customer(user).path);
    const script = new URL('/v1/usage-chart.js', API);
    return {
      html: `<script type="module" src="${script}"></script><usage-chart business="${id}" token="${token}"></usage-chart>`,
    };
  },

  'POST /work': async (user, input) => {
    const found = customer(user);
    if (!found.paid) fail('inactive_business', 'Your last payment has failed.'); // RECORD_KEY records even without payment
    addWork(user, 1);
    try {
      // A new limit must be in force first, for example when a cheaper plan has just started.
      if (!isTold(found)) await Promise.race([take(tell, user).catch(console.error), wait(2000)]);
      const use = await record(found);
      let done = { uses: 0 }; // failed work is free
      try {
        done = await work(input);
        return done;
      } finally {
        await settle(use, done.uses);
      }
    } finally {
      addWork(user, -1);
    }
  },

  'GET /settings': (user) => settingsOf(user),
  // A cheaper plan starts next month. A month is billed by the plan of its last day.
  'POST /settings/plan': async (user, { plan }) => {
    if (!Object.hasOwn(PLANS, plan)) fail('invalid_input', 'plan must be free or pro');
    const { business_id } = customer(user);
    const day = today();
    const isCheaper = PLANS[plan].price < PLANS[planOn(business_id, day)].price;
    inTransaction(() => {
      run('delete from plans where business_id = ? and starts_on > ?', business_id, day);
      run('insert or replace into plans values (?, ?, ?)', business_id, isCheaper ? nextMonth(day) : day, plan);
    });
    await take(tell, user);
    return settingsOf(user);
  },
  'POST /settings/sites': (user, { sites }) => ask('POST', `${customer(user).path}/access`, { body: { sites } }),
  'POST /settings/remove-site': (user, { id }) => ask('DELETE', `${customer(user).path}/access/${Number(id)}`),
  // The old token works for another day, so pages can be updated.
  'POST /settings/token': (user) => ask('POST', `${customer(user).path}/token`, { body: { keep_old: '24h' } }),
  'POST /settings/stop-old-tokens': (user) => ask('DELETE', `${customer(user).path}/token/former`),
  // The first person to open the link is signed in, so send it only to the customer.
  'POST /settings/console': async (user) => {
    const body = { business_id: customer(user).business_id, role: 'full', minutes: 60 };
    return { redirect: (await ask('POST', `/user/${user}/console-link`, { body })).url };
  },

  // API keys for the customer's own servers. Only the response to POST contains the key itself.
  'GET /keys': (user) => ask('GET', `/user/${user}/keys`),
  'POST /keys': (user, { name, role }) =>
    ask('POST', `/user/${user}/keys`, { body: { name, role, business_id: customer(user).business_id } }),
  'POST /keys/revoke': (user, { id }) => ask('DELETE', `/user/${user}/keys/${Number(id)}`),

  'GET /invoices': async (user) => ({ invoices: all('select * from invoices where user_id = ?', user) }),
  'POST /cancel': async (user) => {
    run("update customers set step = 'cancelled' where user_id = ?", customer(user).user_id);
    await take(close, user).catch(console.error); // catchUp retries
    return { cancelled: true };
  },
};

/** The most recent task of each user, as a promise. */
const turns = new Map();
/** Runs a user's tasks sequentially. */
function inTurn(user, task) {
  const turn = (turns.get(user) ?? Promise.resolve()).then(task);
  turns.set(
    user,
    turn.catch(() => {}),
  );
  return turn;
}
/** Takes a step for a customer in turn, unless the customer has been deleted. */
const take = (step, user) =>
  inTurn(user, () => {
    const found = one('select * from account where user_id = ?', user);
    return found && step(found);
  });

/** What the service must know of a customer: the limits and the status. */
function termsOf({ user_id, business_id, paid }) {
  const limits = limitsOf(planOn(business_id, today()), user_id, today());
  return { ...limits, status: paid ? 'active' : 'suspended' };
}
const isTold = (customer) => customer.told === JSON.stringify(termsOf(customer));
/** Sends a customer's limits and status to the service if they have changed. */
async function tell(customer) {
  if (customer.step !== 'open' || isTold(customer)) return;
  const body = termsOf(customer);
  await ask('PATCH', `/business/${customer.business_id}`, { body });
  run('update customers set told = ? where user_id = ?', JSON.stringify(body), customer.user_id);
}

/** Records and lowers the stored uses, each exactly once. */
async function sendLate({ business_id }) {
  for (;;) {
    const late = all(
      'select * from late where business_id = ? and refused is null order by at limit 1000',
      business_id,
    );
    if (late.length === 0) return;
    const send = (method, uses) => ask(method, usagePath(business_id), { key: RECORD_KEY, body: { uses } });
    try {
      await send(
        'POST',
        late.map(({ id, at, quantity }) => ({ id, at, quantity: Math.max(quantity, 1) })),
      );
      await send(
        'PATCH',
        late.map(({ id, quantity }) => ({ id, quantity })),
      );
      // Keeps a use whose quantity was lowered in the meantime.
      for (const { id, quantity } of late) run('delete from late where id = ? and quantity = ?', id, quantity);
    } catch (error) {
      // Sets aside uses that the service rejects permanently, such as those that are too old. A use of the last or next 24 hours is sent
      // again, because this computer's clock may have been ahead. A use that is set aside may have been recorded, so it is lowered first.
      const refused = new Map();
      for (const [field, [message]] of Object.entries(error.errors ?? {})) {
        const use = late[field.split('.')[1]]; // a field is, for example, uses.3.at
        if (use && Math.abs(Date.parse(use.at) - Date.now()) > DAY_MS) refused.set(use, message);
      }
      if (refused.size === 0) throw error;
      await send(
        'PATCH',
        [...refused.keys()].map(({ id, quantity }) => ({ id, quantity })),
      );
      for (const [{ id }, message] of refused) run('update late set refused = ? where id = ?', message, id);
      console.error(`business ${business_id}: ${refused.size} uses are not recorded: ${error.message}`);
    }
  }
}

/** Writes an invoice for a month, minus what was already billed. */
function invoice(kind, { business_id, starts_on, ends_on, count }) {
  const isOurs = "select user_id from customers where business_id = ? and signed_up <= ? and step <> 'billed'";
  const found = one(isOurs, business_id, ends_on);
  if (found === undefined) return;
  const billed = 'select included, price, units from invoices where business_id = ? and starts_on = ?';
  const before = all(billed, business_id, starts_on);
  const plan = planOn(business_id, ends_on);
  const included = limitsOf(plan, found.user_id, ends_on).monthly_limit;
  const terms = before[0] ?? { price: PLANS[plan].price, included };
  const units = Math.max(count - terms.included, 0) - before.reduce((sum, row) => sum + row.units, 0);
  run(
    `insert into invoices values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    ...[business_id, starts_on, kind, ends_on, found.user_id, count, terms.included, terms.price, units],
  );
}

async function monthsThatEnded(day) {
  const months = [];
  for (let after = ''; after !== null; ) {
    const { usage, next } = await ask('GET', `/usage?ended=${day}${after}`);
    months.push(...usage);
    after = next && `&after=${next}`;
  }
  return months;
}
/** Bills the months that ended before the day `until`, and settles those whose counts are final, 41 days after their end. */
async function invoices(until) {
  const next = one(
    "select coalesce((select date(max(day), '+1 day') from nights), (select min(signed_up) from customers), ?) as day",
    until,
  );
  for (let { day } = next; day < until; day = dayAfter(day)) {
    const ended = await monthsThatEnded(day);
    const final = await monthsThatEnded(dayAfter(day, -40));
    if (!final.every((month) => month.final)) throw new Error('The clocks differ');
    inTransaction(() => {
      for (const month of final) invoice('true_up', month);
      for (const month of ended) invoice('month', month);
      run('insert into nights values (?) on conflict do nothing', day);
    });
  }
}

/** Sends a customer's last uses, closes the business, and writes the last invoices. */
async function bill({ user_id, business_id, signed_up }) {
  await sendLate({ business_id });
  await ask('PATCH', `/business/${business_id}`, { body: { status: 'closed' } });
  const day = today();
  await invoices(day);
  const months = all(
    "select starts_on, ends_on, 'true_up' as kind from invoices where business_id = ? and kind = 'month' order by ends_on",
    business_id,
  );
  const starts_on = months.length > 0 ? dayAfter(months.at(-1).ends_on) : signed_up;
  const last = { kind: 'last', starts_on, ends_on: day };
  // No more uses can arrive, so recent months are final too. The last days include tomorrow, because the clocks can differ.
  for (const month of [...months.slice(-2), last]) {
    const to = month === last ? dayAfter(day) : month.ends_on;
    const { used } = await ask('GET', `${usagePath(business_id)}?from=${month.starts_on}&to=${to}`);
    month.count = used.reduce((sum, { count }) => sum + count, 0);
  }
  inTransaction(() => {
    for (const { kind, ...month } of [...months.slice(-2), last]) invoice(kind, { business_id, ...month });
    run("update customers set step = 'billed' where user_id = ?", user_id);
  });
}
/** Bills and deletes the business of a customer who cancelled. Each step is idempotent. */
async function close(customer) {
  const { user_id, business_id, step } = customer;
  if (step === 'open' || underWay.get(user_id) > 0) return;
  const path = `/business/${business_id}`;
  const ignoreIfDeleted = (error) => {
    if (error.code !== 'unknown_business') throw error;
    console.error(`business ${business_id} has already been deleted`);
  };
  if (step === 'cancelled') await bill(customer).catch(ignoreIfDeleted);
  await ask('GET', path)
    .then(({ name }) => ask('DELETE', `${path}?name=${encodeURIComponent(name)}`))
    .catch(ignoreIfDeleted);
  run('delete from customers where user_id = ?', user_id);
}

/** Completes pending steps, customer by customer. */
async function catchUp() {
  for (const { user_id } of all('select user_id from customers')) {
    for (const step of [tell, sendLate, close]) await take(step, user_id).catch(console.error);
    await wait(0); // lets requests in between
  }
}

/** Returns true if the payment provider signed the message (Standard Webhooks) within the last five minutes. */
function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures = '' } = headers;
  const signature = createHmac('sha256', paymentKey).update(`${id}.${seconds}.`).update(body).digest();
  const isNow = Math.abs(Date.now() / 1000 - seconds) < 300;
  return (
    isNow &&
    signatures.split(' ').some((text) => {
      const given = Buffer.from(text.replace('v1,', ''), 'base64');
      return given.length === signature.length && timingSafeEqual(given, signature);
    })
  );
}
/** Stores a payment once. Messages may arrive in any order. */
function notePayment(id, { type, timestamp, data }) {
  if (!['payment.succeeded', 'payment.failed'].includes(type)) return;
  const user = Number(data.user_id);
  const values = [id, user, new Date(timestamp).toISOString(), Number(type === 'payment.succeeded')];
  run('insert into payments values (?, ?, ?, ?) on conflict do nothing', ...values);
  take(tell, user).catch(console.error); // catchUp retries
}

async function respond(request) {
  let body = Buffer.alloc(0);
  for await (const part of request) {
    body = Buffer.concat([body, part]);
    if (body.length > 100_000) fail('invalid_input', 'The body is too long');
  }
  if (request.url === '/webhooks/payment') {
    if (!isSigned(request.headers, body)) fail('not_signed_in', 'This is not signed');
    return notePayment(request.headers['webhook-id'], JSON.parse(body));
  }
  const route = routes[`${request.method} ${request.url}`] ?? fail('unknown_entry', 'Not Found');
  const user = userOf(request);
  if (!Number.isSafeInteger(user) || user < 1) fail('not_signed_in', 'Sign in first');
  return route(user, body.length > 0 ? JSON.parse(body) : {});
}
function serve() {
  const server = createServer(async (request, response) => {
    const reply = (status, body, headers) =>
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
    try {
      const { redirect, ...result } = (await respond(request)) ?? {};
      if (redirect === undefined) reply(200, result);
      else reply(303, {}, { Location: redirect });
    } catch (error) {
      if (error.code in STATUS) return reply(STATUS[error.code], { message: error.message });
      console.error(error);
      reply(502, { message: 'Try again later' });
    }
  });
  server.listen(Number(PORT));
  process.on('SIGTERM', () => server.close(() => process.exit()));
}

const [command, day = today()] = process.argv.slice(2);
if (command === 'invoices') await invoices(day);
else for (serve(); ; await wait(60_000)) await catchUp();
