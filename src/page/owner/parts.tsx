// Small parts that several views share.
import type { ComponentChildren, RenderableProps } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { copier } from '../copy.ts';
import type { Failure } from './api.ts';
import { SERVICE_NAME } from './service-name.ts';
import type { Level } from './standing.ts';
import { failureWords } from './words.ts';

export const useDocumentTitle = (name: string): void =>
  useLayoutEffect(() => {
    document.title = `${name} · ${SERVICE_NAME}`;
  }, [name]);

/** The title of a view, which takes the focus when the view appears: a screen reader then announces it. `part` is what is shown of it. */
export function Title({ name, part }: { name: string; part?: string }) {
  const title = useRef<HTMLHeadingElement>(null);
  useDocumentTitle(part === undefined ? name : `${part} · ${name}`);
  useEffect(() => title.current?.focus(), []);
  return (
    <h1 ref={title} tabIndex={-1}>
      {name}
    </h1>
  );
}

/** A part of a view, under a heading of its own. */
export function Section({
  id,
  title,
  note,
  children,
}: RenderableProps<{ id: string; title: string; note?: ComponentChildren }>) {
  return (
    <section class={`card ${id}`} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} tabIndex={-1}>
        {title}
      </h2>
      {note && <p class="note">{note}</p>}
      {children}
    </section>
  );
}

/** `warning`: read this before. `done`: the service has confirmed it. `problem`: it failed, or is not valid. */
type NoticeKind = 'warning' | 'done' | 'problem';
type NoticeProps = RenderableProps<{
  kind: NoticeKind;
  id?: string;
  /** What can be done about it. */
  action?: { label: string; press: () => void; busy?: boolean } | undefined;
}>;

/**
 * What somebody is told, beside what it is about. Keep it in the view while there is nothing to say, with no children: a screen reader
 * announces what changes in a place that it knows.
 */
export function Notice({ kind, id, action, children }: NoticeProps) {
  const isEmpty = children === undefined || children === null || children === '' || children === false;
  return (
    <div id={id} class={`notice ${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>
      {!isEmpty && <span>{children}</span>}
      {!isEmpty && action && (
        <Button class="quiet" busy={action.busy ?? false} onClick={action.press}>
          {action.label}
        </Button>
      )}
    </div>
  );
}

type ButtonProps = RenderableProps<{
  class?: string;
  busy?: boolean;
  label?: string;
  submits?: boolean;
  onClick?: () => void;
}>;

/** A button that changes something. It ignores the second click of a double click, and keeps the focus while it is busy. */
export function Button({ class: name = '', busy = false, label, submits = false, onClick, children }: ButtonProps) {
  function press(event: MouseEvent): void {
    if (busy || event.detail > 1) event.preventDefault();
    else onClick?.();
  }
  return (
    <button
      type={submits ? 'submit' : 'button'}
      class={name}
      aria-label={label}
      aria-disabled={busy ? 'true' : undefined}
      onClick={press}
    >
      {children}
    </button>
  );
}

const ARMED_AFTER_MS = 500;

/** False for half a second, and again when `action` changes: a press that was meant for what was there before does nothing. */
export function useArmed(action = ''): boolean {
  const [armedFor, setArmedFor] = useState<string | null>(null);
  useEffect(() => {
    setArmedFor(null);
    const timer = setTimeout(() => setArmedFor(action), ARMED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [action]);
  return armedFor === action; // also before the effect runs, after the next frame
}

/** For fields that a browser should not complete, correct or remember. */
export const VERBATIM = { autocomplete: 'off', autocapitalize: 'off', spellcheck: false } as const;

/** Why something could not be read, with a way to try again. */
export const FailureNotice = ({ failure, reload }: { failure: Failure; reload: () => void }) => (
  <Notice kind="problem" action={{ label: 'Try again', press: reload }}>
    {failureWords(failure)}
  </Notice>
);

/** The placeholder for rows that are awaited. */
export function Loading({ rows }: { rows: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading…">
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}

const STATUSES: Record<string, string> = { suspended: 'Suspended', closed: 'Closed' };

/** A business that is active needs no word. */
export const Status = ({ status }: { status: string }) =>
  status === 'active' ? null : <Mark level="full">{STATUSES[status] ?? status}</Mark>;

/** A word about something that needs attention. */
export const Mark = ({ level, children }: RenderableProps<{ level: Level }>) => (
  <span class={`mark ${level}`}>{children}</span>
);

/** Copies the text that stands directly before it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState('');
  const copy = useMemo(() => copier(setOutcome), []);
  return (
    <button
      type="button"
      class="quiet copy"
      aria-label={outcome === '' ? label : undefined}
      onClick={({ currentTarget }) => void copy(text, currentTarget.previousElementSibling)}
    >
      <span aria-live="polite">{outcome || 'Copy'}</span>
    </button>
  );
}
