// The token of a business: the tag to paste, and a new token in place of the old one.
import { useState } from 'hono/jsx/dom';
import { durationOf } from '../../core/duration.ts';
import type { Business } from './api.ts';
import { Confirm } from './confirm.tsx';
import { Button, CopyButton, Section } from './parts.tsx';
import type { RoomProps } from './session.ts';
import { instantWords } from './words.ts';

const tagOf = ({
  id,
  token,
}: Business): string => `<script type="module" src="${location.origin}/v1/usage-chart.js"></script>
<usage-chart business="${id}" token="${token}"></usage-chart>`;

/** How long the old token keeps working, as requests write it. Null: not at all. */
const KEEPS = [
  { keep: '24h', label: 'Keep the old token for 24 hours', action: 'Replace, and keep the old one for 24 hours' },
  { keep: '7d', label: 'Keep the old token for 7 days', action: 'Replace, and keep the old one for 7 days' },
  { keep: null, label: 'Stop the old token now', action: 'Replace, and stop the old one now' },
] as const;
type Keep = (typeof KEEPS)[number]['keep'];

const endOf = (keep: string): string => instantWords(new Date(Date.now() + (durationOf(keep) ?? 0)));

export function Token({ api, business, readOnly, onChanged, reload }: RoomProps) {
  const [isRotating, setRotating] = useState(false);
  const [keep, setKeep] = useState<Keep>('24h');
  const [done, setDone] = useState('');
  const chosen = KEEPS.find((choice) => choice.keep === keep) ?? KEEPS[0];
  const tag = tagOf(business);

  async function rotate(): Promise<void> {
    const rotated = await api.rotate(business.id, keep);
    const old = keep === null ? 'The old one no longer works.' : `The old one works until ${endOf(keep)}.`;
    onChanged(rotated);
    setDone(
      `There is a new token, which ends in ${rotated.token.slice(-4)}. ${old} Paste the new tag into your pages.`,
    );
  }
  function closed(): void {
    setRotating(false);
    setKeep('24h');
  }

  if (readOnly) {
    return (
      <Section
        id="token"
        title="Token"
        note="Whoever can only read is not shown the token, because the token can record uses."
      >
        <p>
          <code>{business.token}</code>
        </p>
      </Section>
    );
  }
  return (
    <Section
      id="token"
      title="Token and tag"
      note="This tag draws the chart of this business on any page where the token works. The token is public: anyone can read it there."
    >
      <div class="snippet">
        <pre>
          <code>{tag}</code>
        </pre>
        <CopyButton text={tag} label="Copy the tag" />
      </div>
      <div class="snippet">
        <pre>
          <code>{business.token}</code>
        </pre>
        <CopyButton text={business.token} label="Copy the token" />
      </div>
      <p class="done" role="status">
        {done}
      </p>
      <Button class="quiet" onClick={() => setRotating(true)}>
        Replace the token…
      </Button>
      {isRotating && (
        <Confirm
          title="Replace the token?"
          action={chosen.action}
          doing="Replacing…"
          work={rotate}
          onFailure={reload}
          onClose={closed}
        >
          <p>
            The business gets a new token at once. Pages and servers that still use the old one are refused as soon as
            it stops, so give them the new one first.
          </p>
          <fieldset class="choice">
            <legend class="sr-only">The old token</legend>
            {KEEPS.map(({ keep: value, label }) => (
              <label key={label} class="radio">
                <input type="radio" name="keep" checked={value === keep} onChange={() => setKeep(value)} />
                <span>
                  {label}
                  {value !== null && <small>until {endOf(value)}</small>}
                </span>
              </label>
            ))}
          </fieldset>
          <p class={keep === null ? 'warning' : 'note'}>
            {keep === null
              ? 'All pages with the old token, and with any earlier one that still works, are refused from the next request on. This cannot be undone.'
              : 'Up to five old tokens can work at the same time. If there are more, those that would end first stop now. A replacement cannot be undone.'}
          </p>
        </Confirm>
      )}
    </Section>
  );
}
