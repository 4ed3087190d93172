// The link of a console: /owner#code=…. A part behind # is never sent to a server, so no log and no Referer has the code.

const PREFIX = '#code=';

/**
 * The code of a link, or null if the address has none. It is taken out of the address at once, so that neither the history nor a
 * bookmark keeps it.
 */
export function takeCode(): string | null {
  if (!location.hash.startsWith(PREFIX)) return null;
  const code = location.hash.slice(PREFIX.length);
  history.replaceState(null, '', location.pathname);
  return code;
}
