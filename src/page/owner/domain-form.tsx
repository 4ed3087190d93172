// The field for a domain to add. An address without a scheme is offered with one, and added only when the offer is accepted.
import { useEffect, useRef, useState } from 'hono/jsx/dom';
import { canonicalSite } from '../../core/site.ts';
import { withScheme } from './address.ts';
import { Button, VERBATIM } from './parts.tsx';
import { aboutDomain } from './words.ts';

type Props = { isFirst: boolean; isBusy: boolean; add: (site: string) => Promise<boolean>; onType: () => void };

export function DomainForm({ isFirst, isBusy, add, onType }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  const [offered, setOffered] = useState<string | null>(null);
  const offer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (offered !== null) offer.current?.querySelector('button')?.focus();
  }, [offered]);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    const typed = canonicalSite(text);
    if (typed.problem === undefined) return send(text);
    const completed = withScheme(text);
    const meant = completed === null ? typed : canonicalSite(completed);
    setOffered(meant.site ?? null);
    setProblem(meant.problem === undefined ? '' : aboutDomain(`sites ${meant.problem}`));
  }
  async function send(site: string): Promise<void> {
    setProblem('');
    const isAdded = await add(site);
    setOffered(null);
    if (field.current) field.current.value = isAdded ? '' : site;
    field.current?.focus();
  }
  function type(): void {
    setProblem('');
    setOffered(null);
    onType();
  }

  return (
    <form class="add" autocomplete="off" onSubmit={submit}>
      {isFirst && (
        <p class="notice">
          <b>Before you add the first domain:</b> from then on, the token works only on pages of registered sites.
          Servers that use the token stop working at once, because they send no origin. Give them an API key first.
        </p>
      )}
      <label for="site">Add a domain</label>
      <div class="line">
        <input
          id="site"
          ref={field}
          {...VERBATIM}
          inputmode="url"
          placeholder="https://shop.example or https://*.shop.example"
          required
          aria-invalid={problem === '' ? undefined : 'true'}
          aria-describedby="site-problem"
          onInput={type}
        />
        <Button submits busy={isBusy}>
          Add
        </Button>
      </div>
      <p id="site-problem" class="problem" role="alert">
        {problem}
      </p>
      <div ref={offer} role="status">
        {offered !== null && (
          <p class="offer">
            <span>
              Did you mean <code>{offered}</code>?
            </span>
            <Button busy={isBusy} onClick={() => void send(offered)}>
              Add {offered}
            </Button>
          </p>
        )}
      </div>
    </form>
  );
}
