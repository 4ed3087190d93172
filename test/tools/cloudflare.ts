// A fake Cloudflare account with SQLite databases. Tests call it directly, or serve it to wrangler as Cloudflare's API.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ROOT } from '../cli/support.ts';

const FOLDER = join(ROOT, 'migrations');
export const MIGRATIONS = readdirSync(FOLDER).sort();
const SQL = new Map(MIGRATIONS.map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]));

export class Account {
  readonly id = '0123456789abcdef0123456789abcdef';
  readonly databases = new Map<string, { name: string; db: DatabaseSync }>();
  /** Each Worker's database ids by binding, as of its last upload. */
  readonly workers = new Map<string, Record<string, string>>();
  /** How the served API fails: it ends connections, or never responds. */
  outage: 'ends' | 'hangs' | null = null;

  /** Returns the id of a new, empty database. */
  create(name: string): string {
    const id = randomUUID();
    this.databases.set(id, { name, db: new DatabaseSync(':memory:') });
    return id;
  }

  db(id: string): DatabaseSync {
    const found = this.databases.get(id);
    if (found === undefined) throw new Error(`The database ${id} could not be found [code: 7404]`);
    return found.db;
  }

  /** Applies the missing migrations. */
  migrate(id: string): void {
    const db = this.db(id);
    db.exec('create table if not exists d1_migrations (id integer primary key autoincrement, name text unique)');
    const applied = this.applied(id);
    for (const name of MIGRATIONS.filter((name) => !applied.includes(name))) {
      db.exec(SQL.get(name) ?? '');
      db.prepare('insert into d1_migrations (name) values (?)').run(name);
    }
  }

  applied(id: string): unknown[] {
    const rows = this.db(id).prepare('select name from d1_migrations order by name').all();
    return rows.map(({ name }) => name);
  }

  /** Creates a user's business in database `id`, and the user's home in database `first`. */
  addOwner(user_id: number, number: number, id: string, first: string): void {
    const values = `${number * 1e9 + user_id}, ${user_id}, 'A', 'a.example', 'https://a.example', 1, 'small', 'bua_pk_${`${user_id}`.padStart(34, '0')}', 'active', '', ''`;
    this.db(id).exec(
      `insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at) values (${values})`,
    );
    this.db(first).exec(`insert into homes values (${user_id}, ${number}, 0, '2026-01-01T00:00:00.000000Z')`);
  }

  /** Serves the endpoints of Cloudflare's API that a deployment calls, until `close`. */
  async serve() {
    const server = createServer(async (request, response) => {
      if (this.outage !== null) return void (this.outage === 'ends' && request.socket.destroy());
      let body = '';
      for await (const chunk of request) body += chunk;
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const [status, answer] = this.respond(`${request.method} ${pathname.replace(`/accounts/${this.id}`, '')}`, body);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
  }

  private respond(route: string, body: string): [number, object] {
    const ok = (result: unknown): [number, object] => [200, { success: true, errors: [], messages: [], result }];
    const no = (status: number, code: number, message: string): [number, object] => {
      return [status, { success: false, errors: [{ code, message }], messages: [], result: null }];
    };
    const account = { id: this.id, name: 'Acme' };
    const [, script = ''] = /\/workers\/[a-z]+\/([^/]+)/.exec(route) ?? [];
    const [, id = ''] = /\/d1\/database\/([^/]+)/.exec(route) ?? [];
    if (route === 'GET /user') return ok({ id: 'user', email: 'a@example.com' });
    if (route === 'GET /user/tokens/verify') return ok({ id: 'token', status: 'active' });
    if (route === 'GET /accounts') return ok([account]);
    if (route === 'GET /memberships') return ok([{ id: 'member', account }]);
    if (route === 'GET /d1/database') return ok([...this.databases].map(([uuid, { name }]) => ({ uuid, name })));
    if (id !== '' && !this.databases.has(id)) return no(404, 7404, `The database ${id} could not be found`);
    if (route === `POST /d1/database/${id}/query`) {
      try {
        return ok(this.query(id, JSON.parse(body).sql));
      } catch (error) {
        return no(400, 7500, `${(error as Error).message}: SQLITE_ERROR`);
      }
    }
    if (route === 'GET /workers/subdomain') return ok({ subdomain: 'acme' });
    if (route === `PUT /workers/scripts/${script}`) {
      const { bindings } = JSON.parse(/^\{"main_module".*\}$/m.exec(body)?.[0] ?? '{}');
      const databases = bindings.filter(({ type }: { type: string }) => type === 'd1');
      this.workers.set(script, Object.fromEntries(databases.map(({ name, id }: Record<string, string>) => [name, id])));
      return ok({ id: 'script', tag: 'tag', startup_time_ms: 1, entry_point: 'index.js', handlers: ['fetch'] });
    }
    if (route.endsWith('/assets-upload-session')) return ok({ jwt: 'jwt', buckets: [] }); // all files are there already
    if (route === `GET /workers/workers/${script}`) return ok({ subdomain: { enabled: true } });
    // Returns 404 even for a Worker that has been uploaded, because wrangler would otherwise compare that Worker with the new upload.
    return route.startsWith('GET') ? no(404, 10007, 'This Worker does not exist on your account.') : ok({});
  }

  /** Runs SQL without parameters. Only a single SELECT returns rows. */
  query(id: string, sql: string) {
    const db = this.db(id);
    const isRead = /^\s*select/i.test(sql);
    if (!isRead) db.exec(sql);
    return [{ results: isRead ? db.prepare(sql).all() : [], success: true, meta: {} }];
  }
}
