// The supported browsers. README.md names them, and the build rejects features that they lack.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { BROWSERS, lackingFor, RECORDER_BROWSERS } from '../../src/tools/browsers.ts';

test.each([BROWSERS, RECORDER_BROWSERS])(
  'README.md names the supported browsers: %j',
  ({ chrome, firefox, safari }) => {
    const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
    expect(readme).toContain(`Chrome and Edge ${chrome}, Firefox ${firefox} and Safari ${safari}`);
  },
);

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

test('the recorder may not use what its older browsers lack', () => {
  const code = 'AbortSignal.timeout(a); AbortSignal.any?.([b]); new AbortController()';
  expect(lackingFor(code)).toEqual([]);
  expect(lackingFor(code, RECORDER_BROWSERS)).toEqual(['AbortSignal.timeout']);
});
