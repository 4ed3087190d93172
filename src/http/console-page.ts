// Serves the console with the service's name in its title (docs/operating.md, "The name in the console").
import { isServiceName, SERVICE_NAME_RULE } from '../core/fields.ts';
import type { Bindings, Log } from '../env.ts';

export const CONSOLE_PATH = '/owner';

/** Returns the console page. Logs and ignores an invalid name. */
export async function consolePage(
  request: Request,
  { ASSETS, SERVICE_NAME: name = '' }: Bindings,
  log: Log,
): Promise<Response> {
  if (name === '') return ASSETS.fetch(request);
  if (!isServiceName(name)) {
    log.error({ operation: 'show_console', error: `SERVICE_NAME ${SERVICE_NAME_RULE}` });
    return ASSETS.fetch(request);
  }
  // Ignores and removes the file's ETag. It does not depend on the name, so browsers would keep a page with an earlier name.
  const file = await ASSETS.fetch(request.url, { method: request.method });
  const named = new HTMLRewriter()
    .on('title', { element: (title) => void title.setInnerContent(`Console · ${name}`) })
    .transform(file);
  const page = new Response(named.body, named);
  page.headers.delete('ETag');
  return page;
}
