import type { Action } from '../../../core/change.ts';

/** Each action's wording: as a title in the list, and as a choice in the filter. */
export const ACTIONS = {
  add_sites: { title: 'Domains added', choice: 'Adding domains' },
  remove_sites: { title: 'Domains removed', choice: 'Removing domains' },
  rotate_token: { title: 'Token replaced', choice: 'Replacing the token' },
  stop_former_tokens: { title: 'Old tokens stopped', choice: 'Stopping old tokens' },
  create_business: { title: 'Business created', choice: 'Creating the business' },
  update_business: { title: 'Business changed', choice: 'Changing the business' },
  delete_business: { title: 'Business deleted', choice: 'Deleting the business' },
  create_key: { title: 'API key created', choice: 'Creating API keys' },
  revoke_key: { title: 'API key revoked', choice: 'Revoking API keys' },
  import_usage: { title: 'Usage imported', choice: 'Importing usage' },
  lower_uses: { title: 'Uses lowered', choice: 'Lowering uses' },
} satisfies Record<Action, { title: string; choice: string }>;
