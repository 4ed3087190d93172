// useQuery, in a component that renders nothing.
import { setImmediate } from 'node:timers/promises';
import { type ComponentType, h, render } from 'preact';
import { expect, test, vi } from 'vitest';

type Query = { data: string | null; failure: object | null; busy: boolean; setData: (data: string) => void };
type UseQuery = (key: string | null, revision: number, read: () => Promise<string>) => Query;

/** Reads with useQuery. Each request stays pending until the test settles it. */
async function reader() {
  // A computed path hides the module from the compiler: it needs the DOM types, which the tests do not have.
  const { useQuery }: { useQuery: UseQuery } = await import(['../../src/page', 'owner/query.ts'].join('/'));
  const requests: PromiseWithResolvers<string>[] = [];
  let query: Query | undefined;
  const Reader: ComponentType<{ name: string | null; revision: number }> = ({ name, revision }) => {
    query = useQuery(name, revision, () => {
      const request = Promise.withResolvers<string>();
      requests.push(request);
      return request.promise;
    });
    return null;
  };
  const root = { childNodes: [] } as unknown as Parameters<typeof render>[1];
  const read = (name: string | null, revision = 0) => render(h(Reader, { name, revision }), root);
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

test('useQuery keeps its data while the same is read again, and has none of another key', async () => {
  const { requests, read, current, sent } = await reader();
  read('one');
  await sent(1);
  requests[0]?.resolve('of one');
  await vi.waitFor(() => expect(current()).toMatchObject({ data: 'of one', busy: false }));
  read('one', 1);
  await sent(2);
  expect(current()).toMatchObject({ data: 'of one', busy: true });
  read('two', 1);
  expect(current()).toMatchObject({ data: null, readAt: null, busy: true });
  await sent(3);
  requests[2]?.reject(new Error('failed'));
  await vi.waitFor(() => expect(current()).toMatchObject({ data: null, failure: {}, busy: false }));
  read('one', 1);
  expect(current()).toMatchObject({ data: 'of one', failure: null, busy: true });
});

test('useQuery reads nothing without a key, and has no data, even if an answer is late', async () => {
  const { requests, read, current, sent } = await reader();
  const off = { data: null, failure: null, busy: false };
  read(null);
  await setImmediate();
  expect(current()).toMatchObject(off);
  read('one');
  await sent(1);
  read(null);
  await vi.waitFor(() => expect(current()).toMatchObject(off));
  await setImmediate();
  requests[0]?.resolve('of one');
  await setImmediate();
  expect(current()).toMatchObject(off);
  expect(requests).toHaveLength(1);
});
