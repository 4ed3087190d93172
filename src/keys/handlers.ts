// Lists, creates and revokes a user's API keys.
import { parseId } from '../core/request.ts';
import { unknownId } from '../http/errors.ts';
import { success } from '../http/response.ts';
import { askForUser, userOf } from '../http/user.ts';
import { serve } from '../serve.ts';
import type { Keys, NewKey, RevokedKey } from './description.ts';
import { operations } from './operations.ts';
import { createKey, createKeyIn, keysOf, revokeKey } from './statements.ts';

export const routes = serve(operations, {
  async listKeys(c) {
    const { ask } = await askForUser(c);
    return success<Keys>(c, { keys: await keysOf(ask) });
  },

  async createKey(c) {
    const user_id = userOf(c);
    const { name = 'API key', ...rest } = c.req.valid('json');
    const key = { user_id, name, ...rest };
    const isOperator = c.get('call').credential.kind === 'operator';
    const created = isOperator ? createKey(c.get('databases'), key) : createKeyIn(c.get('ask'), c.get('database'), key);
    return success<NewKey>(c, await created);
  },

  async revokeKey(c) {
    const { ask } = await askForUser(c);
    const key = await revokeKey(ask, parseId(c.req.param('key_id')));
    if (key === null) throw unknownId('Key id');
    return success<RevokedKey>(c, { key });
  },
});
