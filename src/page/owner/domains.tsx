// The domains on which the token of a business works: add, remove, try an origin, and see which were refused.
import { useRef, useState } from 'hono/jsx/dom';
import { canonicalSite } from '../../core/site.ts';
import type { Business } from './api.ts';
import { Confirm } from './confirm.tsx';
import { DomainForm } from './domain-form.tsx';
import { OriginCheck } from './origin-check.tsx';
import { Button, Section } from './parts.tsx';
import { useMutation } from './query.ts';
import { Refused } from './refused.tsx';
import type { RoomProps } from './session.ts';
import { changeFailureWords, plural } from './words.ts';

/** What was done last, and the site to add again if it was a removal. */
type Done = { words: string; undo?: string };

const UNRESTRICTED = 'No domain is registered: the token works on every site, and on servers.';
const RESTRICTED = 'The token works only on pages of these sites.';
const INACTIVE = 'While the business is not active, its token works nowhere.';

export function Domains({ api, business, readOnly, refused, dismissed, setDismissed, onChanged, reload }: RoomProps) {
  const { id, access_list: domains } = business;
  const [done, setDone] = useState<Done | null>(null);
  const [lifting, setLifting] = useState(false);
  const { busy, failure, run, reset } = useMutation();
  const list = useRef<HTMLDivElement>(null);
  const sites = domains.map(({ site }) => site);
  const isActive = business.status === 'active';

  /** Makes one change at a time. The list is then what the service answers. */
  async function change(what: string, work: () => Promise<Business>, then: Done): Promise<boolean> {
    setDone(null);
    const succeeded = await run(what, async () => {
      onChanged(await work());
      setDone(then);
    });
    if (!succeeded) reload();
    return succeeded;
  }
  const add = (site: string) =>
    change(`add ${site}`, () => api.addSite(id, site), { words: `Added ${canonicalSite(site).site ?? site}.` });
  function forgetLast(): void {
    setDone((last) => (last?.undo === undefined ? null : last));
    reset();
  }
  async function remove(access_id: number, site: string): Promise<void> {
    if (domains.length === 1) return setLifting(true);
    await change(`remove ${site}`, () => api.removeSite(id, access_id), { words: `Removed ${site}.`, undo: site });
    list.current?.focus(); // the button that was pressed is gone
  }
  function lifted(succeeded: boolean): void {
    setLifting(false);
    if (!succeeded) return;
    setDone({ words: 'Removed. The token works on every site now.' });
    list.current?.focus();
  }

  return (
    <Section
      id="domains"
      title="Domains"
      note={isActive ? (domains.length === 0 ? UNRESTRICTED : RESTRICTED) : INACTIVE}
    >
      <div ref={list} tabIndex={-1}>
        {domains.length > 0 && (
          <ul class="rows">
            {domains.map(({ id: access_id, site }) => (
              <li key={access_id}>
                <code>{site}</code>
                {!readOnly && (
                  <Button
                    class="quiet"
                    label={`Remove ${site}`}
                    busy={busy !== null}
                    onClick={() => void remove(access_id, site)}
                  >
                    {busy === `remove ${site}` ? 'Removing…' : domains.length === 1 ? 'Remove…' : 'Remove'}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
      <p class="done" role="status">
        {done?.words}
        {done?.undo !== undefined && (
          <Button class="link" busy={busy !== null} onClick={() => void add(done.undo ?? '')}>
            Undo
          </Button>
        )}
      </p>
      <p class="problem" role="alert">
        {failure && busy === null && changeFailureWords(failure)}
      </p>
      {!readOnly && <DomainForm isFirst={domains.length === 0} isBusy={busy !== null} add={add} onType={forgetLast} />}
      {!readOnly && domains.length > 1 && (
        <Button class="quiet danger-text" onClick={() => setLifting(true)}>
          Remove all domains…
        </Button>
      )}
      <OriginCheck isActive={isActive} sites={sites} readOnly={readOnly} isBusy={busy !== null} add={add} />
      <Refused
        api={api}
        id={id}
        refused={refused}
        dismissed={dismissed}
        setDismissed={setDismissed}
        readOnly={readOnly}
        isBusy={busy !== null}
        add={add}
      />
      {lifting && (
        <Confirm
          title={domains.length === 1 ? 'Remove the last domain?' : 'Remove all domains?'}
          action="Let the token work everywhere"
          doing="Removing…"
          work={async () => onChanged(await api.removeSites(id))}
          onFailure={reload}
          onClose={lifted}
        >
          <p>
            Without any domain, the token of this business works on <b>every</b> site: whoever copies it from one of
            your pages can use it on pages of their own.
          </p>
          <p>This takes effect with the next request. It removes {plural(domains.length, 'domain')}:</p>
          <ul class="going">
            {sites.map((site) => (
              <li key={site}>
                <code>{site}</code>
              </li>
            ))}
          </ul>
        </Confirm>
      )}
    </Section>
  );
}
