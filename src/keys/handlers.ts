// Lists, creates and revokes a user's API keys.
import { parseId } from '../core/request.ts';
import { unknownEntry } from '../http/errors.ts';
import { success } from '../http/response.ts';
import { askForUser, userOf } from '../http/user.ts';
import { serve } from '../serve.ts';
import type { Keys, NewKey, RevokedKey } from './description.ts';
import { operations } from './operations.ts';
import { createKey, keysOf, revokeKey } from './statements.ts';

export const routes = serve(operations, {
  async listKeys(c) {
    const { user_id, ask } = await askForUser(c);
    return success<Keys>(c, { keys: await keysOf(ask, user_id) });
  },

  async createKey(c) {
    const user_id = userOf(c);
    const { name = 'API key', ...key } = c.req.valid('json');
    return success<NewKey>(c, await createKey(c.get('databases'), { user_id, name, ...key }));
  },

  async revokeKey(c) {
    const { user_id, ask } = await askForUser(c);
    const key = await revokeKey(ask, parseId(c.req.param('key_id')), user_id);
    if (key === null) throw unknownEntry('Key id');
    return success<RevokedKey>(c, { key });
  },
});
