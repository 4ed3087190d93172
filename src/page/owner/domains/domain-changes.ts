// The changes of the domains of a business, one at a time. Each is begun at a place of the view, where its progress and its failure
// stand.

import { useState } from 'preact/hooks';
import { MAX_SITES_PER_CALL } from '../../../core/site.ts';
import type { Failure } from '../api.ts';
import { useArmed } from '../parts.tsx';
import { useMutation } from '../query.ts';
import type { RoomProps } from '../session.ts';

/** What the removal of all domains has done. */
export const EVERYWHERE = 'Removed. The token works on every site now.';

export type DomainChanges = {
  /** The place of the change whose answer is awaited. */
  busy: string | null;
  /** Whether there is any domain. */
  isRestricted: boolean;
  /** A change is awaited, or ended less than half a second ago: no button does anything. */
  locked: boolean;
  /** What the last change did, for screen readers. */
  done: string;
  failureAt: (place: string) => Failure | null;
  /** Forgets the failure of the last change. */
  forget: () => void;
  /** The sites that were removed here, or were about to be. */
  touched: ReadonlySet<string>;
  add: (place: string, sites: string[]) => Promise<boolean>;
  /** Asks first, in a dialog, if no domain would be left. */
  remove: (place: string, sites: string[]) => Promise<boolean>;
  /** Begins the dialog in which all domains are removed. */
  askToLift: (place: string) => void;
  /** Where the dialog was begun while it is open. */
  asking: string | null;
  closeDialog: () => void;
  /** Removes all domains. */
  lift: () => Promise<void>;
  /** What was removed at once, and where. */
  lifted: { place: string; sites: string[] } | null;
};

type Props = Pick<RoomProps, 'api' | 'business' | 'onChanged' | 'reload'>;

export function useDomainChanges({ api, business, onChanged, reload }: Props): DomainChanges {
  const { id, access_list: entries } = business;
  const { busy, failure, run, reset } = useMutation();
  const [last, setLast] = useState({ place: '', count: 0, done: '' });
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<string | null>(null);
  const [lifted, setLifted] = useState<DomainChanges['lifted']>(null);
  const armed = useArmed(`${last.count}`);

  const touch = (sites: string[]) => setTouched((before) => new Set([...before, ...sites]));
  const ended = (place: string, done: string) => setLast(({ count }) => ({ place, count: count + 1, done }));

  async function change(place: string, work: () => Promise<void>, done: string): Promise<boolean> {
    if (busy !== null) return false;
    setLast((before) => ({ ...before, place, done: '' }));
    const succeeded = await run(place, async () => {
      await work();
      ended(place, done);
    });
    if (!succeeded) {
      ended(place, '');
      reload(); // it may have been made all the same
    }
    return succeeded;
  }
  const add = (place: string, sites: string[]) =>
    change(
      place,
      async () => {
        for (let at = 0; at < sites.length; at += MAX_SITES_PER_CALL) {
          onChanged(await api.addSites(id, sites.slice(at, at + MAX_SITES_PER_CALL)));
        }
      },
      `Added ${sites.join(', ')}.`,
    );
  async function remove(place: string, sites: string[]): Promise<boolean> {
    if (entries.every(({ site }) => sites.includes(site))) {
      setAsking(place);
      return false;
    }
    touch(sites);
    return change(
      place,
      async () => {
        for (const entry of entries.filter(({ site }) => sites.includes(site))) {
          onChanged(await api.removeSite(id, entry.id));
        }
      },
      `Removed ${sites.join(', ')}.`,
    );
  }
  async function lift(): Promise<void> {
    if (asking === null) return;
    const sites = entries.map(({ site }) => site);
    touch(sites);
    // None is left if the answer to the first attempt was lost: what that removed can still be added again.
    if (sites.length > 0) setLifted({ place: asking, sites });
    onChanged(await api.removeSites(id));
    ended(asking, EVERYWHERE);
  }
  return {
    busy,
    isRestricted: entries.length > 0,
    locked: busy !== null || !armed,
    done: last.done,
    failureAt: (place) => (busy === null && last.place === place ? failure : null),
    forget: () => busy === null && failure !== null && reset(),
    touched,
    add,
    remove,
    askToLift: setAsking,
    asking,
    closeDialog: () => setAsking(null),
    lift,
    lifted,
  };
}
