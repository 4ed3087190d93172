// The oldest browsers that the pages support. esbuild rejects or rewrites syntax and CSS that these browsers lack, and the `lib` of
// src/page/tsconfig.json excludes newer ECMAScript built-ins. This file finds newer constructors and static methods, such as URL.parse.
import bcd from '@mdn/browser-compat-data' with { type: 'json' };
import type { CompatStatement, Identifier } from '@mdn/browser-compat-data';

/** README.md promises these versions, released between May and September 2024. */
export const BROWSERS = { chrome: 126, firefox: 126, safari: 18 } as const;
/** The recorder runs for every visitor of a customer's page, so it supports browsers of 2021. */
export const RECORDER_BROWSERS: Browsers = { chrome: 92, firefox: 90, safari: 15 };
type Browser = keyof typeof BROWSERS;
type Browsers = Record<Browser, number>;
const names = Object.keys(BROWSERS) as Browser[];

/** Returns the browsers in esbuild's notation, such as `chrome126`. */
export const targetOf = (browsers: Browsers): string[] => names.map((browser) => `${browser}${browsers[browser]}`);

function isIn(browser: Browser, browsers: Browsers, { support }: CompatStatement): boolean {
  const [{ version_added = false, flags } = {}] = [support[browser] ?? []].flat();
  return (
    typeof version_added === 'string' &&
    !flags &&
    Number.parseFloat(version_added.replace('≤', '')) <= browsers[browser]
  );
}

/**
 * Returns the global constructors and members that the code uses and at least one of the browsers lacks. A member that is called with `?.()`
 * may be missing.
 */
export function lackingFor(code: string, browsers: Browsers = BROWSERS): string[] {
  const lookUp = (name: string): Identifier | undefined => bcd.api[name] ?? bcd.javascript.builtins?.[name];
  const used = [...code.matchAll(/\b(?:new )?([A-Z]\w*)(?:\??\.(\w+)(?!\w|\?\.\())?/g)].flatMap(
    ([text, name = '', member]) => {
      const object = lookUp(name);
      const created = text.startsWith('new ') ? object : undefined;
      const feature = member === undefined ? created : (object?.[`${member}_static`] ?? object?.[member]);
      return feature?.__compat ? [{ text, compat: feature.__compat }] : [];
    },
  );
  const lacking = used.filter(({ compat }) => !names.every((browser) => isIn(browser, browsers, compat)));
  return [...new Set(lacking.map(({ text }) => text))];
}
