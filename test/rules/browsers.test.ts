// The supported browsers. README.md names them, and the build rejects features that they lack.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { BROWSERS, lackingFor } from '../../src/tools/browsers.ts';

test('README.md names the supported browsers', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
  const { chrome, firefox, safari } = BROWSERS;
  expect(readme).toContain(`Chrome and Edge ${chrome}, Firefox ${firefox} and Safari ${safari}`);
});

test.each([
  ['URL.parse(a)?.host', []],
  ['AbortSignal.any([a])', []],
  ['Object.groupBy(a, b)', []],
  ['new ResizeObserver(a)', []],
  ['new Unknown(a).b', []],
  ['Promise.try(a)', ['Promise.try']],
  ['RegExp.escape(a) + RegExp?.escape(b)', ['RegExp.escape', 'RegExp?.escape']],
  ['new CloseWatcher()', ['new CloseWatcher']],
  ['Temporal.Now', ['Temporal.Now']],
])('the build reports the features in %s that the supported browsers lack: %j', (code, lacking) => {
  expect(lackingFor(code)).toEqual(lacking);
});
