// Whether an origin would pass, by the same rules that the service applies.
import { useRef, useState } from 'preact/hooks';
import { isRegistrable } from '../../../core/site.ts';
import { Button, Section, VERBATIM } from '../parts.tsx';
import { useTyping } from '../typing.ts';
import { couldBeSomeones, originOfPage, siteCovering } from './address.ts';
import type { DomainChanges } from './domain-changes.ts';
import { PlaceFailure } from './place-failure.tsx';
import { refusalOf } from './refusal.ts';
import { SiteName } from './site-name.tsx';

const PLACE = 'check';

type Props = { isActive: boolean; sites: string[]; readOnly: boolean; changes: DomainChanges };

export function OriginCheck({ isActive, sites, readOnly, changes }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [registered, setRegistered] = useState('');
  const { wait, finish } = useTyping(() => setText(field.current?.value.trim() ?? ''));

  function type(): void {
    setText('');
    setRegistered('');
    wait();
  }
  function register(origin: string): void {
    setRegistered(origin); // from now on: the button must not vanish between the answer and its becoming Undo
    void changes.add(PLACE, [origin]);
  }

  const origin = originOfPage(text);
  const site = siteCovering(origin, sites);
  const passes = isActive && (sites.length === 0 || site !== undefined);
  const canUndo = registered === origin && sites.includes(origin);
  const canRegister = !passes && isRegistrable(origin) && couldBeSomeones(origin);
  const act = () => (canUndo ? void changes.remove(PLACE, [origin]) : register(origin));
  const words = canUndo
    ? ['Undo', 'Removing…', `Undo: remove ${origin}`]
    : ['Register it', 'Adding…', `Register it: ${origin}`];
  return (
    <Section id="origin-check" title="Try an origin">
      <label for="origin">Would this origin pass?</label>
      <input
        id="origin"
        ref={field}
        {...VERBATIM}
        inputmode="url"
        placeholder="https://www.shop.example"
        onInput={type}
        onBlur={finish}
        onKeyDown={({ key }) => key === 'Enter' && finish()}
      />
      <div role="status">
        {origin !== '' && (
          <p class={passes ? 'verdict good' : 'verdict bad'}>
            <span aria-hidden="true">{passes ? '✓' : '✗'}</span>
            <span>
              {passes ? 'Yes: ' : 'No: '}
              {!isActive ? (
                'while the business is not active, its token is refused everywhere.'
              ) : site !== undefined ? (
                <>
                  <SiteName site={site} /> lets <SiteName site={origin} /> pass.
                </>
              ) : passes ? (
                'every origin passes, because no domain is registered.'
              ) : (
                <>
                  <SiteName site={origin} /> is refused. {refusalOf(origin, sites).reason}
                </>
              )}
            </span>
            {isActive && !readOnly && (canRegister || canUndo) && (
              <Button class="quiet" busy={changes.locked} label={words[2] ?? ''} onClick={act}>
                {changes.busy === PLACE ? words[1] : words[0]}
              </Button>
            )}
          </p>
        )}
      </div>
      <PlaceFailure changes={changes} place={PLACE} />
    </Section>
  );
}
