// The dialog before what cannot be undone. Its button says what it does, does not cover the one that opened it, and ignores presses
// for the first half second. Nothing is shown as done before the service has said so.
import type { RenderableProps } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Notice, useArmed } from './parts.tsx';
import { useMutation } from './query.ts';
import { changeFailureWords } from './words.ts';

type Props = RenderableProps<{
  title: string;
  /** `ordinary`: what it ends can still be mended. Everything else is red. */
  kind?: 'danger' | 'ordinary';
  /** What the button says, and what it says while the work is done. */
  action: string;
  doing: string;
  work: () => Promise<void>;
  /** Called before the dialog shows a failure: the work may have been done all the same. */
  onFailure?: () => void;
  /** Called when the dialog has closed. */
  onClose: (succeeded: boolean) => void;
  /** Gets the focus then if the button that opened the dialog cannot have it again. */
  next: () => HTMLElement | null | undefined;
}>;

const overlap = (a: DOMRect, b: DOMRect): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

export function Confirm({ title, kind = 'danger', action, doing, work, onFailure, onClose, next, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const armed = useArmed(action); // after another choice the button does something else
  const { busy, failure, run } = useMutation();
  const succeeded = useRef(false);

  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    const [from, to] = [opener?.getBoundingClientRect(), button.current?.getBoundingClientRect()];
    if (from && to && overlap(from, to)) dialog.current?.classList.add('low');
  }, []);

  async function confirm(event: MouseEvent): Promise<void> {
    if (!armed || event.detail > 1) return;
    succeeded.current = await run(doing, work);
    if (succeeded.current) dialog.current?.close();
    else onFailure?.();
  }
  function cancel(event: Event): void {
    if (busy !== null) event.preventDefault(); // the request is on its way, and cannot be called back
  }
  function close(): void {
    onClose(succeeded.current);
    const focused = document.activeElement;
    if (focused === document.body || dialog.current?.contains(focused)) next()?.focus();
  }
  // Browsers let a page prevent closing a dialog once, and not again until the user has interacted with it.
  function press(event: KeyboardEvent): void {
    if (event.key === 'Escape') cancel(event);
  }

  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onKeyDown={press} onCancel={cancel} onClose={close}>
      <h2 id="confirm-title">{title}</h2>
      {children}
      <Notice kind="problem">{failure && changeFailureWords(failure)}</Notice>
      <div class="choices">
        <button type="button" class="quiet" disabled={busy !== null} onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class={kind === 'danger' ? 'danger' : 'ordinary'}
          ref={button}
          aria-disabled={armed && busy === null ? undefined : 'true'}
          onClick={confirm}
        >
          {busy ?? action}
        </button>
      </div>
    </dialog>
  );
}
