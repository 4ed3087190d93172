// The served types compile with React and Vue, and in a project without them.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from './state.ts';

const ROOT = resolve(import.meta.dirname, '../..');

function compile(project: string): string {
  try {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    return execFileSync(process.execPath, [tsc, '-p', project], { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test('the chart’s types compile with React and Vue, and match the element', () => {
  expect(compile(join(ROOT, 'test/types'))).toBe('');
});

test('the chart’s types compile in a project without React or Vue', () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'src/page/types'), { recursive: true });
  mkdirSync(join(folder, 'test/types'), { recursive: true });
  for (const file of ['src/page/types/usage-chart.d.ts', 'test/types/element.ts']) {
    copyFileSync(join(ROOT, file), join(folder, file));
  }
  const compilerOptions = { target: 'es2024', module: 'esnext', moduleResolution: 'bundler', strict: true };
  const rest = { lib: ['es2024', 'dom'], types: [], noEmit: true, allowImportingTsExtensions: true };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...rest } }));
  expect(compile(folder)).toBe('');
});
