// The lock file installs on Linux, macOS and Windows: `npm ci` fails if the file lacks packages for a platform.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

type Package = { version?: string; optionalDependencies?: Record<string, string> };
const lock = readFileSync(resolve(import.meta.dirname, '../../package-lock.json'), 'utf8');
const { packages } = JSON.parse(lock) as { packages: Record<string, Package> };

/** Resolves `name` from the package at `path`, in its node_modules or those of its parent folders. */
function resolved(path: string, name: string): Package | undefined {
  const own = packages[`${path === '' ? '' : `${path}/`}node_modules/${name}`];
  const around = path.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '');
  return own ?? (path === '' ? undefined : resolved(around, name));
}

test('package-lock.json contains every optional dependency, at its exact version', () => {
  const named = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies).map(([name, version]) => ({ path, name, version })),
  );
  const isExact = (version: string) => /^\d[\d.]*$/.test(version);
  const missing = named.filter(({ path, name, version }) => {
    const found = resolved(path, name);
    return found === undefined || (isExact(version) && found.version !== version);
  });
  expect(missing).toEqual([]);
  for (const platform of ['linux', 'darwin', 'win32']) {
    expect(named.some(({ name }) => name.includes(platform))).toBe(true);
  }
});
