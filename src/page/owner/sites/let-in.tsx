// The sites whose pages use the token while no domain is registered. Registering domains stops the others.
import { useState } from 'preact/hooks';
import type { RefusedOrigin } from '../../../sites/description.ts';
import { namesWords, shareWords } from '../formats.ts';
import { siteCovering } from './address.ts';
import { AddAll, OriginRows, timesWords } from './origin-rows.tsx';
import { useSeenRows } from './seen-rows.ts';
import type { SiteChanges } from './site-changes.tsx';

const SOURCE = 'let in';

/** Says which of the origins a list of sites would refuse. Empty if none. */
export function stoppedWords(origins: RefusedOrigin[], sites: readonly string[]): string {
  const stopped = origins.filter(({ origin }) => siteCovering(origin, sites) === undefined);
  if (stopped.length === 0) return '';
  const named = namesWords(stopped.map((one) => `${one.origin} (${timesWords(one)})`));
  return `These pages, which use the token now, would be refused: ${named}.`;
}

type Props = { origins: RefusedOrigin[]; sites: string[]; readOnly: boolean; changes: SiteChanges };

export function LetIn({ origins, ...props }: Props) {
  const [sitesBefore] = useState(props.sites);
  const rows = [...useSeenRows(origins, ({ origin }) => origin).values()];
  if (rows.length === 0) return null;
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return (
    <div class="let-in">
      <p class="note">
        Pages of these sites used the token while no domains were registered.{' '}
        <b>Anyone who has the token can make an entry appear here:</b> register only your own sites.
      </p>
      <OriginRows
        {...props}
        rows={rows}
        sitesBefore={sitesBefore}
        countWords={(row) => `${timesWords(row)} (${shareWords(row.count / total)})`}
      />
      <div class="foot">
        <AddAll {...props} rows={rows} source={SOURCE} />
      </div>
    </div>
  );
}
