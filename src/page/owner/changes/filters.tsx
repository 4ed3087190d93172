// The filters for the list of changes. The URL changes immediately after a choice, or after a pause in typing. The fields keep typed input,
// even an incomplete date, until the URL changes.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { MAX_SEARCH_LENGTH } from '../../../changes/rules.ts';
import { FIRST_DAY } from '../../../core/time.ts';
import { type ChangeFilter, FILTER_FIELDS, type FilterField } from '../change-filter.ts';
import { useDebounce } from '../debounce.ts';
import { Button, Field, Notice } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { ACTION_WORDS } from './actions.ts';

type Props = {
  filter: ChangeFilter;
  /** Whether the last day is before the first day. */
  isReversed: boolean;
  isFiltered: boolean;
  clear: () => void;
};

export function Filters({ filter, isReversed, isFiltered, clear }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const { schedule, flush, cancel } = useDebounce(() => apply('replace'));
  const control = (name: FilterField) => form.current?.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;

  useLayoutEffect(() => {
    cancel();
    for (const name of FILTER_FIELDS) {
      const value = filter[name] ?? '';
      if (control(name).value.trim() !== value) control(name).value = value;
    }
  }, [filter.action, filter.search, filter.from, filter.to]);

  function apply(how: 'push' | 'replace'): void {
    cancel();
    if (!form.current?.checkValidity()) return; // while 2026 is being typed, the year is 202
    const typed = FILTER_FIELDS.map((name) => [name, control(name).value.trim() || null]);
    setQuery(Object.fromEntries(typed), how);
  }
  function submit(event: Event): void {
    event.preventDefault();
    flush();
  }
  const day = (name: 'from' | 'to', label: string) => (
    <Field id={`changes-${name}`} label={label}>
      <input
        type="date"
        id={`changes-${name}`}
        name={name}
        min={FIRST_DAY}
        aria-invalid={isReversed ? 'true' : undefined}
        aria-describedby="changes-problem"
        onInput={schedule}
      />
    </Field>
  );

  return (
    <form ref={form} class="narrowing" aria-label="Filter changes" onSubmit={submit}>
      <Field id="changes-action" label="Type">
        <select id="changes-action" name="action" onChange={() => apply('push')}>
          <option value="">All changes</option>
          {Object.entries(ACTION_WORDS).map(([action, title]) => (
            <option key={action} value={action}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      <Field id="changes-search" label="Domain, name or text" class="wide">
        <input
          type="search"
          id="changes-search"
          name="search"
          autocomplete="off"
          maxLength={MAX_SEARCH_LENGTH}
          onInput={schedule}
        />
      </Field>
      {day('from', 'From')}
      {day('to', 'To')}
      <Button class="quiet clear" label="Clear the filters" busy={!isFiltered} onClick={clear}>
        Clear
      </Button>
      <Notice kind="problem" id="changes-problem">
        {isReversed && 'The last day is before the first day.'}
      </Notice>
    </form>
  );
}
