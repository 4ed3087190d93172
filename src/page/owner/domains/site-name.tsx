// A site or an origin, and its name as people write it where that is in another script.
import { writtenName } from './written-name.ts';

export function SiteName({ site }: { site: string }) {
  const name = writtenName(site);
  return (
    <span class="site">
      <code>{site}</code>
      {name !== null && <bdi class="written">{name}</bdi>}
    </span>
  );
}
