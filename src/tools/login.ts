// What the commands and the deployment say where wrangler is not logged in to Cloudflare.

export const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.';

/** Whether the output of `wrangler whoami --json` says that nobody is logged in. */
export const isLoggedOut = (whoami: string): boolean => /"loggedIn":\s*false/.test(whoami);
