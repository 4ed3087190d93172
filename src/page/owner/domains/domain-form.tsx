// The field for adding one or several domains. Sends nothing while any of them is invalid.
import { useRef, useState } from 'preact/hooks';
import type { RefusedOrigin } from '../../../access/description.ts';
import type { Failure } from '../api.ts';
import { useFocusFallback } from '../focus.ts';
import { plural } from '../formats.ts';
import { Button, Notice, VERBATIM } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { changeFailureWords, ruleAbout } from '../words.ts';
import { type Additions, parseAdditions, type Wrong } from './additions.ts';
import type { DomainChanges } from './domain-changes.tsx';
import { stoppedWords } from './let-in.tsx';
import { unicodeName } from './unicode-name.ts';

const FORM = 'form';
const UNDO = 'undo in form';
const EMPTY = 'Enter a domain, such as shop.example.';
const MAX_NAMED = 5;

type Props = {
  sites: string[];
  /** While no site is registered, the origins that use the token now. */
  origins: RefusedOrigin[];
  changes: DomainChanges;
  /** Highlights the row of a site. */
  reveal: (site: string | null) => void;
};

/** Formats a site for a sentence, with its Unicode name. */
function named(site: string): string {
  const name = unicodeName(site);
  return name === null ? site : `${site} (${name})`;
}

function listed(sites: string[]): string {
  if (sites.length === 1) return `${sites.map(named)}`;
  const more = sites.length - MAX_NAMED;
  return `${plural(sites.length, 'domain')}: ${sites.slice(0, MAX_NAMED).map(named).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Maps the service's field errors to the submitted sites. */
const wrongAmong = (sent: string[], failure: Failure | null): Wrong[] =>
  failure === null
    ? []
    : sent.flatMap((text, index) => {
        const problem = ruleAbout(failure, `sites.${index}`);
        return problem === null ? [] : [{ text, problem, right: null }];
      });

export function DomainForm({ sites, origins, changes, reveal }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useFocusFallback(form, () => field.current);
  const [parsed, setParsed] = useState<Additions | null>(null);
  const [isEmpty, setEmpty] = useState(false);
  /** Which pages the typed domains would stop. */
  const [stopped, setStopped] = useState('');
  const [sent, setSent] = useState<string[]>([]);
  const [added, setAdded] = useState<string[]>([]);
  const { busy, locked, add, remove, failureFrom, clearFailure } = changes;
  const failure = failureFrom(FORM) ?? failureFrom(UNDO);
  const wrong = parsed?.wrong.length ? parsed.wrong : wrongAmong(sent, failure);
  const covered = parsed?.covered.filter(({ site }) => !sites.includes(site)) ?? [];
  const known = parsed?.known ?? [];
  const canUndo = added.length > 0 && added.every((site) => sites.includes(site));
  const problem = isEmpty
    ? EMPTY
    : (parsed?.tooMany ?? (failure && wrong.length === 0 ? changeFailureWords(failure) : ''));

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (busy !== null) return;
    const text = field.current?.value ?? '';
    const additions = parseAdditions(text, sites);
    setEmpty(text.trim() === '');
    setParsed(additions);
    clearFailure();
    reveal(null);
    if (additions.wrong.length > 0 || additions.tooMany !== null) return;
    if (additions.fresh.length > 0) await send(additions.fresh, text);
    else if (additions.known[0] !== undefined) reveal(additions.known[0]);
  }
  async function send(list: string[], text: string): Promise<void> {
    setQuery({ q: null }, 'replace'); // the filter may hide the new rows
    setAdded([]);
    setSent(list);
    if (!(await add(FORM, list))) return;
    setAdded(list);
    if (field.current?.value === text) field.current.value = ''; // unless the owner is already typing the next domain
  }
  function type(): void {
    setParsed(null);
    setEmpty(false);
    clearFailure();
    reveal(null);
    const { fresh } = parseAdditions(field.current?.value ?? '', sites);
    setStopped(fresh.length === 0 ? '' : stoppedWords(origins, fresh));
  }
  /** Replaces line breaks with spaces. Otherwise, a one-line field would drop them and join two names. */
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
      <label for="site">Add one or more domains</label>
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
          {busy === FORM ? 'Adding…' : 'Add'}
        </Button>
      </div>
      <Notice id="site-problem" kind="problem">
        {wrong.length > 0 ? (
          <>
            {wrong.length + (parsed?.fresh.length ?? 0) + known.length + covered.length > 1 && (
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
            {known.length > 0 && `Already registered: ${listed(known)}.`}
          </div>
          <div class="told" role="status">
            {covered.length > 0 && (
              <>
                {covered.map(({ site, by }) => (
                  <span key={site} class="sentence">
                    <code>{named(site)}</code> already passes: <code>{named(by)}</code> covers it.
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
                  {covered.length === 1 ? 'Add it anyway' : 'Add them anyway'}
                </Button>
              </>
            )}
          </div>
        </>
      )}
      {sites.length === 0 && (
        <Notice id="site-warning" kind="warning">
          <b>Before you add the first domain:</b> after that, the token works only on pages of registered sites. Servers
          that use the token stop working immediately, because they send no origin. Give them an API key first.
          {stopped !== '' && <b class="sentence"> {stopped}</b>}
        </Notice>
      )}
    </form>
  );
}
