// The Worker's own time: a call with the results of its database replayed, repeated within one request, where no socket and
// no clock of the Worker's is in the way.
import { CALLS, RANGE_DAYS } from './calls.ts';
import type { Duel, Outcome, Side } from './duel.ts';
import type { Call } from './load.ts';
import { inverse, type Spread } from './stats.ts';

const REPEATS = 2000;

export const OWN_ROWS: { name: string; call: Call; bare: string }[] = [
  { name: `own time: report, ${RANGE_DAYS} days, from a page`, call: CALLS.report, bare: 'bareReport' },
  { name: 'own time: record a use, from a page', call: CALLS.record, bare: 'bareRecord' },
];

/** Of two contenders that are `repeated`. */
export function ownDuel({ name, call }: (typeof OWN_ROWS)[number], side: string, against: string): Duel {
  const sideOf = (contender: string): Side => ({ contender, call, status: 200, span: { repeats: REPEATS } });
  return { name, side: sideOf(side), against: sideOf(against) };
}

/** Microseconds a call, and the time of the side by that of the other. */
export type OwnTime = { name: string; micros: number; againstMicros: number; ratio: Spread };

export const ownTimeOf = ({ name, side, against, ratio }: Outcome): OwnTime => ({
  name,
  micros: side.p50 * 1000,
  againstMicros: against.p50 * 1000,
  ratio: inverse(ratio),
});
