// Builds the static files: the pages, the chart and the OpenAPI description. Runs before wrangler bundles the Worker and before vitest runs
// the tests. For `npm run dev`, also builds a second folder whose page shows the demo business. That folder is never deployed.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { openapi } from '../openapi/document.ts';
import { operationsHtml } from '../openapi/html.ts';
import { BROWSERS, lackingFor, RECORDER_BROWSERS, targetOf } from './browsers.ts';
import { chartFiles, pin, recorderFiles } from './chart.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'src/page');
const DEPLOYED = 'dist/assets';

/** The environment variable that passes the demo page's folder from `npm run dev` to wrangler's build. */
export const DEMO_VARIABLE = 'USAGE_DEMO';
/** The environment variable that says by how many milliseconds a rehearsal's clock is ahead (`npm run dev -- --now`). */
export const AHEAD_VARIABLE = 'USAGE_AHEAD_MS';
/** What the page at / shows of the demo: the business of the chart, the one that refuses an origin, and where its owner is signed in. */
export type ShownDemo = { id: number; token: string; refusing: number | undefined; console: string };
/** The file with the demo. It does not exist during the first build, because only the running service can create the businesses. */
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

const CONSOLE = 'owner/main.tsx';

/** Fills in the page at /. */
function pageOf(template: string, demo?: ShownDemo): string {
  const shown =
    demo === undefined ? 'hidden' : `business="${demo.id}" token="${demo.token}" label="A demo business, live"`;
  return template
    .replace('<!-- live chart -->', `<usage-chart id="live" ${shown} compare></usage-chart>`)
    .replace('href="/owner"', `href="${demo?.console ?? '/owner'}"`)
    .replace('<!-- operations -->', () => operationsHtml(demo?.refusing));
}

function demoIn(folder: string): ShownDemo | undefined {
  const file = demoFileIn(folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
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
      const { code: minified } = await esbuild.transform(style, {
        loader: 'css',
        minify: true,
        target: targetOf(BROWSERS),
      });
      return { loader: 'ts', contents: `${code}${JSON.stringify(minified.trim().replace(/([:,]) /g, '$1'))}${end}` };
    }),
};

/** Leaves out what Hono's client contains only to send cookies, which the console never does. It is a hundredth of the console's script. */
const noCookies: esbuild.Plugin = {
  name: 'no cookies',
  setup: ({ onLoad }) =>
    onLoad({ filter: /hono.dist.utils.cookie\.js$/ }, () => ({ contents: "export const serialize = () => '';" })),
};

/** The page's code must not use these names: where a variable has one of them, elements would be made by calling that variable. */
const JSX =
  "/** @jsxRuntime classic @jsx jsxElement @jsxFrag JsxFragment */ import { Fragment as JsxFragment, h as jsxElement } from 'preact';";

/** Compiles JSX to calls of Preact's `h`, which do not name the children. This makes the console's script a hundredth smaller. */
const shortElements: esbuild.Plugin = {
  name: 'short elements',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.tsx$/ }, ({ path }) => ({ loader: 'tsx', contents: JSX + readFileSync(path, 'utf8') })),
};

/** Bundles files of src/page. Throws if the oldest of their browsers lack something that the code uses. */
async function bundle(
  names: string[],
  browsers: typeof RECORDER_BROWSERS,
  aheadMs: number,
): Promise<esbuild.OutputFile[]> {
  const { outputFiles } = await esbuild.build({
    entryPoints: names.map((name) => ({ in: join(PAGE, name), out: name === CONSOLE ? 'owner' : parse(name).name })),
    outdir: ROOT,
    bundle: true,
    minify: true,
    format: 'esm',
    target: targetOf(browsers),
    plugins: [minifiedStyle, noCookies, shortElements],
    ...(aheadMs !== 0 && {
      inject: [join(PAGE, 'rehearsal.ts')],
      define: { 'Date.now': 'rehearsedNow', AHEAD_MS: `${aheadMs}` },
    }),
    write: false,
    logLevel: 'warning',
  });
  for (const { path, text } of outputFiles) {
    const lacking = path.endsWith('.js') ? lackingFor(text, browsers) : [];
    if (lacking.length > 0)
      throw new Error(`${path}: the oldest browsers (src/tools/browsers.ts) lack ${lacking.join(', ')}`);
  }
  return outputFiles;
}

/** Returns the code of the recorder as it is served. */
export async function recorderCode(aheadMs = 0): Promise<Uint8Array> {
  const [file] = await bundle(['usage-recorder.ts'], RECORDER_BROWSERS, aheadMs);
  return file?.contents ?? new Uint8Array();
}

async function files(aheadMs: number): Promise<Record<string, string | Uint8Array>> {
  const names = ['usage-chart.ts', 'page.ts', 'page.css', 'owner.css', CONSOLE];
  const outputFiles = await bundle(names, BROWSERS, aheadMs);
  const codeOf = (name: string) => outputFiles.find(({ path }) => path.endsWith(name))?.contents ?? new Uint8Array();
  const chart = codeOf('usage-chart.js');
  const { path, integrity } = pin(chart);
  const template = readFileSync(join(PAGE, 'index.html'), 'utf8');
  return {
    'api/v1/openapi.json': JSON.stringify(openapi()),
    'index.html': template.replace('<!-- pinned -->', `${path}" integrity="${integrity}`),
    'owner.html': readFileSync(join(PAGE, 'owner.html')),
    _headers: readFileSync(join(PAGE, '_headers')),
    ...chartFiles(chart),
    ...recorderFiles(await recorderCode(aheadMs)),
    ...Object.fromEntries(outputFiles.map(({ path, contents }) => [path.slice(ROOT.length + 1), contents])),
  };
}

export default async function build(
  demoFolder = process.env[DEMO_VARIABLE],
  aheadMs = Number(process.env[AHEAD_VARIABLE] ?? 0),
): Promise<void> {
  async function writeTo(folder: string, aheadMs: number, demo?: ShownDemo): Promise<void> {
    for (const [name, content] of Object.entries(await files(aheadMs)))
      write(resolve(ROOT, folder, name), name === 'index.html' ? pageOf(`${content}`, demo) : content);
  }
  await writeTo(DEPLOYED, 0);
  if (demoFolder !== undefined) await writeTo(demoFolder, aheadMs, demoIn(demoFolder));
}

if (import.meta.main) await build();
