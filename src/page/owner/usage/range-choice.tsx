// Chooses the days to show, what to compare them with, and the bars. The URL contains the choice.
import type { RenderableProps } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { FIRST_DAY, type Range } from '../../../core/time.ts';
import { UNITS, type Unit } from '../../scale.ts';
import { useDebounce } from '../debounce.ts';
import { Button, Field, Notice } from '../parts.tsx';
import {
  CHOICE_NAMES,
  CHOICES,
  type ChoiceName,
  COMPARISONS,
  type Comparison,
  earlier,
  entriesOf,
  findRangeProblem,
  later,
  rangeOfChoice,
  type Shown,
} from '../ranges.ts';
import { setQuery } from '../route.ts';
import { billingWords, COMPARISON_WORDS, problemWords, UNIT_WORDS } from './usage-words.ts';

type Props = {
  shown: Shown;
  /** The query in the URL's hash. */
  address: string;
  /** The reason why the days in the URL are invalid, or null. */
  fault: string | null;
  today: string;
  /** The billing month, or null without a monthly limit. */
  billing: Range | null;
};

export function RangeChoice({ shown, address, fault, today, billing }: Props) {
  const [before, after] = [earlier(shown, today), later(shown, today)];

  function choose(next: Shown | null): void {
    if (next !== null) setQuery(entriesOf(next), 'push');
  }
  function select(name: ChoiceName | ''): void {
    choose(name === '' ? { ...shown, choice: null } : { choice: name, range: rangeOfChoice(name, today, billing) });
  }
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
          {CHOICE_NAMES.filter((name) => name !== 'billing-month' || billing !== null).map((name) => (
            <option key={name} value={name}>
              {name === 'billing-month' ? billingWords(billing) : CHOICES[name].label}
            </option>
          ))}
          <option value="">Custom range</option>
        </select>
        <Button class="quiet arrow" label="Later days" busy={after === null} onClick={() => choose(after)}>
          ›
        </Button>
      </div>
      {(shown.choice === null || fault !== null) && <Dates range={shown.range} reset={address} fault={fault} />}
    </div>
  );
}

type DrawingChoiceProps = {
  comparison: Comparison;
  /** What each bar covers. */
  by: Unit;
  /** What it may cover. If this is only a day, there is no choice. */
  units: readonly Unit[];
};

export const DrawingChoice = ({ comparison, by, units, children }: RenderableProps<DrawingChoiceProps>) => (
  <div class="options">
    <Segments name="compare" title="Compare" all={COMPARISONS} chosen={comparison} words={COMPARISON_WORDS} />
    {units.includes('month') && (
      <Segments name="by" title="Bars" all={UNITS} chosen={by} fitting={units} words={UNIT_WORDS} />
    )}
    {children}
  </div>
);

type SegmentsProps<One extends string> = {
  /** The name of the choice in the URL, which omits the first one. */
  name: string;
  title: string;
  all: readonly One[];
  chosen: One;
  /** The others are disabled. */
  fitting?: readonly One[];
  words: Record<One, string>;
};

const Segments = <One extends string>({ name, title, all, chosen, fitting = all, words }: SegmentsProps<One>) => (
  <fieldset class="compare">
    <legend>{title}</legend>
    <div class="segments">
      {all.map((one) => (
        <label key={one}>
          <input
            type="radio"
            name={name}
            class="sr-only"
            checked={one === chosen}
            disabled={!fitting.includes(one)}
            onChange={() => setQuery({ [name]: one === all[0] ? null : one }, 'push')}
          />
          <span>{words[one]}</span>
        </label>
      ))}
    </div>
  </fieldset>
);

/** When `reset` changes, the fields discard typed input and show `range` again. */
type DatesProps = { range: Range; reset: string; fault: string | null };

function Dates({ range, reset, fault }: DatesProps) {
  const from = useRef<HTMLInputElement>(null);
  const to = useRef<HTMLInputElement>(null);
  const isOwnChange = useRef(false);
  const [problem, setProblem] = useState<string | null>(null);
  const shownProblem = problem ?? fault;
  const { schedule, flush, cancel } = useDebounce(apply);

  // The fields are uncontrolled, because setting the value of a half-typed date would empty the field.
  useLayoutEffect(() => {
    if (isOwnChange.current) {
      isOwnChange.current = false;
      return;
    }
    cancel();
    setProblem(null);
    if (from.current) from.current.value = range.from;
    if (to.current) to.current.value = range.to;
  }, [reset, range.from, range.to]);

  function apply(): void {
    const typed = { from: from.current?.value ?? '', to: to.current?.value ?? '' };
    const found = findRangeProblem(typed);
    setProblem(found && problemWords(found, typed));
    if (found !== null || (typed.from === range.from && typed.to === range.to)) return;
    isOwnChange.current = true;
    setQuery(entriesOf({ choice: null, range: typed }), 'replace');
  }
  const field = {
    type: 'date' as const,
    min: FIRST_DAY,
    'aria-invalid': shownProblem === null ? undefined : ('true' as const),
    'aria-describedby': 'range-problem',
    onInput: schedule,
    onBlur: flush,
    onKeyDown: ({ key }: KeyboardEvent) => key === 'Enter' && flush(),
  };

  return (
    <>
      <div class="dates">
        <Field id="range-from" label="From" class="inline">
          <input id="range-from" ref={from} {...field} />
        </Field>
        <Field id="range-to" label="To" class="inline">
          <input id="range-to" ref={to} {...field} />
        </Field>
      </div>
      <Notice kind="problem" id="range-problem">
        {shownProblem}
      </Notice>
    </>
  );
}
