// The sign-in link of the console: /owner#code=…. Browsers never send the fragment, so the code is in no log and no Referer.

const PREFIX = '#code=';

/** Removes the code from the address, so that neither the history nor a bookmark keeps it, and returns it. */
export function takeCode(): string | null {
  if (!location.hash.startsWith(PREFIX)) return null;
  const code = location.hash.slice(PREFIX.length);
  history.replaceState(null, '', location.pathname);
  return code;
}
