// Replaces the token, and stops old tokens.
import { useRef, useState } from 'preact/hooks';
import { MAX_FORMER_TOKENS } from '../../../shown-business/rules.ts';
import { parseDuration } from '../../../tokens/rules.ts';
import { now } from '../clock.ts';
import { Confirm } from '../confirm.tsx';
import { instantWords, tailOf } from '../formats.ts';
import { Button, Notice, Section, whole } from '../parts.tsx';
import type { TabProps } from '../session.ts';
import { type FormerToken, formatLastFour, lastUseWords, validAt } from './former-tokens.ts';

/** `keep`: how long the old token keeps working, in the request's notation. Null if it stops immediately. */
const CHOICES = [
  { keep: '24h', label: 'Keep the old token for 24 hours', action: 'and keep the old one for 24 hours' },
  { keep: '7d', label: 'Keep the old token for 7 days', action: 'and keep the old one for 7 days' },
  { keep: null, label: 'Stop the old token now', action: 'and stop the old one now' },
] as const;
type Choice = (typeof CHOICES)[number];

export function Rotation({ api, business, readOnly, onChanged, reload }: TabProps) {
  /** `stop`: the old token to stop, or all of them. */
  const [open, setOpen] = useState<'replace' | { stop: 'all' | FormerToken } | null>(null);
  /** The change that was made here last. Outdated once the business has another token. */
  const [done, setDone] = useState<{ token: string; words: string } | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const time = now();
  const working = validAt(time, business.former_tokens);

  async function replace({ keep }: Choice): Promise<void> {
    setDone(null);
    const rotated = await api.rotate(business.id, keep);
    const old = keep === null ? ' The old one no longer works.' : '';
    const words = `The new token is ${tailOf(rotated.token)}.${old} Paste the new tag into your pages.`;
    setDone({ token: rotated.token, words });
    onChanged(rotated);
    reload(); // the response does not list the old tokens
  }
  async function stopNow(stop: 'all' | FormerToken): Promise<void> {
    setDone(null);
    const isAll = stop === 'all';
    const stopped = await (isAll ? api.stopFormer(business.id) : api.stopFormerToken(business.id, stop.id));
    const ended = isAll ? 'The old tokens no longer work.' : `The old token ${tailOf(stop.last_four)} no longer works.`;
    setDone({ token: stopped.token, words: `${ended} The token ${tailOf(stopped.token)} keeps working.` });
    onChanged(stopped);
  }

  if (readOnly && working.length === 0) return null;
  const list = working.length > 0 && (
    <>
      <h3>{working.length === 1 ? 'An old token still works' : `${working.length} old tokens still work`}</h3>
      <ul>
        {working.map((one) => (
          <li key={one.id}>
            <code>{whole(tailOf(one.last_four))}</code> works until{' '}
            <time dateTime={one.expires_at}>{instantWords(one.expires_at)}</time>.{' '}
            <small>{lastUseWords(one, time)}</small>{' '}
            {!readOnly && working.length > 1 && (
              <Button class="link" onClick={() => setOpen({ stop: one })}>
                {`Stop ${tailOf(one.last_four)}…`}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
  if (readOnly)
    return (
      <Section id="endings" title="Old tokens">
        {list}
      </Section>
    );
  const closing = {
    onFailure: reload,
    onClose: () => setOpen(null),
    next: () => root.current?.querySelector('button'),
  };
  return (
    <div ref={root}>
      <Section
        id="endings"
        title="Replace the token"
        note="If a token has leaked or is being abused, replace it. The old one can keep working until your pages have the new one."
      >
        <Button class="quiet" onClick={() => setOpen('replace')}>
          Replace the token…
        </Button>
        <Notice kind="done">{done?.token === business.token && done.words}</Notice>
        {list}
        {working.length > 0 && (
          <Button class="quiet danger-text" onClick={() => setOpen({ stop: 'all' })}>
            {working.length === 1 ? 'Stop it now…' : 'Stop them now…'}
          </Button>
        )}
        {open === 'replace' && (
          <ReplaceQuestion now={time} token={business.token} working={working} work={replace} {...closing} />
        )}
        {open !== null && open !== 'replace' && (
          <StopQuestion
            stop={open.stop}
            token={business.token}
            working={working}
            work={() => stopNow(open.stop)}
            {...closing}
          />
        )}
      </Section>
    </div>
  );
}

type QuestionProps = {
  token: string;
  working: readonly FormerToken[];
  onFailure: () => void;
  onClose: () => void;
  next: () => HTMLElement | null | undefined;
};

type StopProps = QuestionProps & { stop: 'all' | FormerToken; work: () => Promise<void> };

function StopQuestion({ stop, token, working, ...others }: StopProps) {
  const stopped = stop === 'all' ? working : working.filter(({ id }) => id === stop.id);
  const [noun, verb] = stop === 'all' ? ['tokens', 'work'] : ['token', 'works'];
  return (
    <Confirm title={`Stop the old ${noun} now?`} action={`Stop the old ${noun} now`} doing="Stopping…" {...others}>
      <p>
        {stopped.length === 0
          ? `The old ${noun} no longer ${verb}.`
          : whole(
              `From the next request, pages and servers that still use ${formatLastFour(stopped)} are refused.`,
            )}{' '}
        The token {whole(tailOf(token))} keeps working.
      </p>
      <p class="note">A stopped token never works again.</p>
    </Confirm>
  );
}

type ReplaceProps = QuestionProps & { now: number; work: (choice: Choice) => Promise<void> };

function ReplaceQuestion({ now, token, working, work, ...closing }: ReplaceProps) {
  const [chosen, setChosen] = useState<Choice>(CHOICES[0]);
  const first = working.length >= MAX_FORMER_TOKENS ? working[0] : undefined;
  const earlier = working.length === 0 ? '' : `, and with ${formatLastFour(working)},`;
  return (
    <Confirm
      title="Replace the token?"
      kind={chosen.keep === null ? 'danger' : 'ordinary'}
      action={`Replace, ${chosen.action}`}
      doing="Replacing…"
      work={() => work(chosen)}
      {...closing}
    >
      <p>The business gets a new token immediately. This cannot be undone.</p>
      <fieldset class="choice">
        <legend class="sr-only">The old token</legend>
        {CHOICES.map((choice) => (
          <label key={choice.label} class="radio">
            <input type="radio" name="keep" checked={choice === chosen} onChange={() => setChosen(choice)} />
            <span>
              {choice.label}
              <small>
                {whole(
                  choice.keep === null
                    ? `From the next request, pages with ${tailOf(token)}${earlier} are refused.`
                    : `Pages with ${tailOf(token)} keep working until ${instantWords(new Date(now + parseDuration(choice.keep)))}.`,
                )}
              </small>
            </span>
          </label>
        ))}
      </fieldset>
      {first && chosen.keep !== null && (
        <p class="note">
          At most {MAX_FORMER_TOKENS} old tokens can work at a time, so {whole(tailOf(first.last_four))} stops now.
        </p>
      )}
    </Confirm>
  );
}
