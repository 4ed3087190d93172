// Adds and removes domains, one change at a time. The control that starts a change (`source`) shows that change's progress and failure.
import { useState } from 'preact/hooks';
import { MAX_SITES_PER_CALL } from '../../../core/site.ts';
import { Notice } from '../parts.tsx';
import { useMutation } from '../query.ts';
import type { TabProps } from '../session.ts';
import { changeFailureWords } from '../words.ts';

/** Shown after all domains have been removed. */
export const EVERYWHERE = 'Removed. The token now works on every site.';

export type SiteChanges = ReturnType<typeof useSiteChanges>;

type Props = Pick<TabProps, 'api' | 'business' | 'onChanged' | 'reload'>;

export function useSiteChanges({ api, business, onChanged, reload }: Props) {
  const { id, access_list: entries } = business;
  const { busy, failure, run, reset } = useMutation();
  const [last, setLast] = useState({ source: '', done: '' });
  const [confirming, setConfirming] = useState<string | null>(null);
  const [cleared, setCleared] = useState<{ source: string; sites: string[] } | null>(null);

  async function change(source: string, work: () => Promise<void>, done: string): Promise<boolean> {
    if (busy !== null) return false;
    setLast({ source, done: '' });
    const succeeded = await run(source, async () => {
      await work();
      setLast({ source, done });
    });
    if (!succeeded) reload(); // the change may have been made anyway
    return succeeded;
  }
  async function addSites(sites: string[]): Promise<void> {
    for (let start = 0; start < sites.length; start += MAX_SITES_PER_CALL) {
      onChanged(await api.addSites(id, sites.slice(start, start + MAX_SITES_PER_CALL)));
    }
  }
  async function removeSites(sites: string[]): Promise<void> {
    for (const entry of entries.filter(({ site }) => sites.includes(site))) {
      onChanged(await api.removeSite(id, entry.id));
    }
  }
  const add = (source: string, sites: string[]) => change(source, () => addSites(sites), `Added ${sites.join(', ')}.`);
  /** Removes sites. If none would remain, opens the confirmation dialog instead. */
  async function remove(source: string, sites: string[]): Promise<boolean> {
    if (entries.every(({ site }) => sites.includes(site))) {
      setConfirming(source);
      return false;
    }
    return change(source, () => removeSites(sites), `Removed ${sites.join(', ')}.`);
  }
  async function removeAll(): Promise<void> {
    if (confirming === null) return;
    const sites = entries.map(({ site }) => site);
    // The list can be empty on a retry after a lost response. In that case, Undo keeps the sites of the first attempt.
    if (sites.length > 0) setCleared({ source: confirming, sites });
    onChanged(await api.removeSites(id));
    setLast({ source: confirming, done: EVERYWHERE });
  }
  return {
    /** The source of the pending change. */
    busy,
    isRestricted: entries.length > 0,
    /** Whether all buttons are disabled, because a change is pending. */
    locked: busy !== null,
    /** The result of the last change, for screen readers. */
    done: last.done,
    failureFrom: (source: string) => (busy === null && last.source === source ? failure : null),
    clearFailure: () => busy === null && failure !== null && reset(),
    add,
    remove,
    confirmRemoveAll: setConfirming,
    /** The source that opened the dialog, or null if the dialog is closed. */
    confirming,
    closeDialog: () => setConfirming(null),
    removeAll,
    /** The sites that `removeAll` removed. */
    cleared,
  };
}

/** Shows why the last change from `source` failed. */
export function ChangeFailure({ changes, source }: { changes: SiteChanges; source: string }) {
  const failure = changes.failureFrom(source);
  if (failure === null) return null;
  return (
    <Notice kind="problem">
      {failure.status === 404 ? 'It has already been removed.' : changeFailureWords(failure)}
    </Notice>
  );
}
