// The changes of the domains of a business, one at a time. Each is begun at a place of the view, where its progress and its failure
// stand.

import { useState } from 'preact/hooks';
import { MAX_SITES_PER_CALL } from '../../../core/site.ts';
import { useArmed } from '../parts.tsx';
import { useMutation } from '../query.ts';
import type { RoomProps } from '../session.ts';

/** What the removal of all domains has done. */
export const EVERYWHERE = 'Removed. The token works on every site now.';

export type DomainChanges = ReturnType<typeof useDomainChanges>;

/** What was removed at once, and where. */
type Lifted = { place: string; sites: string[] };

type Props = Pick<RoomProps, 'api' | 'business' | 'onChanged' | 'reload'>;

export function useDomainChanges({ api, business, onChanged, reload }: Props) {
  const { id, access_list: entries } = business;
  const { busy, failure, run, reset } = useMutation();
  const [last, setLast] = useState({ place: '', count: 0, done: '' });
  /** The sites that were removed here, or were about to be. */
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  /** Where the dialog was begun while it is open. */
  const [asking, setAsking] = useState<string | null>(null);
  const [lifted, setLifted] = useState<Lifted | null>(null);
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
  /** Asks first, in a dialog, if no domain would be left. */
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
  /** Removes all domains. */
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
    /** The place of the change whose answer is awaited. */
    busy,
    /** Whether there is any domain. */
    isRestricted: entries.length > 0,
    /** A change is awaited, or ended less than half a second ago: no button does anything. */
    locked: busy !== null || !armed,
    /** What the last change did, for screen readers. */
    done: last.done,
    failureAt: (place: string) => (busy === null && last.place === place ? failure : null),
    /** Forgets the failure of the last change. */
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
