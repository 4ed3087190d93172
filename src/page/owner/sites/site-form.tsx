// The field for adding one or several domains. Sends nothing while any of them is invalid.
import { useRef, useState } from 'preact/hooks';
import type { RefusedOrigin } from '../../../sites/description.ts';
import type { Failure } from '../api.ts';
import { useFocusFallback } from '../focus.ts';
import { namesWords, plural } from '../formats.ts';
import { Button, Field, Notice, VERBATIM } from '../parts.tsx';
import { setQuery } from '../route.ts';
import { unicodeName } from '../unicode-name.ts';
import { changeFailureWords, ruleAbout } from '../words.ts';
import { type Additions, parseAdditions, type Wrong } from './additions.ts';
import { stoppedWords } from './let-in.tsx';
import type { SiteChanges } from './site-changes.tsx';

const FORM = 'form';
const UNDO = 'undo in form';
const EMPTY = 'Enter a domain, such as shop.example.';

type Props = {
  sites: string[];
  /** While no site is registered, the origins that use the token now. */
  origins: RefusedOrigin[];
  changes: SiteChanges;
};

/** Formats a site for a sentence, with its Unicode name. */
function named(site: string): string {
  const name = unicodeName(site);
  return name === null ? site : `${site} (${name})`;
}

const listed = (sites: string[]): string =>
  `${sites.length === 1 ? '' : `${plural(sites.length, 'domain')}: `}${namesWords(sites.map(named))}`;

/** Maps the service's field errors to the submitted sites. */
const wrongAmong = (sent: string[], failure: Failure | null): Wrong[] =>
  failure === null
    ? []
    : sent.flatMap((text, index) => {
        const problem = ruleAbout(failure, `sites.${index}`);
        return problem === null ? [] : [{ text, problem, right: null }];
      });

export function SiteForm({ sites, origins, changes }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useFocusFallback(form, () => field.current);
  const [parsed, setParsed] = useState<Additions | null>(null);
  /** Which pages the typed domains would stop. */
  const [stopped, setStopped] = useState('');
  const [added, setAdded] = useState<string[]>([]);
  const { busy, locked, add, remove, failureFrom, clearFailure } = changes;
  const failure = failureFrom(FORM) ?? failureFrom(UNDO);
  const { known = [], fresh = [], covered = [] } = parsed ?? {};
  const wrong = parsed?.wrong.length ? parsed.wrong : wrongAmong(fresh, failure);
  const isEmpty = parsed !== null && wrong.length + known.length + fresh.length === 0;
  const canUndo = added.length > 0 && added.every((site) => sites.includes(site));
  const problem = isEmpty
    ? EMPTY
    : (parsed?.tooMany ?? (failure && wrong.length === 0 ? changeFailureWords(failure) : ''));

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (busy !== null) return;
    const text = field.current?.value ?? '';
    const additions = parseAdditions(text, sites);
    setParsed(additions);
    clearFailure();
    if (additions.wrong.length > 0 || additions.tooMany !== null) return;
    setQuery({ q: null }, 'replace'); // the filter may hide the rows
    if (additions.fresh.length === 0) return;
    setAdded([]);
    if (!(await add(FORM, additions.fresh))) return;
    setAdded(additions.fresh);
    if (field.current?.value === text) field.current.value = ''; // unless the owner is already typing the next domain
  }
  function type(): void {
    setParsed(null);
    clearFailure();
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
      <Field id="site" label="Add one or more domains">
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
      </Field>
      <Notice id="site-problem" kind="problem">
        {wrong.length > 0 ? (
          <>
            {wrong.length + fresh.length + known.length > 1 && <span class="sentence">Nothing was added:</span>}
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
            {covered.map(({ site, by }) => (
              <span key={site} class="sentence">
                <code>{named(site)}</code> already passes: <code>{named(by)}</code> covers it.
              </span>
            ))}
          </div>
        </>
      )}
      <Notice id="site-warning" kind="warning">
        {sites.length === 0 && (
          <>
            <b>Before you add the first domain:</b> after that, the token works only on pages of registered sites.
            Servers that use the token stop working immediately, because they send no origin. Give them an API key
            first.
            {stopped !== '' && <b class="sentence"> {stopped}</b>}
          </>
        )}
      </Notice>
    </form>
  );
}
