// Saves the days that are shown as a file.
import { useRef, useState } from 'preact/hooks';
import type { Range } from '../../../core/time.ts';
import type { Api, Failure } from '../api.ts';
import { Button, Notice } from '../parts.tsx';
import { failureOf, useLatest } from '../query.ts';
import { failureWords } from '../words.ts';

const BLOB_MS = 60_000;

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), BLOB_MS);
}

type Download = { busy: boolean; failure: Failure | null; start: () => void };
const IDLE = { asked: '', busy: false, failure: null as Failure | null };

/** Saves `range`. A file that comes after other days were chosen, or the view was left, is not saved. */
export function useDownload(api: Api, id: number, range: Range): Download {
  const asked = `${range.from}-${range.to}`;
  const [state, setState] = useState(IDLE);
  const begin = useLatest();
  const shown = useRef(asked);
  shown.current = asked; // not in an effect: a file can come before the next frame
  async function start(): Promise<void> {
    const isLatest = begin();
    setState({ asked, busy: true, failure: null });
    try {
      const blob = await api.csv(id, range);
      if (!isLatest()) return;
      if (shown.current === asked) save(blob, `usage-${id}-${asked}.csv`);
      setState(IDLE);
    } catch (error) {
      if (isLatest()) setState({ asked, busy: false, failure: failureOf(error) });
    }
  }
  const { busy, failure } = state.asked === asked ? state : IDLE;
  return { busy, failure, start: () => void start() };
}

export const DownloadButton = ({ busy, start }: Download) => (
  <Button class="quiet" busy={busy} onClick={start}>
    {busy ? 'Downloading…' : 'Download CSV'}
  </Button>
);

export const DownloadNotice = ({ failure }: Download) => (
  <Notice kind="problem">{failure && `Nothing was saved. ${failureWords(failure)}`}</Notice>
);
