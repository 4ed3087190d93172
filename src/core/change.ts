// The actions in the list of changes (docs/api.md, "Changes").

export const ACTIONS = [
  'add_sites',
  'remove_sites',
  'rotate_token',
  'stop_former_tokens',
  'create_business',
  'update_business',
  'add_extra',
  'delete_business',
  'create_key',
  'revoke_key',
  'import_usage',
  'lower_uses',
] as const;
export type Action = (typeof ACTIONS)[number];
/** Those whose values name a key. Only the key's owner may see the name. */
export const KEY_ACTIONS = ['create_key', 'revoke_key'] as const satisfies Action[];
