// The description of the service (contract, section 3): served, and kept by test/contract.ts for every answer.
import { expect, test } from 'vitest';
import { openapi } from '../src/openapi/document.ts';
import { call } from './support.ts';

const PATH = '/api/v1/openapi.json';

test('is public and may be stored, and costs no round trip', async () => {
  for (const origin of [undefined, 'https://anywhere.example']) {
    const answer = await call('GET', PATH, origin === undefined ? {} : { origin });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600');
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(answer.cost.round_trips).toBe(0);
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(openapi())));
  }
});

test('is not sent again to who has it', async () => {
  const { headers } = await call('GET', PATH);
  const again = await call('GET', PATH, { headers: { 'If-None-Match': headers.get('ETag') ?? '' } });
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
  expect(again.headers.get('ETag')).toBe(headers.get('ETag'));
  expect(again.headers.get('Access-Control-Allow-Origin')).toBe('*');
});

test('answers HEAD without a body, and another method with 405', async () => {
  const head = await call('HEAD', PATH);
  expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
  const post = await call('POST', PATH);
  expect(post.status).toBe(405);
  expect(post.headers.get('Allow')).toBe('GET, HEAD');
  expect(post.headers.get('Cache-Control')).toBe('no-store');
});
