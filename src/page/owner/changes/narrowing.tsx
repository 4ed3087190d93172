// What narrows the list of changes. The fields keep what is typed, also a day that is not complete, until the address says something
// else. A choice is in the address at once, and what is typed is after a pause.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MAX_SEARCH_LENGTH } from '../../../core/change.ts';
import { FIRST_DAY, isDay } from '../../../core/time.ts';
import { Button } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { useTyping } from '../typing.ts';
import { ACTIONS } from './actions.ts';
import { type Filter, type FilterField, NARROWING } from './change-pages.ts';

/** Nobody sees these changes here: the business is gone. */
const UNSEEN = 'delete_business';

type Props = {
  filter: Filter;
  isNarrowed: boolean;
  /** Gets whether something is typed that the list does not follow yet. */
  setTyping: (isTyping: boolean) => void;
  clear: () => void;
};

export function Narrowing({ filter: { values, problems }, isNarrowed, setTyping, clear }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [incomplete, setIncomplete] = useState<readonly FilterField[]>([]);
  const { wait, finish, drop } = useTyping(() => apply('replace'));
  const control = (name: FilterField) => form.current?.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;

  useLayoutEffect(() => {
    drop();
    setTyping(false);
    setIncomplete([]);
    for (const name of NARROWING) {
      const isField = name === 'action' || name === 'search' || isDay(values[name]); // a field of days takes nothing else
      const value = isField ? values[name] : '';
      if (control(name).value.trim() !== value) control(name).value = value;
    }
  }, [values.action, values.search, values.from, values.to]);

  function apply(how: 'push' | 'replace'): void {
    drop();
    setTyping(false);
    const partial = (['from', 'to'] as const).filter((name) => {
      const { badInput, rangeUnderflow } = control(name).validity;
      return badInput || rangeUnderflow; // the year 202 is 2026 before its last digit
    });
    setIncomplete(partial);
    if (partial.length > 0) return;
    const typed = NARROWING.map((name) => [name, control(name).value.trim() || null]);
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
  const problemOf = (name: FilterField) =>
    incomplete.includes(name) ? 'This day is not complete. The list is as before.' : (problems[name] ?? '');
  const shared = (name: FilterField) => ({
    id: `changes-${name}`,
    name,
    'aria-describedby': `changes-${name}-problem`,
    onInput: name === 'action' ? undefined : type,
  });
  const field = (name: FilterField, label: string, shown: ComponentChildren) => (
    <div class={name === 'search' ? 'field wide' : 'field'}>
      <label for={`changes-${name}`}>{label}</label>
      {shown}
      <p id={`changes-${name}-problem`} class="problem" role="alert">
        {problemOf(name)}
      </p>
    </div>
  );
  const day = (name: 'from' | 'to', label: string) => {
    const isWrong = problemOf(name) !== '';
    return field(
      name,
      label,
      <input type="date" {...shared(name)} min={FIRST_DAY} aria-invalid={isWrong ? 'true' : undefined} />,
    );
  };

  return (
    <form ref={form} class="narrowing" aria-label="Narrow the changes" onSubmit={submit}>
      {field(
        'action',
        'Kind',
        <select {...shared('action')} onChange={() => apply('push')}>
          <option value="">Everything</option>
          {Object.entries(ACTIONS).map(
            ([action, { choice }]) =>
              action !== UNSEEN && (
                <option key={action} value={action}>
                  {choice}
                </option>
              ),
          )}
        </select>,
      )}
      {field(
        'search',
        'Domain or text',
        <input type="search" {...shared('search')} autocomplete="off" maxLength={MAX_SEARCH_LENGTH} />,
      )}
      {day('from', 'From')}
      {day('to', 'To')}
      <Button class="quiet clear" label="Clear what narrows the changes" busy={!isNarrowed} onClick={clear}>
        Clear
      </Button>
    </form>
  );
}
