// Floor (e): a route of Hono, and nothing else. What it answers is what the service answers, to the header.
import { Hono } from 'hono';

export default new Hono().all('/api/v1/business/usage/:business_id', (c) => {
  const { status, headers, body } = c.env.ANSWER;
  return c.body(body, status, headers);
});
