// The field for domains to add: one, or several at once. What is not clear is said beside it, and nothing is sent.
import { useRef, useState } from 'preact/hooks';
import type { Failure } from '../api.ts';
import { useKeptFocus } from '../focus.ts';
import { plural } from '../formats.ts';
import { Button, Notice, VERBATIM } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { changeFailureWords, ruleAbout } from '../words.ts';
import { type Additions, additionsOf, type Wrong } from './additions.ts';
import type { DomainChanges } from './domain-changes.ts';
import { writtenName } from './written-name.ts';

const PLACE = 'form';
const UNDO = 'undo in form';
const EMPTY = 'Type a domain first, such as shop.example.';
const MOST_NAMED = 5;

type Props = {
  sites: string[];
  changes: DomainChanges;
  /** Brings the row of a site into sight. */
  reveal: (site: string | null) => void;
};

/** A site in a sentence, also as people write it. */
function named(site: string): string {
  const name = writtenName(site);
  return name === null ? site : `${site} (${name})`;
}

function listed(sites: string[]): string {
  if (sites.length === 1) return `${sites.map(named)}`;
  const more = sites.length - MOST_NAMED;
  return `${plural(sites.length, 'domain')}: ${sites.slice(0, MOST_NAMED).map(named).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What the service says about single ones of the sites that were sent. */
const wrongAmong = (sent: string[], failure: Failure | null): Wrong[] =>
  failure === null
    ? []
    : sent.flatMap((text, index) => {
        const problem = ruleAbout(failure, `sites.${index}`);
        return problem === null ? [] : [{ text, problem, right: null }];
      });

export function DomainForm({ sites, changes, reveal }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useKeptFocus(form, () => field.current);
  const [read, setRead] = useState<Additions | null>(null);
  const [isEmpty, setEmpty] = useState(false);
  const [sent, setSent] = useState<string[]>([]);
  const [added, setAdded] = useState<string[]>([]);
  const { busy, locked, add, remove, failureAt, forget } = changes;
  const failure = failureAt(PLACE) ?? failureAt(UNDO);
  const refusedOnes = wrongAmong(sent, failure);
  const wrong = read !== null && read.wrong.length > 0 ? read.wrong : refusedOnes;
  const covered = read?.covered.filter(({ site }) => !sites.includes(site)) ?? [];
  const known = read?.known ?? [];
  const canUndo = added.length > 0 && added.every((site) => sites.includes(site));
  const problem = isEmpty
    ? EMPTY
    : (read?.tooMany ?? (failure && wrong.length === 0 ? changeFailureWords(failure) : ''));

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (busy !== null) return;
    const text = field.current?.value ?? '';
    const additions = additionsOf(text, sites);
    setEmpty(text.trim() === '');
    setRead(additions);
    forget();
    reveal(null);
    if (additions.wrong.length > 0 || additions.tooMany !== null) return;
    if (additions.fresh.length > 0) await send(additions.fresh, text);
    else if (additions.known[0] !== undefined) reveal(additions.known[0]);
  }
  async function send(list: string[], text: string): Promise<void> {
    setQuery({ q: null }, 'replace'); // the filter may hide what is added
    setAdded([]);
    setSent(list);
    if (!(await add(PLACE, list))) return;
    setAdded(list);
    if (field.current?.value === text) field.current.value = ''; // unless the next one is being typed
  }
  function type(): void {
    setRead(null);
    setEmpty(false);
    forget();
    reveal(null);
  }
  /** A field of one line drops line breaks, and would make one name of two. */
  function paste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    const input = field.current;
    if (input === null || !/[\r\n]/.test(text)) return;
    event.preventDefault();
    const { selectionStart, selectionEnd, value } = input;
    const flat = text.trim().replace(/\s*[\r\n]+\s*/g, ' ');
    input.setRangeText(flat, selectionStart ?? value.length, selectionEnd ?? value.length, 'end');
    type();
  }

  return (
    <form ref={form} class="add" autocomplete="off" noValidate onSubmit={submit}>
      <label for="site">Add a domain, or several</label>
      <div class="line">
        <input
          id="site"
          ref={field}
          {...VERBATIM}
          inputmode="url"
          placeholder="shop.example, *.shop.example"
          aria-invalid={wrong.length > 0 || isEmpty ? 'true' : undefined}
          aria-describedby="site-problem site-warning"
          onInput={type}
          onPaste={paste}
        />
        <Button submits busy={busy !== null}>
          {busy === PLACE ? 'Adding…' : 'Add'}
        </Button>
      </div>
      <Notice id="site-problem" kind="problem">
        {wrong.length > 0 ? (
          <>
            {wrong.length + (read?.fresh.length ?? 0) + known.length + covered.length > 1 && (
              <span class="sentence">Nothing was added:</span>
            )}
            {wrong.map(({ text, problem: rule, right }) => (
              <span key={text} class="sentence">
                <code>{text}</code> {rule}.
                {right !== null && (
                  <>
                    {' '}
                    Did you mean <code>{right}</code>?
                  </>
                )}
              </span>
            ))}
          </>
        ) : (
          problem
        )}
      </Notice>
      <Notice
        kind="done"
        action={
          canUndo
            ? { label: busy === UNDO ? 'Removing…' : 'Undo', press: () => void remove(UNDO, added), busy: locked }
            : undefined
        }
      >
        {canUndo && `Added ${listed(added)}.`}
      </Notice>
      {wrong.length === 0 && (
        <>
          <div class="told" role="status">
            {known.length > 0 && `Registered already: ${listed(known)}.`}
          </div>
          <div class="told" role="status">
            {covered.length > 0 && (
              <>
                {covered.map(({ site, by }) => (
                  <span key={site} class="sentence">
                    <code>{named(site)}</code> passes already: <code>{named(by)}</code> covers it.
                  </span>
                ))}
                <Button
                  class="quiet"
                  busy={locked}
                  onClick={() =>
                    void send(
                      covered.map(({ site }) => site),
                      field.current?.value ?? '',
                    )
                  }
                >
                  {covered.length === 1 ? 'Add it all the same' : 'Add them all the same'}
                </Button>
              </>
            )}
          </div>
        </>
      )}
      {sites.length === 0 && (
        <Notice id="site-warning" kind="warning">
          <b>Before you add the first domain:</b> from then on, the token works only on pages of registered sites.
          Servers that use the token stop working at once, because they send no origin. Give them an API key first.
        </Notice>
      )}
    </form>
  );
}
