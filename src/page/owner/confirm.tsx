// The confirmation dialog. Its confirm button names the action, and does not cover the button that opened the dialog. After a press, the
// dialog stays open until the service confirms the change.
import type { RenderableProps } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button, Notice } from './parts.tsx';
import { useMutation } from './query.ts';
import { changeFailureWords } from './words.ts';

type Props = RenderableProps<{
  title: string;
  /** `ordinary`: the owner can recover from the change. `danger` makes the button red. */
  kind?: 'danger' | 'ordinary';
  /** The button's label, and its label while `work` runs. */
  action: string;
  doing: string;
  /** The id of a form in the dialog, in which Enter presses the confirm button. */
  form?: string;
  work: () => Promise<void>;
  /** Called when `work` fails, because the change may have been made anyway. */
  onFailure?: () => void;
  /** How the owner finds out whether a failed change was made anyway. */
  advice?: string;
  onClose: (succeeded: boolean) => void;
  /** Returns the element to focus if the button that opened the dialog is gone. */
  next: () => HTMLElement | null | undefined;
}>;

const overlap = (a: DOMRect, b: DOMRect): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

export function Confirm({
  title,
  kind = 'danger',
  action,
  doing,
  form,
  work,
  onFailure,
  advice,
  onClose,
  next,
  children,
}: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { busy, failure, run } = useMutation();
  const succeeded = useRef(false);

  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    const button = dialog.current?.querySelector('.choices > :last-child');
    const [from, to] = [opener?.getBoundingClientRect(), button?.getBoundingClientRect()];
    if (from && to && overlap(from, to)) dialog.current?.classList.add('low');
  }, []);

  async function confirm(): Promise<void> {
    succeeded.current = await run(doing, work);
    if (succeeded.current) dialog.current?.close();
    else onFailure?.();
  }
  function cancel(event: Event): void {
    if (busy !== null) event.preventDefault(); // the request cannot be canceled
  }
  function close(): void {
    onClose(succeeded.current);
    const focused = document.activeElement;
    if (focused === document.body || dialog.current?.contains(focused)) next()?.focus();
  }
  // Without this, a second Escape would close the dialog, because browsers let a page cancel only the first one.
  function press(event: KeyboardEvent): void {
    if (event.key === 'Escape') cancel(event);
  }

  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onKeyDown={press} onCancel={cancel} onClose={close}>
      <h2 id="confirm-title">{title}</h2>
      {children}
      <Notice kind="problem">{failure && changeFailureWords(failure, advice)}</Notice>
      <div class="choices">
        <Button class="quiet" busy={busy !== null} onClick={() => dialog.current?.close()}>
          Cancel
        </Button>
        <Button class={kind} busy={busy !== null} submits form={form} onClick={() => void confirm()}>
          {busy ?? action}
        </Button>
      </div>
    </dialog>
  );
}
