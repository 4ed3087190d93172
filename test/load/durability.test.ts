// Every use that the service has acknowledged is counted, even if the service is killed under load.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BusinessRow } from '../../src/db/schema.ts';
import { createBusiness } from '../ask.ts';
import { withDatabases } from '../node/local.ts';
import { type Service, startService } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';

const SENDERS = 20;
let state: string;
let business: BusinessRow;
let service: Service | undefined;

beforeAll(async () => {
  state = newDatabase();
  const fields = { user_id: 1, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
  const row = { ...fields, country_id: 1, business_size: 'small' };
  business = await withDatabases({ 'persist-to': state }, ({ first }) => createBusiness(first, row, new Date()));
});
afterAll(() => service?.stop());

test('after SIGKILL under load, the count includes every acknowledged use and does not exceed the uses sent', async () => {
  service = await startService(state);
  const path = `/api/v1/business/usage/${business.id}`;
  const headers = { Authorization: `Bearer ${business.token}` };
  let sent = 0;
  let acknowledged = 0;
  let killed = false;
  const send = async (sender: number) => {
    const from = { ...headers, 'CF-Connecting-IP': `192.0.2.${sender}` }; // a single address would exceed its rate limit
    while (!killed) {
      sent += 1;
      const status = await fetch(service?.url + path, { method: 'POST', headers: from }).then(
        (answer) => answer.status,
        () => null,
      );
      if (status === 200) acknowledged += 1;
      if (acknowledged >= 500 && !killed) {
        killed = true;
        await service?.stop('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  service = await startService(state);
  const answer = await fetch(service.url + path, { headers });
  const { data } = (await answer.json()) as { data: { used: { count: number }[] } };
  const counted = data.used.reduce((sum, { count }) => sum + count, 0);
  expect(acknowledged).toBeGreaterThanOrEqual(500);
  expect(counted, 'the count includes every acknowledged use').toBeGreaterThanOrEqual(acknowledged);
  expect(counted, 'the count does not exceed the uses sent').toBeLessThanOrEqual(sent);
  console.log(`acknowledged ${acknowledged} ≤ counted ${counted} ≤ sent ${sent}`);
});
