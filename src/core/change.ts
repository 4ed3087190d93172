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
] as const;
export type Action = (typeof ACTIONS)[number];

/** The longest text to search for in changes: as long as a host can be, and two. */
export const MAX_SEARCH_LENGTH = 255;
