// Parses the text of the domain field into the sites to add and the problems to show.
import { canonicalSite, isAppOrigin, MAX_SITES, MAX_SITES_PER_CALL, sitesCovering } from '../../../core/site.ts';
import { hostOf, missingPart, withScheme } from './address.ts';

/** `problem` completes a sentence that starts with `text`. `right` is the suggested correction. */
export type Wrong = { text: string; problem: string; right: string | null };
type Parsed = { site: string; wrong?: never } | { site?: never; wrong: Wrong };

const MISSING = {
  ending: (host: string) =>
    `needs a domain ending, as in ${host}.com. If it is a name on your own network, put http:// in front of it`,
  name: (host: string) => `is shared by many owners. Put a name in front of it, as in shop.${host}`,
};

function parseSite(text: string): Parsed {
  const typed = canonicalSite(text);
  if (typed.site !== undefined) return { site: typed.site };
  const completed = withScheme(text);
  const { site, problem } = completed === null ? typed : canonicalSite(completed);
  if (site === undefined) return { wrong: { text, problem, right: null } };
  const missing = missingPart(hostOf(site));
  return missing === null ? { site } : { wrong: { text, problem: MISSING[missing](hostOf(site)), right: null } };
}

/** Strips schemes that pages cannot have, a user name, and a trailing dot. */
function repair(text: string): string {
  const scheme = /^http:/i.test(text) ? 'http://' : '';
  const rest = text.replace(/^(?:[a-z][a-z\d+.-]*:\/*|https?\/+)/i, '').replace(/^[^/?#]*@/, '');
  return `${scheme}${rest.replace(/\.+(?=[:/]|$)/, '')}`;
}

/** The URL of an app or a browser extension. Any other scheme can be a slip for https, unless its host is localhost. */
const APP_URL = /^(?:(?:capacitor|ionic|tauri|app|chrome-extension):|(?!https?:)[a-z][a-z\d+.-]*:\/\/localhost)/i;

function suggestionFor(text: string): string | null {
  if (!APP_URL.test(text)) return parseSite(repair(text)).site ?? null;
  const origin = text.replace(/(?<=:\/\/[^/?#]*)[/?#].*$/, '').toLowerCase();
  return isAppOrigin(origin) ? origin : null;
}

function parseWithSuggestion(text: string): Parsed {
  const parsed = parseSite(text);
  return parsed.wrong === undefined ? parsed : { wrong: { ...parsed.wrong, right: suggestionFor(text) } };
}

/** Returns the registered wildcard that already covers every page of a site, or null. */
function wildcardOver(site: string, registered: readonly string[]): string | null {
  const example = site.replace('//*.', '//any.');
  return sitesCovering(example).find((cover) => cover !== site && registered.includes(cover)) ?? null;
}

export type Additions = {
  /** If there are any, the request is not sent. */
  wrong: Wrong[];
  /** The reason why this number of sites cannot be added, or null. */
  tooMany: string | null;
  /** Already registered. */
  known: string[];
  fresh: string[];
  /** Those of `fresh` that the wildcard `by` already covers. */
  covered: { site: string; by: string }[];
};

/** Parses hosts and URLs separated by spaces, commas, semicolons or line breaks, and drops duplicates. */
export function parseAdditions(text: string, registered: readonly string[]): Additions {
  const additions: Additions = { wrong: [], tooMany: null, known: [], fresh: [], covered: [] };
  const sites = new Set<string>();
  for (const part of new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))) {
    const { site, wrong } = parseWithSuggestion(part);
    if (wrong !== undefined) additions.wrong.push(wrong);
    else sites.add(site);
  }
  for (const site of sites) (registered.includes(site) ? additions.known : additions.fresh).push(site);
  for (const site of additions.fresh) {
    const by = wildcardOver(site, registered);
    if (by !== null) additions.covered.push({ site, by });
  }
  const count = additions.fresh.length;
  if (count > MAX_SITES_PER_CALL) {
    additions.tooMany = `You entered ${count} domains. You can add at most ${MAX_SITES_PER_CALL} at a time.`;
  } else if (count > 0 && registered.length + count > MAX_SITES) {
    additions.tooMany = `A business can have at most ${MAX_SITES} domains. This one has ${registered.length}, so you can add ${MAX_SITES - registered.length} more.`;
  }
  return additions;
}
