// The Changes tab: who changed what, newest first, grouped by day. The URL contains the filter.
import { useEffect, useRef, useState } from 'preact/hooks';
import { KEEP_CHANGES_DAYS } from '../../../changes/rules.ts';
import type { ChangeFilter } from '../change-filter.ts';
import { useFocusFallback } from '../focus.ts';
import { dayHeading } from '../formats.ts';
import { Button, FailureNotice, Loading, Notice, Section } from '../parts.tsx';
import { useMutation, useQuery } from '../query.ts';
import { setQuery } from '../route.ts';
import type { OnRead, TabProps } from '../session.ts';
import { failureWords } from '../words.ts';
import { append, byDay, filterOf, join, type Read } from './change-pages.ts';
import { Entry } from './entry.tsx';
import { Filters } from './filters.tsx';

const LOADING_ROWS = 3;

type Props = Pick<TabProps, 'api' | 'query' | 'revision'> & { id: number; onRead: OnRead };

export function Changes({ api, id, query, revision, onRead }: Props) {
  const filter = filterOf(query);
  const isFiltered = Object.keys(filter).length > 0;
  const { from, to } = filter;
  const isReversed = from !== undefined && to !== undefined && from > to;
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isReversed) onRead(null);
  }, [isReversed]);

  function clear(): void {
    setQuery({ action: null, search: null, from: null, to: null }, 'push');
    bar.current?.querySelector('select')?.focus(); // the pressed button can disappear
  }
  return (
    <Section
      id="changes"
      title="Changes"
      note={`Changes from the last ${KEEP_CHANGES_DAYS} days, newest first. Days and times are in UTC.`}
    >
      <search ref={bar}>
        <Filters filter={filter} isReversed={isReversed} isFiltered={isFiltered} clear={clear} />
      </search>
      {!isReversed && (
        <List
          key={`${id} ${JSON.stringify(filter)}`}
          api={api}
          id={id}
          filter={filter}
          revision={revision}
          clear={isFiltered ? clear : null}
          onRead={onRead}
        />
      )}
    </Section>
  );
}

type ListProps = Omit<Props, 'query'> & {
  filter: ChangeFilter;
  /** Clears the filter. Null if no filter is set. */
  clear: (() => void) | null;
};

/** Lists the changes that match one filter. Keyed by the filter, so a late response never reaches another filter's list. */
function List({ api, id, filter, revision, clear, onRead }: ListProps) {
  const newest = useQuery('newest', revision, () => api.changes(id, filter, null));
  useEffect(() => onRead(newest), [newest.readAt, newest.busy, newest.failure]);
  const [known, setKnown] = useState<Read | null>(null);
  const { busy, failure, run } = useMutation();
  const list = useRef<HTMLDivElement>(null);
  /** The id of the change to focus when "Older" disappears: the first one on the newly loaded page, or else the last in the list. */
  const firstLoaded = useRef(0);
  const shown = newest.data === null ? null : join(newest.data, known);

  const entry = () => list.current?.querySelector<HTMLElement>(`[data-id="${firstLoaded.current}"]`);
  useFocusFallback(list, () => entry() ?? list.current);

  const older = (from: Read) =>
    run('Loading…', async () => {
      const page = await api.changes(id, filter, from.next);
      firstLoaded.current = page.changes[0]?.id ?? from.changes.at(-1)?.id ?? 0;
      setKnown(append(from, page));
    });

  if (shown === null) {
    return newest.failure === null ? (
      <Loading rows={LOADING_ROWS} />
    ) : (
      <FailureNotice failure={newest.failure} reload={newest.reload} />
    );
  }
  const { changes, next } = shown;
  return (
    <div ref={list} class="log" tabIndex={-1}>
      {changes.length === 0 && <Empty next={next} clear={clear} />}
      {byDay(changes).map(({ day, changes: ofDay }) => (
        <section key={day} aria-labelledby={`day-${day}`}>
          <h3 id={`day-${day}`}>{dayHeading(day)}</h3>
          <ol>
            {ofDay.map((change) => (
              <Entry key={change.id} change={change} />
            ))}
          </ol>
        </section>
      ))}
      <Notice kind="problem">{failure && failureWords(failure)}</Notice>
      {next !== null && (
        <Button class="quiet" busy={busy !== null} onClick={() => void older(shown)}>
          {busy ?? 'Older'}
        </Button>
      )}
    </div>
  );
}

function Empty({ next, clear }: { next: number | null; clear: (() => void) | null }) {
  if (clear === null) return <p class="empty">No changes yet.</p>;
  return (
    <div class="empty" role="status">
      <p>
        {next === null
          ? 'No changes match.'
          : 'None of the newest changes match. Press “Older” to search further back.'}
      </p>
      <Button class="quiet" onClick={clear}>
        Show all changes
      </Button>
    </div>
  );
}
