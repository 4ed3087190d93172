// Shows a new key once, and what it can do.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { NewKey } from '../../../keys/description.ts';
import { Button, CopyButton, Section } from '../parts.tsx';
import { abilityWords } from './key-words.ts';

type Props = { created: NewKey; business: string | null; hide: () => void };

export function NewKeyCard({ created, business, hide }: Props) {
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => root.current?.querySelector('h2')?.focus(), []);
  return (
    <div ref={root}>
      <Section id="new-key" title={`The new key “${created.name}”`} note="Copy the key now: it is never shown again.">
        <div class="snippet">
          <pre>
            <code>{created.api_key}</code>
          </pre>
          <CopyButton text={created.api_key} label="Copy the key" />
        </div>
        <p>{abilityWords(created, business)}</p>
        <Button class="quiet" onClick={hide}>
          Hide the key
        </Button>
      </Section>
    </div>
  );
}
