// Declares the Workers types that src/app.ts uses. Importing all of them would replace the browser's types.
type D1Database = import('@cloudflare/workers-types').D1Database;
type RateLimit = import('@cloudflare/workers-types').RateLimit;
type Fetcher = { fetch: typeof fetch };
interface Scheduler {
  wait(ms: number): Promise<void>;
}
declare class HTMLRewriter {
  on(selector: string, handlers: { element(element: { setInnerContent(text: string): void }): void }): this;
  transform(response: Response): Response;
}
