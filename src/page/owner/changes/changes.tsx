// Who changed what, newest first, under the days. The address says what narrows the list.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MAX_SEARCH_LENGTH } from '../../../core/change.ts';
import { FIRST_DAY, isDay } from '../../../core/time.ts';
import type { Change } from '../../../wire/responses.ts';
import type { Api } from '../api.ts';
import { useKeptFocus } from '../focus.ts';
import { dayHeading, instantWords, number } from '../formats.ts';
import { Button, FailureNotice, Loading, Notice, Section } from '../parts.tsx';
import { useMutation, useQuery } from '../query.ts';
import { setQuery } from '../route.ts';
import type { OnRead, RoomProps } from '../session.ts';
import { useTyping } from '../typing.ts';
import { failureWords } from '../words.ts';
import { ACTIONS } from './actions.ts';
import {
  append,
  byDay,
  type ChangeFilter,
  type Filter,
  filterOf,
  join,
  NARROWING,
  type Narrowing,
  type Read,
  readOn,
} from './change-pages.ts';
import { describe, type Line, whoWords } from './change-words.ts';

const LOADING_ROWS = 3;
/** More entries of a list than these are folded away. */
const MOST_SHOWN = 5;
/** Nobody sees these changes here: the business is gone. */
const UNSEEN = 'delete_business';

type Props = Pick<RoomProps, 'api' | 'query' | 'revision'> & { id: number; onRead: OnRead };

export function Changes({ api, id, query, revision, onRead }: Props) {
  const filter = filterOf(query);
  const [isTyping, setTyping] = useState(false);
  const sent = JSON.stringify(filter.sent);
  const isNarrowed = Object.values(filter.values).some((value) => value !== '');
  const isRefused = Object.keys(filter.problems).length > 0;
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isRefused) onRead(null);
  }, [isRefused]);

  function clear(): void {
    setQuery({ action: null, search: null, from: null, to: null }, 'push');
    bar.current?.querySelector('select')?.focus(); // the button that was pressed can go
  }
  return (
    <Section id="changes" title="Changes" note="Newest first, of the last 400 days. Days and times are UTC.">
      <search ref={bar}>
        <Bar filter={filter} isNarrowed={isNarrowed} setTyping={setTyping} clear={clear} />
      </search>
      {!isRefused && (
        <div class={isTyping ? 'overtaken' : undefined} aria-busy={isTyping ? 'true' : undefined}>
          <List
            key={`${id} ${sent}`}
            api={api}
            id={id}
            filter={filter.sent}
            revision={revision}
            clear={isNarrowed ? clear : null}
            onRead={onRead}
          />
        </div>
      )}
    </Section>
  );
}

type BarProps = {
  filter: Filter;
  isNarrowed: boolean;
  setTyping: (isTyping: boolean) => void;
  clear: () => void;
};

/**
 * The fields keep what is typed, also a day that is not complete, until the address says something else. A choice is in the address at
 * once, and what is typed is after a short wait.
 */
function Bar({ filter: { values, problems }, isNarrowed, setTyping, clear }: BarProps) {
  const form = useRef<HTMLFormElement>(null);
  const [incomplete, setIncomplete] = useState<readonly Narrowing[]>([]);
  const field = (name: Narrowing) => form.current?.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;

  const { wait, finish, drop } = useTyping(() => apply('replace'));

  useLayoutEffect(() => {
    drop();
    setTyping(false);
    setIncomplete([]);
    for (const name of NARROWING) {
      const isField = name === 'action' || name === 'search' || isDay(values[name]); // a field of days takes nothing else
      const value = isField ? values[name] : '';
      if (field(name).value.trim() !== value) field(name).value = value;
    }
  }, [values.action, values.search, values.from, values.to]);

  function apply(how: 'push' | 'replace'): void {
    drop();
    setTyping(false);
    const partial = (['from', 'to'] as const).filter((name) => {
      const { badInput, rangeUnderflow } = field(name).validity;
      return badInput || rangeUnderflow; // the year 202 is 2026 before its last digit
    });
    setIncomplete(partial);
    if (partial.length > 0) return;
    const typed = NARROWING.map((name) => [name, field(name).value.trim() || null]);
    setQuery(Object.fromEntries(typed), how);
  }
  function type(): void {
    setTyping(true);
    wait();
  }
  function submit(event: Event): void {
    event.preventDefault();
    finish();
  }
  const problemOf = (name: Narrowing) =>
    incomplete.includes(name) ? 'This day is not complete. The list is as before.' : (problems[name] ?? '');
  const day = (name: 'from' | 'to', label: string) => (
    <div class="field">
      <label for={`changes-${name}`}>{label}</label>
      <input
        type="date"
        id={`changes-${name}`}
        name={name}
        min={FIRST_DAY}
        aria-describedby={`changes-${name}-problem`}
        aria-invalid={problemOf(name) === '' ? undefined : 'true'}
        onInput={type}
      />
      <p id={`changes-${name}-problem`} class="problem" role="alert">
        {problemOf(name)}
      </p>
    </div>
  );

  return (
    <form ref={form} class="narrowing" aria-label="Narrow the changes" onSubmit={submit}>
      <div class="field">
        <label for="changes-action">Kind</label>
        <select
          id="changes-action"
          name="action"
          aria-describedby="changes-action-problem"
          onChange={() => apply('push')}
        >
          <option value="">Everything</option>
          {Object.entries(ACTIONS).map(
            ([action, { choice }]) =>
              action !== UNSEEN && (
                <option key={action} value={action}>
                  {choice}
                </option>
              ),
          )}
        </select>
        <p id="changes-action-problem" class="problem" role="alert">
          {problemOf('action')}
        </p>
      </div>
      <div class="field wide">
        <label for="changes-search">Domain or text</label>
        <input
          type="search"
          id="changes-search"
          name="search"
          autocomplete="off"
          maxLength={MAX_SEARCH_LENGTH}
          aria-describedby="changes-search-problem"
          onInput={type}
        />
        <p id="changes-search-problem" class="problem" role="alert">
          {problemOf('search')}
        </p>
      </div>
      {day('from', 'From')}
      {day('to', 'To')}
      <Button class="quiet clear" label="Clear what narrows the changes" busy={!isNarrowed} onClick={clear}>
        Clear
      </Button>
    </form>
  );
}

type ListProps = {
  api: Api;
  id: number;
  filter: ChangeFilter;
  revision: number;
  /** Shows everything again. Null: everything is shown. */
  clear: (() => void) | null;
  onRead: OnRead;
};

/** The changes that one filter lets through. Another filter gets a list of its own, so an answer for this one never reaches it. */
function List({ api, id, filter, revision, clear, onRead }: ListProps) {
  const read = (before: number | null, isWanted: () => boolean) =>
    readOn((from) => api.changes(id, filter, from), before, clear !== null, isWanted);
  const newest = useQuery(`${revision}`, (isWanted) => read(null, isWanted));
  const { readAt } = newest;
  useEffect(() => onRead({ readAt, busy: newest.busy }), [readAt, newest.busy]);
  const [known, setKnown] = useState<Read | null>(null);
  const { busy, failure, run } = useMutation();
  const list = useRef<HTMLDivElement>(null);
  /** The first change that "Older" has loaded, or else the last of all: it gets the focus when the button goes. */
  const firstLoaded = useRef(0);
  const shown = newest.data === null ? null : join(newest.data, known);

  const entry = () => list.current?.querySelector<HTMLElement>(`[data-id="${firstLoaded.current}"]`);
  useKeptFocus(list, () => entry() ?? list.current);

  const older = (from: Read) =>
    run('Loading…', async (isWanted) => {
      const page = await read(from.next, isWanted);
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
      {newest.failure !== null && <FailureNotice failure={newest.failure} reload={newest.reload} />}
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
  if (clear === null) return <p class="empty">Nothing has been changed yet.</p>;
  return (
    <div class="empty" role="status">
      <p>{next === null ? 'Nothing matches.' : 'Nothing matches among the newest changes. “Older” looks further.'}</p>
      <Button class="quiet" onClick={clear}>
        Show all changes
      </Button>
    </div>
  );
}

function Entry({ change }: { change: Change }) {
  const { id, at } = change;
  const { title, lines } = describe(change);
  return (
    <li class="entry" data-id={id} tabIndex={-1}>
      <time dateTime={at} title={instantWords(at)}>
        {at.slice(11, 16)}
      </time>
      <div class="what">
        <b>{title}</b>
        <ul>
          {lines.map((line) => (
            <li key={line.field}>
              <Field line={line} />
            </li>
          ))}
        </ul>
      </div>
      <p class="by">{whoWords(change)}</p>
    </li>
  );
}

/** Domains need no name: the title says what happened to them. */
function Field({ line: { field, name, before, after } }: { line: Line }) {
  const isPlain = field === 'sites' && (before === null || after === null);
  return (
    <>
      {!isPlain && <span class="name">{name}: </span>}
      {before && <Values values={before} />}
      {before && after && <span class="arrow"> → </span>}
      {after && <Values values={after} />}
    </>
  );
}

function Values({ values }: { values: string[] }) {
  if (values.length === 1) return <span>{values[0]}</span>;
  if (values.length === 0) return <span>none</span>;
  const items = (some: string[]) => (
    <ul>
      {some.map((value) => (
        <li key={value}>{value}</li>
      ))}
    </ul>
  );
  const more = values.slice(MOST_SHOWN);
  return (
    <>
      {items(values.slice(0, MOST_SHOWN))}
      {more.length > 0 && (
        <details>
          <summary>and {number(more.length)} more</summary>
          {items(more)}
        </details>
      )}
    </>
  );
}
