// The filters for the list of changes. The URL changes immediately after a choice, or after a pause in typing. The fields keep typed input,
// even an incomplete date, until the URL changes.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MAX_SEARCH_LENGTH } from '../../../changes/rules.ts';
import { FIRST_DAY, isDay } from '../../../core/time.ts';
import { useDebounce } from '../debounce.ts';
import { Button } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { ACTIONS } from './actions.ts';
import { FILTER_FIELDS, type Filter, type FilterField } from './change-pages.ts';

/** Not offered as a filter, because a deleted business has no console. */
const HIDDEN_ACTION = 'delete_business';

type Props = {
  filter: Filter;
  isFiltered: boolean;
  /** Called with true while the input has not been applied to the list yet, and with false once it has. */
  setTyping: (isTyping: boolean) => void;
  clear: () => void;
};

export function Filters({ filter: { values, problems }, isFiltered, setTyping, clear }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [incomplete, setIncomplete] = useState<readonly FilterField[]>([]);
  const { schedule, flush, cancel } = useDebounce(() => apply('replace'));
  const control = (name: FilterField) => form.current?.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;

  useLayoutEffect(() => {
    cancel();
    setTyping(false);
    setIncomplete([]);
    for (const name of FILTER_FIELDS) {
      const isValid = name === 'action' || name === 'search' || isDay(values[name]); // a date field accepts only valid days
      const value = isValid ? values[name] : '';
      if (control(name).value.trim() !== value) control(name).value = value;
    }
  }, [values.action, values.search, values.from, values.to]);

  function apply(how: 'push' | 'replace'): void {
    cancel();
    setTyping(false);
    const partial = (['from', 'to'] as const).filter((name) => {
      const { badInput, rangeUnderflow } = control(name).validity;
      return badInput || rangeUnderflow; // while 2026 is being typed, the year is 202
    });
    setIncomplete(partial);
    if (partial.length > 0) return;
    const typed = FILTER_FIELDS.map((name) => [name, control(name).value.trim() || null]);
    setQuery(Object.fromEntries(typed), how);
  }
  function type(): void {
    setTyping(true);
    schedule();
  }
  function submit(event: Event): void {
    event.preventDefault();
    flush();
  }
  const problemWith = (name: FilterField) =>
    incomplete.includes(name) ? 'This date is incomplete. The list has not changed.' : (problems[name] ?? '');
  const shared = (name: FilterField) => ({
    id: `changes-${name}`,
    name,
    'aria-describedby': `changes-${name}-problem`,
    onInput: name === 'action' ? undefined : type,
  });
  const field = (name: FilterField, label: string, input: ComponentChildren) => (
    <div class={name === 'search' ? 'field wide' : 'field'}>
      <label for={`changes-${name}`}>{label}</label>
      {input}
      <p id={`changes-${name}-problem`} class="problem" role="alert">
        {problemWith(name)}
      </p>
    </div>
  );
  const day = (name: 'from' | 'to', label: string) => {
    const invalid = problemWith(name) === '' ? undefined : 'true';
    return field(name, label, <input type="date" {...shared(name)} min={FIRST_DAY} aria-invalid={invalid} />);
  };

  return (
    <form ref={form} class="narrowing" aria-label="Filter changes" onSubmit={submit}>
      {field(
        'action',
        'Type',
        <select {...shared('action')} onChange={() => apply('push')}>
          <option value="">All changes</option>
          {Object.entries(ACTIONS).map(
            ([action, { choice }]) =>
              action !== HIDDEN_ACTION && (
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
      <Button class="quiet clear" label="Clear the filters" busy={!isFiltered} onClick={clear}>
        Clear
      </Button>
    </form>
  );
}
