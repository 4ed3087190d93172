// The page of the console, a file, into which the name of the service is written (docs/operating.md, "The name in the console").
import { isServiceName, SERVICE_NAME_RULE } from '../core/fields.ts';
import type { Bindings, Log } from '../env.ts';

export const CONSOLE_PATH = '/owner';

/** The page. A name that is not valid is a line in the log, and the page is as if there were none. */
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
  // The ETag of the file knows no name. So none comes in, or a browser would keep an earlier name, and none goes out.
  const file = await ASSETS.fetch(request.url, { method: request.method });
  const named = new HTMLRewriter()
    .on('title', { element: (title) => void title.setInnerContent(`Console · ${name}`) })
    .transform(file);
  const page = new Response(named.body, named);
  page.headers.delete('ETag');
  return page;
}
