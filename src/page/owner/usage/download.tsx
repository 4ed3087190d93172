// Downloads the shown days as a CSV file.
import type { Range } from '../../../core/time.ts';
import type { Api, Failure } from '../api.ts';
import { Button, Notice } from '../parts.tsx';
import { useMutation } from '../query.ts';
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

type Download = { busy: string | null; failure: Failure | null; start: () => void };

/** Downloads the report for `range`, unless the owner chooses other days or leaves the tab before the file arrives. */
export function useDownload(api: Api, id: number, range: Range): Download {
  const days = `${range.from}-${range.to}`;
  const { busy, failure, run } = useMutation(days);
  const start = () =>
    void run('Downloading…', async (isWanted) => {
      const blob = await api.csv(id, range);
      if (isWanted()) save(blob, `usage-${id}-${days}.csv`);
    });
  return { busy, failure, start };
}

export const DownloadButton = ({ busy, start }: Download) => (
  <Button class="quiet" busy={busy !== null} onClick={start}>
    {busy ?? 'Download CSV'}
  </Button>
);

export const DownloadNotice = ({ failure }: Download) => (
  <Notice kind="problem">{failure && `Nothing was saved. ${failureWords(failure)}`}</Notice>
);
