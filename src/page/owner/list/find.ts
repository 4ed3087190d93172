// Searches businesses, regardless of accents, case and word order. If nothing matches, forgives one typo in each word.
import type { ListedBusiness } from '../../../business/description.ts';
import { unicodeDomain } from '../punycode.ts';

/** Letters that Unicode does not decompose into a base letter and an accent. */
const PLAIN: Record<string, string> = {
  ...{ ß: 'ss', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', æ: 'ae', œ: 'oe', ı: 'i' },
  ς: 'σ', // sigma at the end of a word
};

const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßøłđðþæœıς]/g, (letter) => PLAIN[letter] ?? letter);

type Named = Pick<ListedBusiness, 'id' | 'name' | 'main_domain'>;

type Indexed<B extends Named> = { business: B; text: string };

export const indexBusinesses = <B extends Named>(businesses: readonly B[]): Indexed<B>[] =>
  businesses.map((business) => {
    const { name, main_domain } = business;
    return { business, text: folded(`${name}\n${main_domain}\n${unicodeDomain(main_domain)}`) };
  });

/** Shorter words with a typo would match too much. */
const MIN_TYPO_LENGTH = 4;

/** Returns whether a word begins like `typed`, apart from one letter that is wrong, missing, extra or swapped with the next. */
function isNear(word: string, typed: string): boolean {
  const same = [...typed].findIndex((_, at) => !word.startsWith(typed.slice(0, at + 1)));
  const [of, by] = [word.slice(same), typed.slice(same)];
  return (
    of.slice(1).startsWith(by.slice(1)) ||
    of.slice(1).startsWith(by) ||
    of.startsWith(by.slice(1)) ||
    `${of[1]}${of[0]}${of.slice(2)}`.startsWith(by)
  );
}
const isLike = (text: string, typed: string): boolean =>
  text.includes(typed) ||
  (typed.length >= MIN_TYPO_LENGTH &&
    !/\d/.test(typed) &&
    text.split(/[^\p{L}\p{N}]+/u).some((word) => isNear(word, typed)));

/** Returns the businesses for which every word of `wanted` matches the name, the domain or the id. The id must match exactly. */
export function searchBusinesses<B extends Named>(among: readonly Indexed<B>[], wanted: string): B[] {
  const words = folded(wanted).split(/\s+/).filter(Boolean);
  const found = (matches: typeof isLike) =>
    among
      .filter(({ business, text }) => words.every((word) => matches(text, word) || `${business.id}` === word))
      .map(({ business }) => business);
  const exact = found((text, word) => text.includes(word));
  return exact.length > 0 ? exact : found(isLike);
}
