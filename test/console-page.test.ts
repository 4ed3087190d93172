// The console page and the service's name in it (docs/operating.md, "The name in the console").
import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { BASE, databases, env, NOW } from './support.ts';

const OWN_NAME = 'Business Usage and Access';

async function open(SERVICE_NAME?: unknown, init: RequestInit = {}, path = '/owner') {
  const lines: object[] = [];
  const errors: object[] = [];
  const app = createApp(() => NOW, { log: (line) => lines.push(line), error: (line) => errors.push(line) });
  const named = SERVICE_NAME === undefined ? {} : { SERVICE_NAME: SERVICE_NAME as string };
  const bindings = { ...databases(), ASSETS: env.ASSETS, ...named };
  const answer = await app.fetch(new Request(BASE + path, init), bindings, createExecutionContext());
  const text = await answer.text();
  const [, title] = /<title>(.*)<\/title>/s.exec(text) ?? [];
  return { status: answer.status, text, title, headers: answer.headers, lines, errors };
}
const file = async (init?: RequestInit) => env.ASSETS.fetch(`${BASE}/owner`, init);

describe('the page without a valid name', () => {
  test.each([undefined, ''])('is the file as built, with its ETag: %j', async (name) => {
    const page = await open(name);
    const asBuilt = await file();
    expect(page).toMatchObject({ status: 200, title: `Console · ${OWN_NAME}`, lines: [], errors: [] });
    expect(page.text).toBe(await asBuilt.text());
    expect([...page.headers]).toEqual([...asBuilt.headers]);
    const headers = { 'If-None-Match': page.headers.get('ETag') ?? '' };
    expect((await open(name, { headers })).status).toBe(304);
  });

  test.each([
    ['a control character', 'Acme\u0000Usage'],
    ['a line break', 'Acme\nUsage'],
    ['a direction override', 'Acme \u202eegasU'],
    ['only invisible characters', ' \u200b'],
    ['61 characters', 'a'.repeat(61)],
    ['a number', 7],
    ['a list', ['Acme']],
  ])('is the file as built, and an error is logged: %s', async (_, name) => {
    const page = await open(name);
    expect(page).toMatchObject({ status: 200, title: `Console · ${OWN_NAME}`, lines: [] });
    expect(page.errors).toEqual([
      {
        operation: 'show_console',
        error:
          'SERVICE_NAME must be one line of 1 to 60 characters with visible text, and without control characters or direction overrides',
      },
    ]);
  });
});

describe('the name', () => {
  test.each(['Acme Insights', 'Ünïcødé 統計', 'a'.repeat(60)])(
    'replaces the default name in the title and changes nothing else: %s',
    async (name) => {
      const page = await open(name);
      const asBuilt = await file();
      expect(page).toMatchObject({ status: 200, title: `Console · ${name}`, lines: [], errors: [] });
      expect(page.text.replaceAll(name, OWN_NAME)).toBe(await asBuilt.text());
      const headersOf = (headers: Headers) => [...headers].filter(([name]) => !/^(etag|content-length)$/.test(name));
      expect(headersOf(page.headers)).toEqual(headersOf(asBuilt.headers));
      for (const name of ['Content-Security-Policy', 'Cross-Origin-Opener-Policy', 'Strict-Transport-Security'])
        expect(page.headers.get(name)).not.toBeNull();
      expect(page.headers.get('Cache-Control')).toBe('public, max-age=0, must-revalidate');
    },
  );

  test.each([
    '</title><script>alert(1)</script>',
    '"><script>alert(1)</script>',
    '<b>Acme</b> & "Sons"',
    '&lt;b&gt; &quot;',
  ])('is escaped as text: %s', async (name) => {
    const { title = '', text } = await open(name);
    const escaped = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    expect(title).toBe(`Console · ${escaped}`);
    const tags = (html: string) => html.match(/<[a-z/!]+/gi);
    expect(tags(text)).toEqual(tags(await (await file()).text()));
  });

  test('replaces a cached page immediately, because the response is never 304', async () => {
    const before = (await open()).headers;
    const headers = {
      'If-None-Match': before.get('ETag') ?? '',
      'If-Modified-Since': before.get('Last-Modified') ?? new Date().toUTCString(),
    };
    const page = await open('Acme', { headers });
    expect(page).toMatchObject({ status: 200, title: 'Console · Acme' });
    expect([page.headers.get('ETag'), page.headers.get('Last-Modified')]).toEqual([null, null]);
  });

  test('affects only GET requests for the page', async () => {
    const head = await open('Acme', { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '' });
    for (const method of ['POST', 'OPTIONS']) {
      const [answer, asBuilt] = [await open('Acme', { method }), await file({ method })];
      expect({ method, status: answer.status }).toEqual({ method, status: asBuilt.status });
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
    }
    const { status, text } = await open('Acme', {}, '/owner/nothing');
    expect({ status, text }).toEqual({ status: 404, text: '{"message":"Not Found"}' });
  });
});
