// What can be done to a business or its keys, as the changes of a business name it (docs/api.md, "Changes").

export const ACTIONS = [
  'add_sites',
  'remove_sites',
  'rotate_token',
  'stop_former_tokens',
  'create_business',
  'update_business',
  'delete_business',
  'create_key',
  'revoke_key',
  'import_usage',
  'lower_uses',
] as const;
export type Action = (typeof ACTIONS)[number];

/** The longest text to search for. A host has at most 253 characters. */
export const MAX_SEARCH_LENGTH = 255;

/**
 * The forms of a search text to look for, because SQLite folds case only for A to Z: lower case, upper case, and as a domain is stored
 * (RFC 3492). The last two are null for a text in ASCII, and the last is null if no host can have the text.
 */
export function searchedTexts(search: string): [text: string, capitals: string | null, domain: string | null] {
  if (!/[^\0-\x7f]/.test(search)) return [search, null, null];
  const [, scheme = '', host = ''] = /^(https?:\/\/)?(.*)$/s.exec(search) ?? [];
  const domain = URL.parse(`https://${host}`)?.hostname;
  return [search.toLowerCase(), search.toUpperCase(), domain ? scheme + domain : null];
}
