// Signs customers up, and opens the console for them (docs/product.md). Replace the login and the plan.
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

const { API, OPERATOR_KEY, DATABASE = 'product.db', PORT = '3000' } = process.env;
if (!API || !OPERATOR_KEY) throw new Error('Set API and OPERATOR_KEY');

/** Your login: the number that you gave to the customer. */
const userOf = (request) => Number(request.headers['x-user']);
/** Your plan: 1,000 uses a month, and at most 9,000 more, which invoices.mjs bills. */
const PLAN = { monthly_limit: 1000, overage: 9000, country_id: 1, business_size: 'small' };

const db = new DatabaseSync(DATABASE);
db.exec('pragma busy_timeout = 5000');
db.exec('create table if not exists customers (user_id integer primary key, business_id integer) strict');
const customer = (user) => db.prepare('select business_id from customers where user_id = ?').get(user);

/** Sends a request, and retries it once if that is safe. */
async function send(method, path, { once, body } = {}, attempt = 1) {
  const headers = { Authorization: `Bearer ${OPERATOR_KEY}`, ...(once && { 'Idempotency-Key': once }) };
  const signal = AbortSignal.timeout(11_000); // the service waits up to 10 seconds for its database
  const init = { method, headers, body: JSON.stringify(body), signal };
  const response = await fetch(API + path, init).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (response?.ok && answer) return answer.data;
  // A response without an Error-Code is not from the service.
  const code = response?.headers.get('Error-Code') ?? 'no_response';
  const isUnknown = ['server_error', 'no_response'].includes(code);
  const isSafe = ['rate_limited', 'unavailable'].includes(code) || (isUnknown && (method !== 'POST' || once));
  const seconds = Number(response?.headers.get('Retry-After') ?? 1);
  if (attempt > 1 || !isSafe || seconds > 10) throw Object.assign(new Error(answer?.message), { code });
  await wait(seconds * 1000);
  return send(method, path, { once, body }, attempt + 1);
}

/** Creates one business, however often the customer signs up. */
async function signUp(user, { name, domain }) {
  if (customer(user)) return customer(user);
  const site = `https://${domain}`;
  const fields = { name, main_domain: domain, site, ...PLAN };
  const body = { user_id: user, ...fields, sites: [site] };
  const { id } = await send('POST', '/business', { once: `signup-${user}`, body }).catch(async (error) => {
    // An attempt whose response was lost may have created the business from another form.
    const found = error.code === 'invalid_input' ? await send('GET', `/business?user_id=${user}`) : null;
    if (!found?.businesses.length) throw error;
    const path = `/business/${found.businesses[0].id}`;
    await send('PATCH', path, { body: fields });
    return send('POST', `${path}/access`, { body: { sites: [site] } });
  });
  db.prepare('insert into customers values (?, ?) on conflict do nothing').run(user, id);
  return customer(user);
}
/** The first person to open the link is signed in, so it goes only to the customer, and at once. */
async function consoleLink(user) {
  const link = await send('POST', `/user/${user}/console-link`, { body: customer(user) });
  return link.url;
}

async function respond(request) {
  const user = userOf(request);
  if (!Number.isSafeInteger(user) || user < 1) return [401, { message: 'Sign in first' }];
  let text = '';
  for await (const part of request.setEncoding('utf8')) {
    text += part;
    if (text.length > 10_000) return [413, { message: 'The form is too long' }];
  }
  const route = `${request.method} ${request.url}`;
  if (route === 'POST /sign-up') return [200, await signUp(user, JSON.parse(text))];
  if (route === 'POST /console' && customer(user)) return [303, {}, { Location: await consoleLink(user) }];
  return [404, { message: 'Not Found' }];
}
createServer(async (request, response) => {
  const [status, body, headers] = await respond(request).catch((error) => {
    if (error.code === 'invalid_input') return [422, { message: error.message }];
    console.error(error);
    return [502, { message: 'Try again later' }];
  });
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}).listen(Number(PORT));
