// Tokens, keys and codes that only the service chooses. Until the model has seen one, a marker stands for it: ⟨5⟩ for the text, and ⟨5.4⟩
// for its last four characters.
import type { State } from './state.ts';

/** Stands for a text that the service is about to choose. */
export function newMarker(state: State): string {
  state.markers += 1;
  return `⟨${state.markers}⟩`;
}

const markerIn = (text: string) => /^⟨(\d+)⟩$/.exec(text)?.[1];

export function lastFour(text: string): string {
  const marker = markerIn(text);
  return marker === undefined ? text.slice(-4) : `⟨${marker}.4⟩`;
}

/** Replaces the markers whose texts are known. */
export const reveal = (state: State, text: string): string =>
  !text.includes('⟨')
    ? text
    : text.replace(/⟨(\d+)(\.4)?⟩/g, (marker, number, isShort) => {
        const known = state.known[Number(number)];
        return (isShort ? (known?.slice(-4) ?? state.fours[Number(number)]) : known) ?? marker;
      });

/** Compares a text with an expected one, and learns what its markers stand for. */
export function matches(state: State, expected: string, actual: string): boolean {
  const revealed = reveal(state, expected);
  if (!revealed.includes('⟨')) return revealed === actual;
  const learned: [texts: Record<number, string>, number: number][] = [];
  const pattern = revealed.replace(/⟨(\d+)(\.4)?⟩|[\s\S]/g, (part, number, isShort) => {
    if (number === undefined) return part.replace(/[.*+?^${}()|[\]\\]/, '\\$&');
    learned.push([isShort ? state.fours : state.known, Number(number)]);
    if (isShort) return '([0-9A-Za-z]{4})';
    return '([0-9A-Za-z_]{34,41})';
  });
  const found = new RegExp(`^${pattern}$`).exec(actual);
  if (found === null) return false;
  for (const [index, [texts, number]] of learned.entries()) texts[number] = found[index + 1] as string;
  return true;
}
