// /api/v1/openapi.json: serves the OpenAPI file from the build, with the headers of an API response.
import { publicAccess } from './public.ts';
import { send } from './response.ts';
import { newRoutes } from './router.ts';

const MAX_AGE_SECONDS = 3600;

export const openapi = newRoutes().get('/openapi.json', publicAccess, async (c) => {
  // Uses the file's canonical path, because the request may spell it differently.
  const file = await c.env.ASSETS.fetch(new Request(new URL('/api/v1/openapi.json', c.req.url), c.req.raw));
  if (file.status !== 200 && file.status !== 304)
    throw new Error(`openapi.json is not among the assets: ${file.status}`);
  const headers: Record<string, string> = {
    'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
    'Content-Type': 'application/json',
  };
  const etag = file.headers.get('ETag');
  if (etag !== null) headers.ETag = etag;
  return send(c, file.body, file.status, headers);
});
