// A sign-up that is retried until it succeeds creates one business, even if the service is killed before it responds.
import { afterAll, expect, test } from 'vitest';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { databaseOfId } from '../../src/core/database.ts';
import { threeDatabases } from '../cli/support.ts';
import { type Service, startService, withDatabases } from '../node/server.ts';

const USERS = 20;
const KEYS_PER_USER = 5;
const REQUESTS = 200;
/** The timeout of a request. Requests sent while wrangler starts can be lost, and fetch would wait for minutes. */
const TIMEOUT_MS = 15_000;
const FIELDS = {
  ...{ name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' },
  ...{ country_id: 1, business_size: 'small' },
};

let service: Service | undefined;
afterAll(() => service?.stop());

test('200 concurrent creations for 20 users create one business per user and key, even if the service is killed twice', async () => {
  const { 'persist-to': state } = await threeDatabases();
  const { operator_key, secret } = await createOperatorKey('full', 'OPERATOR_KEY_1');
  const start = () => startService(state, { config: withDatabases(3), secrets: { OPERATOR_KEY_1: secret } });
  const headers = { Authorization: `Bearer ${operator_key}` };
  service = await start();
  let answered = 0;
  let kills = 0;
  let restarted: Promise<unknown> = Promise.resolve();
  const unanswered: number[] = [];
  const restart = async () => {
    await service?.stop('SIGKILL');
    service = await start();
  };
  /** Retries until the service returns a complete response with status 200. */
  async function create(index: number) {
    const user_id = 1 + (index % USERS);
    const key = `signup-${Math.floor(index / USERS) % KEYS_PER_USER}`;
    for (;;) {
      await restarted;
      const sent = fetch(`${service?.url}/api/v1/business`, {
        method: 'POST',
        headers: { ...headers, 'Idempotency-Key': key },
        body: JSON.stringify({ user_id, ...FIELDS }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const answer = await sent.catch(() => null);
      const body = (await answer?.json().catch(() => null)) as { data: { id: number; token: string } } | null;
      if (answer?.status === 200 && body !== null) {
        answered += 1;
        if (answered >= (kills + 1) * 20 && kills < 2) {
          kills += 1;
          // Restarts sequentially, because two services on the same state block each other.
          restarted = kills === 1 ? restart() : restarted.then(restart);
        }
        return { sign_up: `${user_id} ${key}`, user_id, ...body.data };
      }
      // A killed service sends nothing or a partial response.
      unanswered.push(answer?.status ?? 0);
      expect([0, 200, 500, 503]).toContain(answer?.status ?? 0);
    }
  }
  const made = await Promise.all(Array.from({ length: REQUESTS }, (_, index) => create(index)));
  await restarted;
  expect(kills).toBe(2);
  const distinct = (of: (business: (typeof made)[number]) => unknown) => new Set(made.map(of)).size;
  const keys = USERS * KEYS_PER_USER;
  expect({
    signUps: distinct(({ sign_up }) => sign_up),
    businesses: distinct(({ sign_up, id }) => `${sign_up} ${id}`),
    tokens: distinct(({ token }) => token),
    homes: distinct(({ user_id, id }) => `${user_id} ${databaseOfId(id)}`),
    databases: distinct(({ id }) => databaseOfId(id)),
  }).toEqual({ signUps: keys, businesses: keys, tokens: keys, homes: USERS, databases: 3 });

  for (let user_id = 1; user_id <= USERS; user_id++) {
    const list = await fetch(`${service?.url}/api/v1/business?user_id=${user_id}&limit=50`, { headers });
    const { data } = (await list.json()) as { data: { businesses: { id: number }[] } };
    expect(data.businesses).toHaveLength(KEYS_PER_USER);
  }
  const other = await fetch(`${service?.url}/api/v1/business`, {
    method: 'POST',
    headers: { ...headers, 'Idempotency-Key': 'signup-0' },
    body: JSON.stringify({ user_id: 1, ...FIELDS, name: 'Other' }),
  });
  expect(other.status).toBe(422);
  console.log(`${unanswered.length} requests without a response were retried`);
}, 240_000);
