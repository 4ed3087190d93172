// Chooses the days that are shown, and those that they are compared with. What is chosen is in the address.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { FIRST_DAY, type Range } from '../../../core/time.ts';
import { Button, Notice } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { useTyping } from '../typing.ts';
import {
  CHOICE_NAMES,
  CHOICES,
  type ChoiceName,
  COMPARISONS,
  type Comparison,
  earlier,
  entriesOf,
  later,
  problemOf,
  rangeOfChoice,
  type Shown,
} from './ranges.ts';
import { COMPARISON_WORDS, problemWords } from './usage-words.ts';

type Props = {
  shown: Shown;
  comparison: Comparison;
  /** Changes with the address. */
  address: string;
  /** What is wrong with the days in the address, in words. */
  fault: string | null;
  today: string;
};

export function RangeChoice({ shown, comparison, address, fault, today }: Props) {
  // A choice that is made again does not change the address, but it undoes what was typed.
  const [turn, setTurn] = useState(0);
  const [before, after] = [earlier(shown, today), later(shown, today)];

  function choose(next: Shown | null): void {
    if (next === null) return;
    setTurn((count) => count + 1);
    setQuery(entriesOf(next), 'push');
  }
  function select(name: ChoiceName | ''): void {
    choose(name === '' ? { ...shown, choice: null } : { choice: name, range: rangeOfChoice(name, today) });
  }
  const compareWith = (one: Comparison) => setQuery({ compare: one === 'previous' ? null : one }, 'push');

  return (
    <div class="choices">
      <div class="period">
        <Button class="quiet arrow" label="Earlier days" busy={before === null} onClick={() => choose(before)}>
          ‹
        </Button>
        <select
          aria-label="Days"
          value={shown.choice ?? ''}
          onChange={({ currentTarget }) => select(currentTarget.value as ChoiceName | '')}
        >
          {CHOICE_NAMES.map((name) => (
            <option key={name} value={name}>
              {CHOICES[name].label}
            </option>
          ))}
          <option value="">Chosen days</option>
        </select>
        <Button class="quiet arrow" label="Later days" busy={after === null} onClick={() => choose(after)}>
          ›
        </Button>
      </div>
      <fieldset class="compare">
        <legend>Compare</legend>
        <div class="segments">
          {COMPARISONS.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="compare"
                class="sr-only"
                checked={one === comparison}
                onChange={() => compareWith(one)}
              />
              <span>{COMPARISON_WORDS[one]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <Dates range={shown.range} reset={`${address} ${turn}`} fault={fault} />
    </div>
  );
}

/** `reset` changes when the fields show `range` again, whatever was typed. */
type DatesProps = { range: Range; reset: string; fault: string | null };

function Dates({ range, reset, fault }: DatesProps) {
  const from = useRef<HTMLInputElement>(null);
  const to = useRef<HTMLInputElement>(null);
  const isOwn = useRef(false);
  const [problem, setProblem] = useState<string | null>(null);
  const said = problem ?? fault;
  const { wait, finish, drop } = useTyping(take);

  // The fields are not controlled: to be written to while a day is half typed would empty them.
  useLayoutEffect(() => {
    if (isOwn.current) {
      isOwn.current = false;
      return;
    }
    drop();
    setProblem(null);
    if (from.current) from.current.value = range.from;
    if (to.current) to.current.value = range.to;
  }, [reset, range.from, range.to]);

  function take(): void {
    const typed = { from: from.current?.value ?? '', to: to.current?.value ?? '' };
    const found = problemOf(typed);
    setProblem(found && problemWords(found, typed));
    if (found !== null || (typed.from === range.from && typed.to === range.to)) return;
    isOwn.current = true;
    setQuery(entriesOf({ choice: null, range: typed }), 'replace');
  }
  const field = {
    type: 'date' as const,
    min: FIRST_DAY,
    'aria-invalid': said === null ? undefined : ('true' as const),
    'aria-describedby': 'range-problem',
    onInput: wait,
    onBlur: finish,
    onKeyDown: ({ key }: KeyboardEvent) => key === 'Enter' && finish(),
  };

  return (
    <>
      <div class="dates">
        <label>
          From <input ref={from} {...field} />
        </label>
        <label>
          To <input ref={to} {...field} />
        </label>
      </div>
      <Notice kind="problem" id="range-problem">
        {said}
      </Notice>
    </>
  );
}
