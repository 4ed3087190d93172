// Searches businesses, regardless of accents, case and word order.
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

/** Returns the businesses for which every word of `wanted` matches the name, the domain or the id. The id must match exactly. */
export function searchBusinesses<B extends Named>(among: readonly Indexed<B>[], wanted: string): B[] {
  const words = folded(wanted).split(/\s+/).filter(Boolean);
  return among
    .filter(({ business, text }) => words.every((word) => text.includes(word) || `${business.id}` === word))
    .map(({ business }) => business);
}
