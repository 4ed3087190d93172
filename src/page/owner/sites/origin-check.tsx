// Checks an origin against the service's rules.
import { useRef, useState } from 'preact/hooks';
import { isRegistrable } from '../../../core/site.ts';
import type { Limits } from '../../../shown-business/description.ts';
import { useDebounce } from '../debounce.ts';
import { useFocusFallback } from '../focus.ts';
import { Button, Field, Section, VERBATIM } from '../parts.tsx';
import { SiteName } from '../site-name.tsx';
import { canHaveOneOwner, originOfPage, siteCovering } from './address.ts';
import { explainRefusal } from './refusal.ts';
import { ChangeFailure, type SiteChanges } from './site-changes.tsx';

const CHECK = 'check';

type Props = { isActive: boolean; limits: Limits; sites: string[]; readOnly: boolean; changes: SiteChanges };

export function OriginCheck({ isActive, limits, sites, readOnly, changes }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const verdict = useRef<HTMLDivElement>(null);
  useFocusFallback(verdict, () => field.current);
  const { schedule, flush } = useDebounce(() => setText(field.current?.value.trim() ?? ''));

  function type(): void {
    setText('');
    schedule();
  }

  const origin = originOfPage(text);
  const site = siteCovering(origin, sites);
  const passes = isActive && (sites.length === 0 || site !== undefined);
  const canRegister = isActive && !passes && !readOnly && isRegistrable(origin) && canHaveOneOwner(origin);
  return (
    <Section id="origin-check" title="Check an origin">
      <Field id="origin" label="Would this origin pass?">
        <input
          id="origin"
          ref={field}
          {...VERBATIM}
          inputmode="url"
          placeholder="https://www.shop.example"
          onInput={type}
          onBlur={flush}
          onKeyDown={({ key }) => key === 'Enter' && flush()}
        />
      </Field>
      <div ref={verdict} role="status">
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
                'every origin passes, because no domains are registered.'
              ) : (
                <>
                  <SiteName site={origin} /> is refused. {explainRefusal(origin, sites).reason}
                </>
              )}
              {passes && limits.refuses !== 'nobody' && (
                <b class="sentence">Origin allowed, but a limit is reached: its uses are refused.</b>
              )}
            </span>
            {canRegister && (
              <Button
                class="quiet"
                busy={changes.locked}
                label={`Register it: ${origin}`}
                onClick={() => void changes.add(CHECK, [origin])}
              >
                {changes.busy === CHECK ? 'Adding…' : 'Register it'}
              </Button>
            )}
          </p>
        )}
      </div>
      <ChangeFailure changes={changes} source={CHECK} />
    </Section>
  );
}
