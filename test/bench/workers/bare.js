// Floor (e): a bare Hono route that returns the service's response, with the same headers.
import { Hono } from 'hono';

export default new Hono().all('/api/v1/business/usage/:business_id', (c) => {
  const { status, headers, body } = c.env.ANSWER;
  return c.body(body, status, headers);
});
