// Compares two bundles of the service, the new one with the old one, on one database.
import { duel, type Scene } from './duel.ts';
import { OWN_ROWS, REPEATED, ROWS, SIZES, serviceOf } from './floors.ts';
import type { Call } from './load.ts';
import type { Contender } from './stage.ts';

const DEPLOYED = ', with rate limits and log line';
/** A client address, as in every call from the internet. */
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
