// Floor (e): a bare Hono route that parses the body and returns the service's response, with the same headers.
import { Hono } from 'hono';

export default new Hono().all('/api/v1/business/usage/:business_id', async (c) => {
  const text = await c.req.text();
  if (text !== '') JSON.parse(text);
  const { status, headers, body } = c.env.ANSWER;
  return c.body(body, status, headers);
});
