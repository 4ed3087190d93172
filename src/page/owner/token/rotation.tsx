// Replaces the token, and stops old tokens.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Business, BusinessDetails } from '../../../business/description.ts';
import { formatTimestamp } from '../../../core/time.ts';
import { parseDuration } from '../../../tokens/rules.ts';
import { now } from '../clock.ts';
import { Confirm } from '../confirm.tsx';
import { useFocusFallback } from '../focus.ts';
import { instantWords } from '../formats.ts';
import { Button, Notice, Section, whole } from '../parts.tsx';
import type { TabProps } from '../session.ts';
import {
  afterReplacement,
  type Done,
  doneWords,
  type FormerToken,
  formatLastFour,
  lastUseWords,
  MAX_FORMER_TOKENS,
  refreshDelayMs,
  remainingWords,
  tailOf,
  validAt,
} from './former-tokens.ts';

/** `keep`: how long the old token keeps working, in the request's notation. Null if it stops immediately. */
const CHOICES = [
  { keep: '24h', label: 'Keep the old token for 24 hours', action: 'and keep the old one for 24 hours' },
  { keep: '7d', label: 'Keep the old token for 7 days', action: 'and keep the old one for 7 days' },
  { keep: null, label: 'Stop the old token now', action: 'and stop the old one now' },
] as const;
type Choice = (typeof CHOICES)[number];

/** Returns the time, and the old tokens that still work then. Renders again at each expiry, and at least every minute. */
function useWorking(former: readonly FormerToken[]): { time: number; working: FormerToken[] } {
  const [tick, setTick] = useState(0);
  const time = now();
  useEffect(() => {
    if (former.length === 0) return;
    const timer = setTimeout(() => setTick(tick + 1), refreshDelayMs(now(), former));
    return () => clearTimeout(timer);
  }, [former, tick]);
  return { time, working: validAt(time, former) };
}

export function Rotation({ api, business, readOnly, onChanged, reload }: TabProps) {
  const [open, setOpen] = useState<'replace' | 'stop' | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  /** The token that was in use when a request to replace it failed. The service may have replaced it anyway. */
  const [tried, setTried] = useState<string | null>(null);
  const { time, working } = useWorking(business.former_tokens);
  const root = useRef<HTMLDivElement>(null);
  const wasReplaced = tried !== null && tried !== business.token;
  // The button that stops old tokens disappears when the last of them stops working.
  const replaceButton = () => root.current?.querySelector('button');
  useFocusFallback(root, replaceButton);

  function start(dialog: 'replace' | 'stop'): void {
    setTried(null);
    setOpen(dialog);
  }
  const close = () => setOpen(null);
  async function replace({ keep }: Choice): Promise<void> {
    setDone(null);
    const rotated = await api.rotate(business.id, keep).catch((error) => {
      setTried(business.token);
      throw error;
    });
    // An estimate, because the service measures `keep` from when it replaces the token. It is shown until the business is fetched again.
    const expiresAfter = (time: string) =>
      formatTimestamp(new Date(Date.parse(rotated.updated_at) + parseDuration(time)));
    const last_four = business.token.slice(-4);
    const old = keep === null ? null : { last_four, expires_at: expiresAfter(keep), last_used_on: null };
    const details: BusinessDetails = {
      ...business,
      ...rotated,
      former_tokens: afterReplacement(validAt(now(), business.former_tokens), old),
    };
    setTried(null);
    setDone({ action: 'replaced', token: rotated.token, old });
    onChanged(details);
    reload();
  }
  async function stopNow(): Promise<void> {
    setDone(null);
    const stopped = await api.stopFormer(business.id);
    setDone({ action: 'stopped', token: stopped.token });
    onChanged(stopped);
  }

  if (readOnly && working.length === 0) return null;
  const list = working.length > 0 && (
    <>
      <h3>{working.length === 1 ? 'An old token still works' : `${working.length} old tokens still work`}</h3>
      <ul>
        {working.map((one) => (
          <li key={`${one.last_four} ${one.expires_at}`}>
            <code>{whole(tailOf(one.last_four))}</code> works until{' '}
            <time dateTime={one.expires_at}>{instantWords(one.expires_at)}</time>{' '}
            <small>
              ({remainingWords(Date.parse(one.expires_at) - time)}). {lastUseWords(one, time)}
            </small>
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
  return (
    <div ref={root}>
      <Section
        id="endings"
        title="Replace the token"
        note="If a token has leaked or is being abused, replace it. The old one can keep working until your pages have the new one."
      >
        <Button class="quiet" onClick={() => start('replace')}>
          Replace the token…
        </Button>
        <Notice kind="done">{done && doneWords(done, business.token, working)}</Notice>
        <Notice kind="warning">{wasReplaced && open === null && replacedWords(business)}</Notice>
        {list}
        {working.length > 0 && (
          <Button class="quiet danger-text" onClick={() => start('stop')}>
            {working.length === 1 ? 'Stop it now…' : 'Stop them now…'}
          </Button>
        )}
        {open === 'replace' && (
          <ReplaceQuestion
            now={time}
            token={business.token}
            working={working}
            warning={wasReplaced ? `${replacedWords(business)} Replacing it again creates another one.` : null}
            work={replace}
            onFailure={reload}
            onClose={close}
            next={replaceButton}
          />
        )}
        {open === 'stop' && (
          <Confirm
            title="Stop the old tokens now?"
            action="Stop the old tokens now"
            doing="Stopping…"
            work={stopNow}
            onFailure={reload}
            onClose={close}
            next={replaceButton}
          >
            <p>
              {working.length === 0
                ? 'The old tokens no longer work.'
                : whole(
                    `From the next request, pages and servers that still use ${formatLastFour(working)} are refused.`,
                  )}{' '}
              The token {whole(tailOf(business.token))} keeps working.
            </p>
            <p class="note">A stopped token never works again.</p>
          </Confirm>
        )}
      </Section>
    </div>
  );
}

/** Used if the token turns out to have been replaced even though the request failed. */
const replacedWords = ({ token }: Business): string => `The token has been replaced. The new one is ${tailOf(token)}.`;

type QuestionProps = {
  now: number;
  token: string;
  working: readonly FormerToken[];
  warning: string | null;
  work: (choice: Choice) => Promise<void>;
  onFailure: () => void;
  onClose: () => void;
  next: () => HTMLElement | null | undefined;
};

function ReplaceQuestion({ now, token, working, warning, work, ...closing }: QuestionProps) {
  const [chosen, setChosen] = useState<Choice>(CHOICES[0]);
  const first = working.length >= MAX_FORMER_TOKENS ? working[0] : undefined;
  const earlier = working.length === 0 ? '' : `, and with ${formatLastFour(working)},`;
  return (
    <Confirm
      title="Replace the token?"
      kind={chosen.keep === null ? 'danger' : 'ordinary'}
      action={`${warning === null ? 'Replace' : 'Replace again'}, ${chosen.action}`}
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
      <Notice kind="warning">{warning}</Notice>
    </Confirm>
  );
}
