// Erases users.
import { success } from '../http/response.ts';
import { userOf } from '../http/user.ts';
import { serve } from '../serve.ts';
import type { ErasedUser } from './description.ts';
import { operations } from './operations.ts';
import { eraseUser } from './statements.ts';

export const routes = serve(operations, {
  async eraseUser(c) {
    const user_id = userOf(c);
    await eraseUser(c.get('databases'), user_id, c.get('call').now);
    return success<ErasedUser>(c, { erased: { user_id } });
  },
});
