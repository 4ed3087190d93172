// Receives alerts, and stores each message once (docs/alerts.md, "A receiver").
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';

const { ALERT_SECRET = '', FOLDER = 'alerts', PORT = '3001' } = process.env;
const MAX_BYTES = 1_000_000;
/** One secret, or the old and the new one, separated by a space. */
const webhooks = ALERT_SECRET.split(' ').map((secret) => new Webhook(secret));
const [NEW, DONE] = [join(FOLDER, 'new'), join(FOLDER, 'done')];
for (const folder of [NEW, DONE]) mkdirSync(folder, { recursive: true });

/** Replace this, for example with an email to the customer. */
async function act({ business_id, user_id, period, limit, threshold, used }) {
  console.log(`user ${user_id}, business ${business_id}: ${used} of ${limit} uses of the ${period} (${threshold} %)`);
}

/** Stores a message once. Its id is the same in every delivery. */
function keep(id, text) {
  const name = `${id}.json`;
  if (existsSync(join(NEW, name)) || existsSync(join(DONE, name))) return;
  // Renames the complete file, so a crash leaves no partial file in NEW.
  writeFileSync(join(FOLDER, name), text, { flush: true });
  renameSync(join(FOLDER, name), join(NEW, name));
}

async function finish(name) {
  const { type, data } = JSON.parse(readFileSync(join(NEW, name), 'utf8'));
  if (type === 'limit.reached') await act(data);
  renameSync(join(NEW, name), join(DONE, name));
}
/** Processes the stored messages. A failed message stays stored and is retried, and does not stop the others. */
async function work() {
  for (const name of readdirSync(NEW)) await finish(name).catch(console.error);
}
let working = Promise.resolve();
const workOn = () => {
  working = working.then(work).catch(console.error);
};

/** Returns whether one of the secrets signed the message within the last 5 minutes. */
function isAuthentic(text, headers) {
  return webhooks.some((webhook) => {
    try {
      webhook.verify(text, headers);
      return true;
    } catch {
      return false;
    }
  });
}

/** Reads the exact body, which the signature covers. */
async function bodyOf(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error('The body is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

const server = createServer(async (request, response) => {
  const respond = (status) => response.writeHead(status, { Connection: 'close' }).end();
  if (request.method !== 'POST') return respond(405);
  let text;
  try {
    text = await bodyOf(request);
  } catch {
    return respond(401);
  }
  if (!isAuthentic(text, request.headers)) return respond(401);
  try {
    keep(request.headers['webhook-id'], text);
  } catch (error) {
    console.error(error);
    return respond(500); // the service retries
  }
  respond(204); // before the work, which may take longer than 10 seconds
  workOn();
});
server.listen(Number(PORT));
workOn(); // processes messages left by a crash
setInterval(workOn, 60_000).unref();
process.on('SIGTERM', () => server.close(() => working.finally(() => process.exit())));
