// Builds the static files: the pages, the chart and the OpenAPI description. Runs before wrangler bundles the Worker and before vitest runs
// the tests. For `npm run dev`, also builds a second folder whose page shows the demo business. That folder is never deployed.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { openapi } from '../openapi/document.ts';
import { operationsHtml } from '../openapi/operations.ts';
import { lackingFor, TARGET } from './browsers.ts';
import { chartFiles, pin, recorderFiles } from './chart.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'src/page');
const DEPLOYED = 'dist/assets';

/** The environment variable that passes the demo page's folder from `npm run dev` to wrangler's build. */
export const DEMO_VARIABLE = 'USAGE_DEMO';
/**
 * The file with the demo business's id and token. The file does not exist during the first build, because only the running service can
 * create the business and its token.
 */
export const demoFileIn = (folder: string): string => resolve(ROOT, folder, 'demo.json');

/** Writes a file if its content changed. The write is atomic, so a server that watches the folder never reads a partial file. */
function write(path: string, content: string | Uint8Array): void {
  const bytes = Buffer.from(content);
  try {
    if (readFileSync(path).equals(bytes)) return;
  } catch {
    mkdirSync(dirname(path), { recursive: true });
  }
  const draft = join(ROOT, 'dist', `draft-${process.pid}`);
  writeFileSync(draft, bytes);
  renameSync(draft, path);
}

const RECORDER = 'usage-recorder.js';

const LIVE = '<usage-chart id="live" hidden></usage-chart>';

function liveIn(folder: string): string {
  const file = demoFileIn(folder);
  if (!existsSync(file)) return LIVE;
  const { id, token } = JSON.parse(readFileSync(file, 'utf8'));
  return `<usage-chart id="live" business="${id}" token="${token}"></usage-chart>`;
}

/**
 * Minifies the chart's style sheet, because esbuild does not minify strings. This makes it a fifth smaller. Also removes spaces that
 * esbuild leaves in custom properties.
 */
const minifiedStyle: esbuild.Plugin = {
  name: 'minified style',
  setup: ({ onLoad }) =>
    onLoad({ filter: /chart-style\.ts$/ }, async ({ path }) => {
      const [code = '', style = '', end = ''] = readFileSync(path, 'utf8').split('`');
      const { code: minified } = await esbuild.transform(style, { loader: 'css', minify: true, target: TARGET });
      return { loader: 'ts', contents: `${code}${JSON.stringify(minified.trim().replace(/([:,]) /g, '$1'))}${end}` };
    }),
};

async function files(): Promise<Record<string, string | Uint8Array>> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [
      ...['usage-chart.ts', 'usage-recorder.ts', 'page.ts', 'page.css', 'owner.css'].map((name) => join(PAGE, name)),
      { in: join(PAGE, 'owner/main.tsx'), out: 'owner' },
    ],
    outdir: ROOT,
    bundle: true,
    minify: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    target: TARGET,
    plugins: [minifiedStyle],
    write: false,
    logLevel: 'warning',
  });
  for (const { path, text } of outputFiles) {
    const lacking = path.endsWith('.js') ? lackingFor(text) : [];
    if (lacking.length > 0)
      throw new Error(`${path}: the oldest browsers (src/tools/browsers.ts) lack ${lacking.join(', ')}`);
  }
  const codeOf = (name: string) => outputFiles.find(({ path }) => path.endsWith(name))?.contents ?? new Uint8Array();
  const chart = codeOf('usage-chart.js');
  const { path, integrity } = pin(chart);
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8')
    .replace('<!-- live chart -->', LIVE)
    .replace('<!-- pinned -->', `${path}" integrity="${integrity}`)
    .replace('<!-- operations -->', () => operationsHtml());
  return {
    'api/v1/openapi.json': JSON.stringify(openapi()),
    'index.html': html,
    'owner.html': readFileSync(join(PAGE, 'owner.html')),
    _headers: readFileSync(join(PAGE, '_headers')),
    ...chartFiles(chart),
    ...recorderFiles(codeOf(RECORDER)),
    ...Object.fromEntries(
      outputFiles
        .filter(({ path }) => !path.endsWith(RECORDER))
        .map(({ path, contents }) => [path.slice(ROOT.length + 1), contents]),
    ),
  };
}

export default async function build(demoFolder = process.env[DEMO_VARIABLE]): Promise<void> {
  const made = await files();
  for (const [name, content] of Object.entries(made)) {
    write(join(ROOT, DEPLOYED, name), content);
    if (demoFolder === undefined) continue;
    const shown = name === 'index.html' ? `${content}`.replace(LIVE, () => liveIn(demoFolder)) : content;
    write(resolve(ROOT, demoFolder, name), shown);
  }
}

if (import.meta.main) await build();
