// Whether an origin would pass, by the same rules that the service applies.
import { useState } from 'hono/jsx/dom';
import { isRegistrable, sitesCovering } from '../../core/site.ts';
import { originOfPage } from './address.ts';
import { Button, VERBATIM } from './parts.tsx';

type Props = {
  isActive: boolean;
  sites: string[];
  readOnly: boolean;
  isBusy: boolean;
  add: (site: string) => Promise<boolean>;
};

export function OriginCheck({ isActive, sites, readOnly, isBusy, add }: Props) {
  const [text, setText] = useState('');
  const origin = originOfPage(text.trim());
  const site = sitesCovering(origin).find((covering) => sites.includes(covering));
  const passes = isActive && (sites.length === 0 || site !== undefined);
  return (
    <div class="check">
      <label for="origin">Would this origin pass?</label>
      <input
        id="origin"
        {...VERBATIM}
        inputmode="url"
        placeholder="https://www.shop.example"
        onInput={(event: Event) => setText((event.target as HTMLInputElement).value)}
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
                  <code>{site}</code> lets <code>{origin}</code> pass.
                </>
              ) : passes ? (
                'every origin passes, because no domain is registered.'
              ) : (
                <>
                  <code>{origin}</code> is refused.
                </>
              )}
            </span>
            {isActive && !passes && !readOnly && isRegistrable(origin) && (
              <Button class="quiet" busy={isBusy} label={`Register it: ${origin}`} onClick={() => void add(origin)}>
                Register it
              </Button>
            )}
          </p>
        )}
      </div>
    </div>
  );
}
