// The token of a business: the tag to paste, and apart from it what ends a token: a new one in its place, and the end of the old ones.
import { useEffect, useLayoutEffect, useRef, useState } from 'hono/jsx/dom';
import { durationOf } from '../../../core/duration.ts';
import { timestampOf } from '../../../core/time.ts';
import type { Business, BusinessDetails } from '../../../wire/responses.ts';
import type { Api } from '../api.ts';
import { Confirm } from '../confirm.tsx';
import { instantWords, number } from '../formats.ts';
import { Button, CopyButton, Notice, Section } from '../parts.tsx';
import { businessHref } from '../route.ts';
import type { RoomProps } from '../session.ts';
import {
  afterReplacement,
  type Done,
  doneWords,
  type FormerToken,
  MAX_FORMER_TOKENS,
  remainingWords,
  tailOf,
  tailsOf,
  waitMs,
  workingAt,
} from './former-tokens.ts';

const tagOf = ({
  id,
  token,
}: Business): string => `<script type="module" src="${location.origin}/v1/usage-chart.js"></script>
<usage-chart business="${id}" token="${token}"></usage-chart>`;

/** How long the old token keeps working, as requests write it. Null: not at all. */
const KEEPS = [
  { keep: '24h', label: 'Keep the old token for 24 hours', action: 'and keep the old one for 24 hours' },
  { keep: '7d', label: 'Keep the old token for 7 days', action: 'and keep the old one for 7 days' },
  { keep: null, label: 'Stop the old token now', action: 'and stop the old one now' },
] as const;
type Choice = (typeof KEEPS)[number];

const DOMAINS = 'Domains';

export function Token(props: RoomProps) {
  const { business, readOnly } = props;
  return (
    <>
      <Section id="token" title={readOnly ? 'Token' : 'Token and tag'} note={readOnly ? HIDDEN : PUBLIC}>
        <Reach business={business} />
        {readOnly ? (
          <p>
            <code>{business.token}</code>
          </p>
        ) : (
          <>
            <Snippet title="The tag" text={tagOf(business)} label="Copy the tag" />
            <Snippet title="The token" text={business.token} label="Copy the token" />
          </>
        )}
      </Section>
      <Endings {...props} />
    </>
  );
}

const HIDDEN = 'Whoever can only read is not shown the token, because the token can record uses.';
const PUBLIC =
  'The tag draws the chart of this business on any page where the token works. Anyone can read the token there.';

function Snippet({ title, text, label }: { title: string; text: string; label: string }) {
  return (
    <>
      <h3>{title}</h3>
      <div class="snippet">
        <pre>
          <code>{text}</code>
        </pre>
        <CopyButton text={text} label={label} />
      </div>
    </>
  );
}

/** Where the token works. */
function Reach({ business: { id, status, access_list } }: { business: BusinessDetails }) {
  const link = <a href={businessHref(id, 'domains')}>{DOMAINS}</a>;
  if (status !== 'active') return <p>While the business is {status}, the token works nowhere.</p>;
  if (access_list.length === 0) return <p>The token works on every site: no domain restricts it. {link}</p>;
  const words =
    access_list.length === 1
      ? 'One domain restricts the token to its pages.'
      : `${number(access_list.length)} domains restrict the token to their pages.`;
  return (
    <p>
      {words} {link}
    </p>
  );
}

/** The old tokens that still work. One whose end comes while the page is open disappears then. */
function useWorking(api: Api, former: readonly FormerToken[]): { now: number; working: FormerToken[] } {
  const [, setTick] = useState(0);
  const now = api.now();
  useEffect(() => {
    let timer = 0;
    const wait = () => {
      timer = window.setTimeout(
        () => {
          setTick((count) => count + 1);
          wait();
        },
        waitMs(api.now(), former),
      );
    };
    if (former.length > 0) wait();
    return () => clearTimeout(timer);
  }, [former]);
  return { now, working: workingAt(now, former) };
}

/** What ends a token. */
function Endings({ api, business, readOnly, onChanged, reload }: RoomProps) {
  const [open, setOpen] = useState<'replace' | 'stop' | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  /** The token as it was when a replacement failed, which may have been made all the same. */
  const [tried, setTried] = useState<string | null>(null);
  const { now, working } = useWorking(api, business.former_tokens);
  const place = useRef<HTMLDivElement>(null);
  const stop = useRef<HTMLDivElement>(null);
  const wasReplaced = tried !== null && tried !== business.token;
  const wasOpen = useRef(false);
  const hadFocus = wasOpen.current || stop.current?.contains(document.activeElement);

  // The button that stops old tokens goes with the last of them: after its dialog, or because that has ended or was stopped elsewhere.
  useLayoutEffect(() => {
    wasOpen.current = open !== null;
    if (!hadFocus || open !== null || document.activeElement !== document.body) return;
    place.current?.querySelector('button')?.focus({ preventScroll: true });
  });

  function start(dialog: 'replace' | 'stop'): void {
    setTried(null);
    setOpen(dialog);
  }
  async function replace({ keep }: Choice): Promise<void> {
    setDone(null);
    const rotated = await api.rotate(business.id, keep).catch((error) => {
      setTried(business.token);
      throw error;
    });
    // Until it has been read again: the service has kept the old token from the instant at which it has changed the business.
    const end = timestampOf(new Date(Date.parse(rotated.updated_at) + (durationOf(keep ?? '') ?? 0)));
    const old = keep === null ? null : { last_four: business.token.slice(-4), expires_at: end };
    const details: BusinessDetails = {
      ...business,
      ...rotated,
      former_tokens: afterReplacement(workingAt(api.now(), business.former_tokens), old),
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
        {working.map(({ last_four, expires_at }) => (
          <li key={`${last_four} ${expires_at}`}>
            <code>{tailOf(last_four)}</code> works until <time dateTime={expires_at}>{instantWords(expires_at)}</time>{' '}
            <small>({remainingWords(Date.parse(expires_at) - now)})</small>
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
    <Section
      id="endings"
      title="Replace the token"
      note="If a token is abused or was given to the wrong people, replace it. The old one can go on working until your pages have the new one."
    >
      <div ref={place}>
        <Button class="quiet" onClick={() => start('replace')}>
          Replace the token…
        </Button>
      </div>
      <Notice kind="done">{done && doneWords(done, business.token, working)}</Notice>
      <Notice kind="warning">{wasReplaced && open === null && replacedWords(business)}</Notice>
      {list}
      {working.length > 0 && (
        <div ref={stop}>
          <Button class="quiet danger-text" onClick={() => start('stop')}>
            {working.length === 1 ? 'Stop it now…' : 'Stop them now…'}
          </Button>
        </div>
      )}
      {open === 'replace' && (
        <ReplaceQuestion
          now={now}
          token={business.token}
          working={working}
          warning={wasReplaced ? `${replacedWords(business)} To replace it again makes another one.` : null}
          work={replace}
          onFailure={reload}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'stop' && (
        <Confirm
          title="Stop the old tokens now?"
          action="Stop the old tokens now"
          doing="Stopping…"
          work={stopNow}
          onFailure={reload}
          onClose={() => setOpen(null)}
        >
          <p>
            {working.length === 0
              ? 'No old token works any more.'
              : `Pages and servers that still use ${tailsOf(working)} are refused from the next request on.`}{' '}
            The token {tailOf(business.token)} goes on working.
          </p>
          <p class="note">A token that was stopped never works again.</p>
        </Confirm>
      )}
    </Section>
  );
}

/** After a failure of unknown outcome. */
const replacedWords = ({ token }: Business): string => `The token was replaced: it ends in ${tailOf(token)} now.`;

type QuestionProps = {
  now: number;
  token: string;
  working: readonly FormerToken[];
  warning: string | null;
  work: (choice: Choice) => Promise<void>;
  onFailure: () => void;
  onClose: () => void;
};

function ReplaceQuestion({ now, token, working, warning, work, onFailure, onClose }: QuestionProps) {
  const [chosen, setChosen] = useState<Choice>(KEEPS[0]);
  const first = working.length >= MAX_FORMER_TOKENS ? working[0] : undefined;
  const earlier = working.length === 0 ? '' : `, and with ${tailsOf(working)},`;
  return (
    <Confirm
      title="Replace the token?"
      kind={chosen.keep === null ? 'danger' : 'ordinary'}
      action={`${warning === null ? 'Replace' : 'Replace again'}, ${chosen.action}`}
      doing="Replacing…"
      work={() => work(chosen)}
      onFailure={onFailure}
      onClose={onClose}
    >
      <p>The business gets a new token at once. This cannot be undone.</p>
      <fieldset class="choice">
        <legend class="sr-only">The old token</legend>
        {KEEPS.map((choice) => (
          <label key={choice.label} class="radio">
            <input type="radio" name="keep" checked={choice === chosen} onChange={() => setChosen(choice)} />
            <span>
              {choice.label}
              <small>
                {choice.keep === null
                  ? `Pages with ${tailOf(token)}${earlier} are refused from the next request on.`
                  : `Pages with ${tailOf(token)} go on working until ${instantWords(new Date(now + (durationOf(choice.keep) ?? 0)))}.`}
              </small>
            </span>
          </label>
        ))}
      </fieldset>
      {first && chosen.keep !== null && (
        <p class="note">
          {MAX_FORMER_TOKENS} old tokens work already, and no more can: {tailOf(first.last_four)} stops now.
        </p>
      )}
      <Notice kind="warning">{warning}</Notice>
    </Confirm>
  );
}
