// Compares the service's new bundle with an old one on the same database.
import { duel, type Scene } from './duel.ts';
import { OWN_ROWS, REPEATED, ROWS, SIZES, serviceOf } from './floors.ts';
import type { Call } from './load.ts';
import type { Contender } from './stage.ts';

const DEPLOYED = ', with rate limits and log lines';
/** Adds a client address, which the platform sets in every request. */
const withAddress = ({ headers, ...call }: Call): Call => ({
  ...call,
  headers: { ...headers, 'CF-Connecting-IP': '192.0.2.1' },
});

export const against = (oldCode: string, newCode: string): Scene => ({
  contenders: Object.entries({ old: oldCode, new: newCode }).flatMap(([name, code]): Contender[] => {
    const service = serviceOf(name, code);
    const repeated: Contender = { ...service, name: `${name} repeated`, around: 'repeated' };
    return [service, repeated, { ...repeated, name: `${name} deployed`, isDeployed: true }];
  }),
  sizes: SIZES,
  duels: [
    ...ROWS.map(([name, call]) => duel('against', name, call, ['new', 'old'])),
    ...OWN_ROWS.flatMap(([name, call]) => [
      duel('own against', name, call, ['new repeated', 'old repeated'], REPEATED),
      duel('own against', `${name}${DEPLOYED}`, withAddress(call), ['new deployed', 'old deployed'], REPEATED),
    ]),
  ],
});
