// The requests that commands send.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addDays, dayOf, daysIn, FIRST_DAY, MAX_RANGE_DAYS } from '../../src/core/time.ts';
import { newFolder } from '../node/state.ts';
import { FILE, HISTORY, SENT } from './sent.ts';
import { type Answer, json, printed, runAdmin, stub, success } from './stub.ts';

const file = join(newFolder(), 'history.csv');
writeFileSync(file, HISTORY);

test.each(SENT)('%j sends %s', async (argv, request, body = '') => {
  const { env, sent } = await stub(success({ entries: [1] }));
  expect(await printed(env, ...argv.map((word) => (word === FILE ? file : word)))).toEqual({ entries: [1] });
  expect(sent.map((one) => [one.request, one.body])).toEqual([[request, body]]);
  expect(sent[0]?.headers).toMatchObject({ authorization: `Bearer ${env.OPERATOR_KEY}` });
});

test.each(['job-1', 'job-1=', 'job-1=x', 'job-1=-1', 'job-1=1000000001'])(
  'usage lower refuses %s and sends nothing',
  async (use) => {
    const { env, sent } = await stub();
    await expect(printed(env, 'usage', 'lower', '1', use)).rejects.toThrow(use);
    expect(sent).toEqual([]);
  },
);

test('a request over a rate limit waits as long as the service says, and is sent again', async () => {
  const busy: Answer = (response) =>
    response
      .writeHead(429, { 'Error-Code': 'rate_limited', 'Retry-After': '0' })
      .end('{"message":"Too Many Attempts."}');
  const { env, sent } = await stub(busy, busy, success({ databases: [] }));
  expect(await printed(env, 'database', 'list')).toEqual({ databases: [] });
  expect(sent).toHaveLength(3);
});

describe('a list', () => {
  test.each<[string, string[], string]>([
    ['businesses', ['business', 'list', '--user', '7'], 'GET /business?user_id=7&after='],
    ['changes', ['changes', 'list', '1'], 'GET /business/1/changes?before='],
    ['alerts', ['alerts', 'list'], 'GET /alerts?cursor='],
  ])('of %s combines all pages', async (name, argv, following) => {
    const pages = [
      { [name]: [{ id: 1 }], next: 17 },
      { [name]: [], next: 2e9 },
      { [name]: [{ id: 3 }], next: null },
    ];
    const { env, sent } = await stub(...pages.map(success));
    expect(await printed(env, ...argv)).toEqual({ [name]: [{ id: 1 }, { id: 3 }] });
    expect(sent.slice(1).map(({ request }) => request)).toEqual([`${following}17`, `${following}2000000000`]);
  });

  test('prints nothing if a page fails', async () => {
    const first = success({ usage: [{ count: 1 }], next: 17 });
    const { env } = await stub(first, (response) => response.writeHead(503).end('{"message":"Service Unavailable"}'));
    await expect(printed(env, 'usage', 'totals')).rejects.toThrow(/^Service Unavailable$/);
  });
});

describe('user export', () => {
  test('reads every page of every list and all days, and omits a business that was transferred in the meantime', async () => {
    const isFirst = (query: URLSearchParams) => !['before', 'after', 'cursor'].some((name) => query.has(name));
    const holds2026 = (query: URLSearchParams) => `${query.get('from')}` < '2026' && `${query.get('to')}` > '2026';
    const created_at = new Date().toISOString();
    const data = (path: string, query: URLSearchParams): object => {
      const page = (name: string, first: object[]) => ({
        [name]: isFirst(query) ? first : [{ id: 'last' }],
        next: isFirst(query) ? 17 : null,
      });
      if (path === '/user/7/keys') return { keys: [] };
      if (path === '/usage') {
        const [business_id, count] = [isFirst(query) ? 1 : 2, holds2026(query) ? 5 : 0];
        return { ...page('usage', []), usage: [{ business_id, count }] };
      }
      if (path.startsWith('/business/usage/'))
        return { used: [0, 5].map((count) => ({ date: `2026-01-0${count}`, count })) };
      if (path.endsWith('/refusals'))
        return { refused: [0, 3].map((by_limit) => ({ date: `2026-01-0${by_limit}`, by_limit })) };
      if (path.endsWith('/refused')) return { refused: [], let_in: [] };
      if (path.endsWith('/alerts')) return page('alerts', [{ id: 'first' }]);
      if (path.endsWith('/changes')) return page('changes', [{ id: 'first' }]);
      const id = Number(path.slice('/business/'.length));
      const access_list = [{ site: 'https://a.example' }];
      return { id, user_id: id === 1 ? 7 : 8, token: 'token-1234', created_at, access_list };
    };
    const { env, sent } = await stub((response, count) => {
      const { pathname, searchParams } = new URL(`http://x${response.req.url}`);
      success(data(pathname.replace('/api/v1', ''), searchParams))(response, count);
    });
    const ofBusiness = { business_id: 1 };
    const both = (line: object) => ['first', 'last'].map((id) => ({ ...line, id }));
    const text = await printed(env, 'user', 'export', '7');
    expect(text.match(/.+\n/g).map((line: string) => JSON.parse(line))).toEqual([
      ...both({ type: 'change', business_id: null }),
      { type: 'business', id: 1, user_id: 7, token: '…1234', created_at },
      { type: 'site', site: 'https://a.example' },
      { type: 'count', ...ofBusiness, date: '2026-01-05', count: 5 },
      { type: 'refused_uses', ...ofBusiness, date: '2026-01-03', by_limit: 3 },
      ...both({ type: 'alert' }),
      ...both({ type: 'change', ...ofBusiness }),
      { type: 'end' },
    ]);

    const following = sent.flatMap(({ request }) => /(\w+)\?(?:.*&)?(\w+=17)$/.exec(request)?.slice(1).join(' ') ?? []);
    expect(new Set(following)).toEqual(new Set(['changes before=17', 'usage after=17', 'alerts cursor=17']));
    const totals = sent.map(({ request }) => /^GET \/usage\?user_id=7&from=([^&]+)&to=([^&]+)$/.exec(request) ?? []);
    const ranges = totals.flatMap(([, from, to]) => (from && to ? [{ from, to }] : []));
    for (const [index, { from, to }] of ranges.entries()) {
      expect(from).toBe(index === 0 ? FIRST_DAY : addDays(ranges[index - 1]?.to ?? '', 1));
      expect(daysIn({ from, to })).toBe(MAX_RANGE_DAYS);
    }
    expect(ranges.at(-1)?.to.localeCompare(dayOf(new Date()))).toBeGreaterThanOrEqual(0);
  });

  test('prints the lines before a failure, without the last one, and exits with 1', async () => {
    const { env, host } = await stub(success({ keys: [{ id: 5 }] }), json({ message: 'Service Unavailable' }, 503));
    const stderr = `${host}\nService Unavailable\n`;
    expect(await runAdmin(env, 'user', 'export', '7')).toEqual({ code: 1, stdout: '{"type":"key","id":5}\n', stderr });
  });
});
