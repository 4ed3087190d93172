// useQuery, in a component that renders nothing.
import { setImmediate } from 'node:timers/promises';
import { type ComponentType, h, render } from 'preact';
import { expect, test, vi } from 'vitest';

type Query = { data: string | null; failure: object | null; busy: boolean };
type UseQuery = (key: string, read: () => Promise<string>) => Query;

test('useQuery drops responses and failures of requests that a later one has overtaken', async () => {
  // A computed path hides the module from the compiler: it needs the DOM types, which the tests do not have.
  const { useQuery }: { useQuery: UseQuery } = await import(['../../src/page', 'owner/query.ts'].join('/'));
  const requests = new Map<string, PromiseWithResolvers<string>>();
  let query: Query | undefined;
  const Reader: ComponentType<{ name: string }> = ({ name }) => {
    query = useQuery(name, () => {
      const request = Promise.withResolvers<string>();
      requests.set(name, request);
      return request.promise;
    });
    return null;
  };
  const root = { childNodes: [] } as unknown as Parameters<typeof render>[1];
  for (const name of ['succeeds', 'fails', 'latest']) {
    render(h(Reader, { name }), root);
    await vi.waitFor(() => expect([...requests.keys()]).toContain(name));
  }
  requests.get('latest')?.resolve('latest');
  await vi.waitFor(() => expect(query).toMatchObject({ data: 'latest', busy: false }));
  requests.get('succeeds')?.resolve('overtaken');
  requests.get('fails')?.reject(new Error('overtaken'));
  await setImmediate(); // Preact renders in a microtask
  expect(query).toMatchObject({ data: 'latest', failure: null, busy: false });
});
