// Records a use before each work (docs/product.md). It knows its customers, so an outage does not stop it. Replace the login and the work.
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

const { API, RECORD_KEY, DATABASE = 'product.db', PORT = '3001' } = process.env;
if (!API || !RECORD_KEY) throw new Error('Set API and RECORD_KEY');

/** Your login: the customer's business. It must refuse suspended customers: an operator key records for them. */
const businessOf = (request) => Number(request.headers['x-business']);
/** The work that customers pay for. */
const work = async () => ({ answer: 42 });
/** How many uses of a business can wait for the service. */
const MAX_WAITING = 100;

const db = new DatabaseSync(DATABASE);
db.exec(`pragma busy_timeout = 5000; create table if not exists outbox (
  business_id integer, id text, at text not null, primary key (business_id, id)
) strict`);

const OUTAGE = ['unavailable', 'server_error', 'no_response'];
/** Refusals to show to the customer. Any other error is a mistake in this program or its key. */
const REFUSED = { limit_reached: 429, inactive_business: 402, rate_limited: 429, outbox_full: 503 };
/** Businesses that the service refused last, with its error. During an outage, they stay refused. */
const stopped = new Map();
const errorOf = (code, message) => Object.assign(new Error(message), { code });

async function send(business, body, { once, seconds }) {
  const headers = { Authorization: `Bearer ${RECORD_KEY}`, ...(once && { 'Idempotency-Key': once }) };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(seconds * 1000) };
  const response = await fetch(`${API}/business/usage/${business}`, init).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (response?.ok && answer) return;
  // A response without an Error-Code is not from the service.
  throw errorOf(response?.headers.get('Error-Code') ?? 'no_response', answer?.message);
}

/** Records a use in the service or, during an outage, in the outbox. Throws if the work must not be done. */
async function record(business) {
  const use = { business, id: crypto.randomUUID(), at: new Date().toISOString() };
  try {
    await send(business, {}, { once: use.id, seconds: 2 });
    stopped.delete(business);
  } catch (error) {
    if (['limit_reached', 'inactive_business'].includes(error.code)) stopped.set(business, error);
    if (!OUTAGE.includes(error.code)) throw error;
    if (stopped.has(business)) throw stopped.get(business);
    // The service may have counted the use. The outbox keeps its id, so that it counts once.
    const insert = db.prepare(`insert into outbox select :business, :id, :at
      where (select count(*) from outbox where business_id = :business) < ${MAX_WAITING}`);
    if (insert.run(use).changes === 0) throw errorOf('outbox_full', 'Try again in a few minutes');
  }
}
/** Sends uses as one list, or one by one if the service refuses it because of a use. Returns false after any other failure. */
async function sendWaiting(business, uses) {
  const remove = ({ id }) => void db.prepare('delete from outbox where business_id = ? and id = ?').run(business, id);
  const failure = await send(business, { uses }, { seconds: 11 }).catch((error) => error);
  const isOfUses = !failure || ['invalid_input', 'limit_reached'].includes(failure.code);
  if (!failure) uses.forEach(remove);
  else if (uses.length === 1 || !isOfUses) console.error(`business ${business}: ${uses.length} uses wait`, failure);
  else for (const use of uses) if (!(await sendWaiting(business, [use]))) break;
  return isOfUses;
}
async function respond(request) {
  const business = businessOf(request);
  if (!Number.isSafeInteger(business) || business < 1) return [401, { message: 'Sign in first' }];
  await record(business);
  return [200, await work(request)];
}
createServer(async (request, response) => {
  const [status, body] = await respond(request).catch((error) => {
    if (error.code in REFUSED) return [REFUSED[error.code], { message: error.message }];
    console.error(error);
    return [502, { message: 'Try again later' }];
  });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}).listen(Number(PORT));
for (; ; await wait(60_000))
  for (const { business_id } of db.prepare('select distinct business_id from outbox').all())
    await sendWaiting(business_id, db.prepare('select id, at from outbox where business_id = ?').all(business_id));
