// Components and hooks that several views share.
import type { ComponentChildren, RenderableProps } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { createCopier } from '../copy.ts';
import type { Failure } from './api.ts';
import { SERVICE_NAME } from './service-name.ts';
import { failureWords } from './words.ts';

export const useDocumentTitle = (name: string): void =>
  useLayoutEffect(() => {
    document.title = `${name} · ${SERVICE_NAME}`;
  }, [name]);

/** Receives the focus when the view appears, so screen readers announce it. `part` comes first in the document title. */
export function Title({ name, part }: { name: string; part?: string }) {
  const title = useRef<HTMLHeadingElement>(null);
  useDocumentTitle(part === undefined ? name : `${part} · ${name}`);
  useLayoutEffect(() => title.current?.focus(), []);
  return (
    <h1 ref={title} tabIndex={-1}>
      {name}
    </h1>
  );
}

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

/** `done`: confirmed by the service. `problem`: failed or invalid. */
type NoticeKind = 'warning' | 'done' | 'problem';
type NoticeProps = RenderableProps<{
  kind: NoticeKind;
  id?: string;
  action?: { label: string; press: () => void; busy?: boolean } | undefined;
}>;

/**
 * Must be rendered before it has a message, without children, because screen readers announce only changes in existing live regions. What a
 * view says from its start is read with the view, and alerts (`problem`) are announced when they are inserted, too.
 */
export function Notice({ kind, id, action, children }: NoticeProps) {
  const isEmpty = children === undefined || children === null || children === '' || children === false;
  return (
    <div id={id} class={`notice ${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>
      {!isEmpty && <span>{typeof children === 'string' ? whole(children) : children}</span>}
      {!isEmpty && action && (
        <Button class="quiet" busy={action.busy ?? false} onClick={action.press}>
          {action.label}
        </Button>
      )}
    </div>
  );
}

/** Keeps the endings of tokens and keys, such as “…abcd”, on one line. */
export const whole = (text: string): ComponentChildren =>
  text.split(/(…[\w-]{4})/).map((part) => (part.startsWith('…') ? <span class="whole">{part}</span> : part));

type ButtonProps = RenderableProps<{
  class?: string;
  busy?: boolean;
  label?: string;
  submits?: boolean;
  /** The id of the form that it submits, if that does not contain it. */
  form?: string | undefined;
  onClick?: () => void;
}>;

/** Ignores the second click of a double click, and stays focusable while it is busy. */
export function Button({
  class: name = '',
  busy = false,
  label,
  submits = false,
  form,
  onClick,
  children,
}: ButtonProps) {
  function press(event: MouseEvent): void {
    if (busy || event.detail > 1) event.preventDefault();
    else onClick?.();
  }
  return (
    <button
      type={submits ? 'submit' : 'button'}
      form={form}
      class={name}
      aria-label={label}
      aria-disabled={busy ? 'true' : undefined}
      onClick={press}
    >
      {children}
    </button>
  );
}

/** Prevents browsers from completing, correcting or storing a field's text. */
export const VERBATIM = { autocomplete: 'off', autocapitalize: 'off', spellcheck: false } as const;

type FieldProps = RenderableProps<{ id: string; label: string; class?: string }>;
/** A labelled field, which is the child with this `id`. */
export const Field = ({ id, label, class: name = '', children }: FieldProps) => (
  <div class={`field ${name}`}>
    <label for={id}>{label}</label>
    {children}
  </div>
);

export const FailureNotice = ({ failure, reload }: { failure: Failure; reload: () => void }) => (
  <Notice kind="problem" action={{ label: 'Try again', press: reload }}>
    {failureWords(failure)}
  </Notice>
);

export const Back = ({ href }: { href: string }) => (
  <p class="back">
    <a href={href}>← Businesses</a>
  </p>
);

/** Some browsers drop the table semantics when the layout is a grid, unless the roles are explicit. */
export const AS = {
  table: { role: 'table' },
  rows: { role: 'rowgroup' },
  row: { role: 'row' },
  column: { role: 'columnheader', scope: 'col' },
  name: { role: 'rowheader', scope: 'row' },
  cell: { role: 'cell' },
} as const;

/** A placeholder for rows that are loading. */
export function Loading({ rows }: { rows: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading…">
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}

/** Copies `text`. If that fails, selects the element before the button. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState('');
  const copy = useMemo(() => createCopier(setOutcome), []);
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
