// The static assets: the chart, which any site can load, and the pages, without the demo that is used in local development.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openapi } from '../../src/openapi/document.ts';
import { TABLES } from '../../src/page/languages.ts';
import { LANGUAGES, WORDS } from '../../src/page/words.ts';
import build, { demoFileIn, type ShownDemo } from '../../src/tools/build.ts';
import type { pin } from '../../src/tools/chart.ts';
import { chartTag } from './chart-tag.ts';
import { served } from './state.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const KiB = 1024;
let service: Awaited<ReturnType<typeof served>>;
beforeAll(async () => {
  service = await served();
});

test('every response requires HTTPS of this host only, because subdomains may belong to other services', async () => {
  for (const path of ['/', '/owner', '/usage-chart.js', '/v1/usage-chart.js', '/owner.css', '/api', '/api/v1/health']) {
    const answer = await fetch(service.url + path);
    const hsts = answer.headers.get('Strict-Transport-Security');
    expect({ path, hsts }).toEqual({ path, hsts: 'max-age=15552000' });
  }
});

test('the recorder is one module of at most 2.5 KiB gzipped, which every site can load and a server can import', async () => {
  const answer = await fetch(`${service.url}/v1/usage-recorder.js`, { headers: { Origin: 'https://shop.example' } });
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(answer.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin');
  const code = await answer.text();
  expect(code).not.toMatch(/\bimport\s*[({"'*]/);
  expect(gzipSync(code).length).toBeLessThanOrEqual(2.5 * KiB);
  const module = await import(join(ROOT, 'dist/assets/v1/usage-recorder.js'));
  expect(Object.keys(module)).toEqual(['recorder']);
  const record = module.recorder({ business: 1, token: 'bua_pk_demo', baseUrl: service.url });
  vi.stubGlobal('fetch', undefined);
  await expect(record()).rejects.toEqual({
    status: 0,
    code: 'invalid',
    message: 'The id, token or URL cannot be sent.',
  });
  vi.unstubAllGlobals();
  const types = await fetch(`${service.url}/v1/usage-recorder.d.ts`);
  expect(types.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(await types.text()).toContain('export declare function recorder(');
});

describe('the chart', () => {
  const words = Object.keys(TABLES).map((language) => `/v1/words/${language}.json`);

  test.each(['/usage-chart.js', '/v1/usage-chart.js', '/v1/usage-chart.json', ...words])(
    'lets every site load and cache %s',
    async (path) => {
      const answer = await fetch(service.url + path, { headers: { Origin: 'https://shop.example' } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Content-Type')).toMatch(
        path.endsWith('.js') ? /^text\/javascript/ : /^application\/json/,
      );
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(answer.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin');
      expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600, stale-while-revalidate=86400');
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
      const etag = answer.headers.get('ETag') ?? '';
      const again = await fetch(service.url + path, { headers: { 'If-None-Match': etag } });
      expect(again.status).toBe(304);
    },
  );

  test('is one module of at most 9 KiB gzipped, and the words of another language are at most half a KiB', async () => {
    const [code = '', ...others] = await Promise.all(
      ['/usage-chart.js', ...words].map(async (path) => (await fetch(service.url + path)).text()),
    );
    expect(code).not.toMatch(/\bimport\s*[({"'*]/);
    expect(gzipSync(code).length).toBeLessThanOrEqual(9 * KiB);
    for (const text of others) expect(gzipSync(text).length).toBeLessThanOrEqual(KiB / 2);
  });

  test('can be imported by a server that renders pages, which has no elements', async () => {
    expect(Object.keys(await import(join(ROOT, 'dist/assets/usage-chart.js')))).toEqual(['UsageChart']);
  });

  test('is the same file at its versioned path, and its hash is published', async () => {
    const [plain, versioned] = await Promise.all(
      ['/usage-chart.js', '/v1/usage-chart.js'].map(async (path) =>
        Buffer.from(await (await fetch(service.url + path)).arrayBuffer()),
      ),
    );
    expect(versioned).toEqual(plain);
    const { path, integrity } = (await (await fetch(`${service.url}/v1/usage-chart.json`)).json()) as ReturnType<
      typeof pin
    >;
    const hash = createHash('sha384').update(plain as Buffer);
    expect(integrity).toBe(`sha384-${hash.digest('base64')}`);
    expect((await fetch(service.url + path)).status).toBe(200);
    expect(chartTag(service.url)).toBe(`<script type="module" src="${service.url}/v1/usage-chart.js"></script>`);
    expect(chartTag(service.url, plain)).toBe(
      `<script type="module" src="${service.url}${path}" integrity="${integrity}" crossorigin></script>`,
    );
    const other = chartTag(service.url, Buffer.from('other'));
    expect(other).not.toContain(path); // if the bytes differ, so does the URL
  });

  test('is embedded by the tag that docs/embedding.md shows', () => {
    const [, printed = ''] =
      /^```html\n(<script .*)\n<usage-chart /m.exec(readFileSync(join(ROOT, 'docs/embedding.md'), 'utf8')) ?? [];
    expect(printed).toBe(chartTag('https://usage.example.com'));
  });

  test.each(['/usage-chart.d.ts', '/v1/usage-chart.d.ts'])('has types that are served as text: %s', async (path) => {
    const answer = await fetch(service.url + path);
    expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(await answer.text()).toBe(readFileSync(join(ROOT, 'src/page/types/usage-chart.d.ts'), 'utf8'));
  });

  test('provides each of its words in every language', () => {
    expect(Object.keys(TABLES)).toEqual([...LANGUAGES]);
    for (const [language, { unit, ...words }] of Object.entries(TABLES)) {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
      expect(unit.split('|').length, language).toBeLessThanOrEqual(pluralCategories.length);
      expect(Object.keys({ unit, ...words })).toEqual(WORDS);
      expect(Object.values(words).every((word) => word.trim() === word && word !== '')).toBe(true);
    }
  });
});

describe.each(['/', '/owner'])('the page at %s', (path) => {
  test('loads resources only from the service, and sends nothing to other origins', async () => {
    const answer = await fetch(service.url + path, { redirect: 'error' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
    expect(answer.headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin');
    const html = await answer.text();
    expect(html).not.toMatch(/ style=| on[a-z]+=|<script(?![^>]* src=)/);
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]*)"/g)) {
      expect((await fetch(service.url + path)).status).toBe(200);
    }
  });

  test('contains no form field that a browser without scripts could submit', async () => {
    const html = await (await fetch(service.url + path)).text();
    expect(html).not.toMatch(/<input[^>]* name=/);
  });
});

test('the console’s HTML, script and style sheet are at most 56 KiB in total, gzipped', async () => {
  const files = await Promise.all(
    ['/owner', '/owner.js', '/owner.css'].map(async (path) => (await fetch(service.url + path)).text()),
  );
  const size = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(size).toBeLessThanOrEqual(56 * KiB);
});

describe('the page at /', () => {
  test('includes the demo only in local development, never in a deployment', async () => {
    const directory = mkdtempSync(join(ROOT, 'dist/demo-'));
    const demo: ShownDemo = { id: 7, token: 'bua_pk_demo', refusing: 8, console: 'http://127.0.0.1:9' };
    const shown = ['business="7" token="bua_pk_demo"', '/business/8/access/refused', 'href="http://127.0.0.1:9"'];
    const shownIn = (html: string) => shown.filter((part) => html.includes(part));
    try {
      writeFileSync(demoFileIn(directory), JSON.stringify(demo));
      await build(directory);
      expect(shownIn(readFileSync(join(directory, 'index.html'), 'utf8'))).toEqual(shown);
      const deployed = await (await fetch(service.url)).text();
      expect(deployed).toBe(readFileSync(join(ROOT, 'dist/assets/index.html'), 'utf8'));
      expect(shownIn(deployed)).toEqual([]);
      expect(deployed).toContain('<usage-chart id="live" hidden compare></usage-chart>');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

test('openapi.json is served for every spelling of its path', async () => {
  for (const path of ['/api/v1/openapi.json', '/api/v1/openap%69.json', '/api/v1/openapi%2ejson']) {
    const answer = await fetch(service.url + path);
    expect(answer.headers.get('X-Request-Id')).not.toBeNull(); // the Worker responds, not the asset server
    expect({ path, status: answer.status, body: await answer.json() }).toEqual({ path, status: 200, body: openapi() });
  }
});

test('the API responds with 404 to requests for paths that are not files', async () => {
  for (const path of ['/nothing', '/api', '/api/v1/nothing', '/_headers']) {
    const answer = await fetch(service.url + path);
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 404,
      body: { message: 'Not Found' },
    });
  }
});
