// While no domain is registered: the sites whose pages use the token now. Registering domains stops the others.
import type { RefusedOrigin } from '../../../access/description.ts';
import { instantWords, plural, shareWords } from '../formats.ts';
import { Button } from '../parts.tsx';
import { siteCovering } from './address.ts';
import { ChangeFailure, type DomainChanges } from './domain-changes.tsx';
import { SiteName } from './domain-list.tsx';

const SOURCE = 'let in';
const MAX_NAMED = 5;

/** Says which of the origins a list of sites would refuse. Empty if none. */
export function stoppedWords(origins: RefusedOrigin[], sites: readonly string[]): string {
  const stopped = origins.filter(({ origin }) => siteCovering(origin, sites) === undefined);
  if (stopped.length === 0) return '';
  const named = stopped.slice(0, MAX_NAMED).map(({ origin, count }) => `${origin} (at least ${plural(count, 'time')})`);
  const more = stopped.length - named.length;
  return `These pages, which use the token now, would be refused: ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}.`;
}

type Props = { origins: RefusedOrigin[]; readOnly: boolean; changes: DomainChanges };

export function LetIn({ origins, readOnly, changes }: Props) {
  if (origins.length === 0) return null;
  const total = origins.reduce((sum, { count }) => sum + count, 0);
  const all = origins.map(({ origin }) => origin);
  return (
    <div class="let-in">
      <p class="note">
        Pages of these sites use the token now. <b>Anyone who has the token can make an entry appear here:</b> register
        only your own sites.
      </p>
      <ul class="rows">
        {origins.map(({ origin, count, last_seen }) => (
          <li key={origin} class="item">
            <span class="named">
              <SiteName site={origin} />
              <small>
                at least {plural(count, 'time')} ({shareWords(count / total)}), last on {instantWords(last_seen)}
              </small>
            </span>
            {!readOnly && (
              <Button
                class="quiet"
                label={`Add ${origin}`}
                busy={changes.locked}
                onClick={() => void changes.add(SOURCE, [origin])}
              >
                Add
              </Button>
            )}
          </li>
        ))}
      </ul>
      {!readOnly && all.length > 1 && (
        <div class="foot">
          <Button class="quiet" busy={changes.locked} onClick={() => void changes.add(SOURCE, all)}>
            {changes.busy === SOURCE ? 'Adding…' : `Add all ${all.length}`}
          </Button>
        </div>
      )}
      <ChangeFailure changes={changes} source={SOURCE} />
    </div>
  );
}
