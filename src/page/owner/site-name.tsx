// A site or an origin, as text.
import { unicodeName } from './unicode-name.ts';

/** A line can end after each dot. */
const breakable = (name: string) => name.split(/(?<=\.)/).flatMap((part) => [part, <wbr key={part} />]);

/** Shows a site or an origin, with its Unicode name if there is one. */
export function SiteName({ site }: { site: string }) {
  const name = unicodeName(site);
  return (
    <span class="site">
      <code>{breakable(site)}</code>
      {name !== null && <bdi class="written">{breakable(name)}</bdi>}
    </span>
  );
}
