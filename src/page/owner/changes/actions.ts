import type { Action } from '../../../core/change.ts';

/** What each action is called, in the list and in the filter. */
export const ACTION_WORDS: Record<Action, string> = {
  add_sites: 'Domains added',
  remove_sites: 'Domains removed',
  rotate_token: 'Token replaced',
  stop_former_tokens: 'Old tokens stopped',
  create_business: 'Business created',
  update_business: 'Business changed',
  add_extra: 'Uses added to a month',
  delete_business: 'Business deleted',
  create_key: 'API key created',
  revoke_key: 'API key revoked',
  import_usage: 'Usage imported',
  lower_uses: 'Uses lowered',
};
