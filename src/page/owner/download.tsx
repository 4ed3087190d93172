// Saves CSV files.
import { type Cell, csvOf } from '../../core/csv.ts';
import type { Failure } from './api.ts';
import { Button, Notice } from './parts.tsx';
import { useMutation } from './query.ts';
import { failureWords } from './words.ts';

const BLOB_MS = 60_000;

/** Excel needs the byte order mark to read names with accents. */
function save(csv: string, name: string): void {
  const url = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), BLOB_MS);
}

/** Saves rows that the page has loaded. */
export const saveRows = (rows: Cell[][], name: string): void => save(csvOf(rows), name);

type Download = { busy: string | null; failure: Failure | null; start: () => void };

/** Downloads a report. The name of its file is needed only then. */
export function useDownload(nameOf: () => string, read: () => Promise<string>): Download {
  const { busy, failure, run } = useMutation();
  const start = () => void run('Downloading…', async () => save(await read(), nameOf()));
  return { busy, failure, start };
}

export const DownloadButton = ({ busy, start, words }: Download & { words: string }) => (
  <Button class="quiet" busy={busy !== null} onClick={start}>
    {busy ?? words}
  </Button>
);

export const DownloadNotice = ({ failure }: Download) => (
  <Notice kind="problem">{failure && `Nothing was saved. ${failureWords(failure)}`}</Notice>
);
