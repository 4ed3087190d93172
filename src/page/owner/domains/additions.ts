// What somebody means by the text in the field for domains: which sites would be added, and what is wrong with the rest.
import { canonicalSite, MAX_SITES, MAX_SITES_PER_CALL, sitesCovering } from '../../../core/site.ts';
import { hostOf, lackOf, withScheme } from './address.ts';

/** `problem` is the rest of a sentence that starts with `text`. `right` is what may have been meant. */
export type Wrong = { text: string; problem: string; right: string | null };
type Meant = { site: string; wrong?: never } | { site?: never; wrong: Wrong };

const LACKS = {
  ending: (host: string) =>
    `needs an ending, as in ${host}.com. If it is a name in your own network, write http:// before it`,
  name: (host: string) => `is not a site of one owner: a name before it is missing, as in shop.${host}`,
};

function siteMeant(text: string): Meant {
  const typed = canonicalSite(text);
  if (typed.site !== undefined) return { site: typed.site };
  const completed = withScheme(text);
  const { site, problem } = completed === null ? typed : canonicalSite(completed);
  if (site === undefined) return { wrong: { text, problem, right: null } };
  const lack = lackOf(hostOf(site));
  return lack === null ? { site } : { wrong: { text, problem: LACKS[lack](hostOf(site)), right: null } };
}

/** Without a scheme that is none of a page, a user name, or a dot at the end. */
function repaired(text: string): string {
  const scheme = /^http:/i.test(text) ? 'http://' : '';
  const rest = text.replace(/^(?:[a-z][a-z\d+.-]*:\/*|https?\/+)/i, '').replace(/^[^/?#]*@/, '');
  return `${scheme}${rest.replace(/\.+(?=[:/]|$)/, '')}`;
}

function meantBy(text: string): Meant {
  const meant = siteMeant(text);
  if (meant.wrong === undefined) return meant;
  const { site } = siteMeant(repaired(text));
  return { wrong: { ...meant.wrong, right: site ?? null } };
}

/** The registered wildcard that already lets every page of a site pass. */
export function coverOf(site: string, registered: readonly string[]): string | null {
  const example = site.replace('//*.', '//any.');
  return sitesCovering(example).find((cover) => cover !== site && registered.includes(cover)) ?? null;
}

export type Additions = {
  /** Nothing is sent while there is any of these. */
  wrong: Wrong[];
  /** More than can be added: why. */
  tooMany: string | null;
  /** Registered already. */
  known: string[];
  /** Passing already, by the wildcard `by`. */
  covered: { site: string; by: string }[];
  fresh: string[];
};

/** Hosts and addresses, separated by spaces, commas, semicolons or line breaks. Each site counts once. */
export function additionsOf(text: string, registered: readonly string[]): Additions {
  const additions: Additions = { wrong: [], tooMany: null, known: [], covered: [], fresh: [] };
  const sites = new Set<string>();
  for (const part of new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))) {
    const { site, wrong } = meantBy(part);
    if (wrong !== undefined) additions.wrong.push(wrong);
    else sites.add(site);
  }
  for (const site of sites) {
    const by = coverOf(site, registered);
    if (registered.includes(site)) additions.known.push(site);
    else if (by !== null) additions.covered.push({ site, by });
    else additions.fresh.push(site);
  }
  const count = sites.size - additions.known.length;
  if (count > MAX_SITES_PER_CALL) {
    additions.tooMany = `These are ${count} domains. At most ${MAX_SITES_PER_CALL} can be added at a time.`;
  } else if (count > 0 && registered.length + count > MAX_SITES) {
    additions.tooMany = `A business has at most ${MAX_SITES} domains. This one has ${registered.length}, so ${MAX_SITES - registered.length} more can be added.`;
  }
  return additions;
}
