// Starts all Workers in one workerd, each on its own socket, so they receive the load directly.
import { existsSync, mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from 'miniflare';
import { unstable_readConfig } from 'wrangler';

const HERE = import.meta.dirname;
const MEMORY = '/dev/shm';
const { compatibility_date, ratelimits } = unstable_readConfig({ config: resolve(HERE, '../../wrangler.toml') });

export type Contender = {
  name: string;
  /** Its code, or its file in test/bench/workers. */
  code: { text: string } | { file: string };
  /** Contenders that name the same database share it. */
  database?: string;
  bindings?: Record<string, unknown>;
  /** Service bindings: the names of other contenders. */
  services?: Record<string, string>;
  /** True if the rate limits of wrangler.toml hold. */
  isLimited?: true;
  /**
   * `repeated`: the Worker repeats a call without querying the database. `modelled`: its databases are stand-ins. `metered`: responses say
   * what they took of the database.
   */
  around?: 'repeated' | 'modelled' | 'metered';
};
export type Stage = Awaited<ReturnType<typeof open>>;

export async function open(contenders: Contender[]) {
  // In memory if possible, to measure the cost of D1 and not of the disk.
  const directory = mkdtempDisposableSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'bench-'));
  const workers = contenders.map(worker);
  const options = convertV4MiniflareOptions({ workers, resourcePersistencePath: directory.path } as never);
  const urls = new Map<string, string>();
  async function start(): Promise<Miniflare> {
    const started = new Miniflare(options);
    await started.ready;
    for (const { name } of contenders) urls.set(name, (await started.unsafeGetDirectURL(name)).origin);
    return started;
  }
  let miniflare = await start();
  return {
    async database(name: string) {
      const owner = contenders.find(({ database }) => database === name);
      return (await miniflare.getD1Database('DB', owner?.name ?? '')) as unknown as D1Database;
    },
    /** A contender's URL until the next start. */
    url: (contender: string) => urls.get(contender) ?? '',
    /** Restarts workerd. The databases keep their data. */
    async restart() {
      await miniflare.dispose();
      miniflare = await start();
    },
    async [Symbol.asyncDispose]() {
      await miniflare.dispose();
      directory.remove();
    },
  };
}

function worker({ name, code, around, ...more }: Contender): V4WorkerOptions {
  const files = [`${around ?? 'entry'}.js`, 'quiet.js', 'replay.js'].map((file) => [file, source(file)]);
  const own = ['worker.js', 'text' in code ? code.text : source(code.file)];
  return {
    name,
    modules: [...files, own].map(([path, contents]) => ({ type: 'ESModule', path, contents })),
    compatibilityDate: compatibility_date ?? '',
    bindings: more.bindings ?? {},
    serviceBindings: more.services ?? {},
    ratelimits: more.isLimited
      ? Object.fromEntries(ratelimits.map(({ name, ...limit }: { name: string }) => [name, limit]))
      : {},
    d1Databases: more.database === undefined ? {} : { DB: more.database },
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0, entrypoint: 'default' }],
  } as V4WorkerOptions;
}

const source = (file: string) => readFileSync(join(HERE, 'workers', file), 'utf8');
