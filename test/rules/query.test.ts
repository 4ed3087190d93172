// useQuery, in a component that renders nothing.
import { setImmediate } from 'node:timers/promises';
import { type ComponentType, h, render } from 'preact';
import { expect, test, vi } from 'vitest';

type Query = { data: string | null; failure: object | null; busy: boolean; setData: (data: string) => void };
type UseQuery = (key: string, read: () => Promise<string>) => Query;

/** Reads with useQuery. Each request stays pending until the test settles it. */
async function reader() {
  // A computed path hides the module from the compiler: it needs the DOM types, which the tests do not have.
  const { useQuery }: { useQuery: UseQuery } = await import(['../../src/page', 'owner/query.ts'].join('/'));
  const requests: PromiseWithResolvers<string>[] = [];
  let query: Query | undefined;
  const Reader: ComponentType<{ name: string }> = ({ name }) => {
    query = useQuery(name, () => {
      const request = Promise.withResolvers<string>();
      requests.push(request);
      return request.promise;
    });
    return null;
  };
  const root = { childNodes: [] } as unknown as Parameters<typeof render>[1];
  const read = (name: string) => render(h(Reader, { name }), root);
  return {
    requests,
    read,
    current: () => query as Query,
    sent: (count: number) => vi.waitFor(() => expect(requests).toHaveLength(count)),
  };
}

test('useQuery ignores the outcome of superseded requests', { tags: 'slow' }, async () => {
  const { requests, read, current, sent } = await reader();
  for (const [index, name] of ['succeeds', 'fails', 'latest'].entries()) {
    read(name);
    await sent(index + 1);
  }
  const [succeeds, fails, latest] = requests;
  latest?.resolve('latest');
  await vi.waitFor(() => expect(current()).toMatchObject({ data: 'latest', busy: false }));
  succeeds?.resolve('superseded');
  fails?.reject(new Error('superseded'));
  await setImmediate(); // waits for Preact, which renders in a microtask
  expect(current()).toMatchObject({ data: 'latest', failure: null, busy: false });
});

test("useQuery keeps a change's response and sends a pending read again, because that read may return older data", async () => {
  const { requests, read, current, sent } = await reader();
  read('business');
  await sent(1);
  current().setData('changed');
  await sent(2);
  requests[0]?.resolve('before the change');
  await setImmediate();
  expect(current()).toMatchObject({ data: 'changed', busy: true });
  requests[1]?.resolve('after the change');
  await vi.waitFor(() => expect(current()).toMatchObject({ data: 'after the change', busy: false }));
  current().setData('changed again');
  await setImmediate();
  expect(current()).toMatchObject({ data: 'changed again', busy: false });
  expect(requests).toHaveLength(2);
});
