// What a deployed service must keep: a check for each promise, by what it says when it is kept. Each makes the businesses that it
// needs, so that none depends on another, and all can be made in several databases at once.
import { randomBytes } from 'node:crypto';
import { ALPHABET } from '../core/credential.ts';
import { databaseOfId } from '../core/database.ts';
import { addDays } from '../core/time.ts';
import { MAX_USES_PER_CALL } from '../core/use.ts';
import { type Answer, type Call, type DeployedService, Differs, same, Unseen } from './deployed-service.ts';

/** The businesses with this name, of the users that are for it, are deleted without a question. */
export const NAME = 'npm run verify';
const REFUSED_ORIGIN_SECONDS = 20;
const POLL_MS = 500;
/** A session of a minute is looked at shortly before its end, and after it. */
const SESSION_LOOKS_MS = { before: 50_000, after: 62_000 };

type Business = { id: number; user_id: number; name: string; token: string; status: string };
type Details = Business & { former_tokens: { last_four: string }[]; access_list: { id: number; site: string }[] };
type Use = { date: string; count: number; remaining?: number };

/** A database of a service, and the user in it for whom checks make businesses. */
export class Place {
  readonly service: DeployedService;
  readonly user_id: number;
  readonly database: number;

  constructor(service: DeployedService, user_id: number, database: number) {
    this.service = service;
    this.user_id = user_id;
    this.database = database;
  }

  /** What a new business needs, and what a check needs besides. */
  fields(more: object = {}) {
    const { user_id } = this;
    const site = 'https://verify.example';
    return { user_id, name: NAME, main_domain: 'verify.example', site, country_id: 1, business_size: 'small', ...more };
  }

  /** A business for one check. Without one, the check cannot be made. */
  async newBusiness(more: object = {}): Promise<Business> {
    const answer = await this.service.send<Business>('POST /business', { body: this.fields(more) });
    if (answer.outcome !== '200') throw new Unseen(`POST /business is ${answer.outcome} ${answer.text}`);
    return answer.data;
  }

  /** The uses of a business, of all days: midnight may have passed. */
  async usesOf({ id }: Business): Promise<number> {
    const { used } = await this.service.ok<{ used: Use[] }>(`GET /business/usage/${id}`);
    return used.reduce((sum, { count }) => sum + count, 0);
  }

  /** Records a use, or a list of them. Whether that works is for the check to say. */
  record({ id }: Business, call: Call & { once?: string } = {}): Promise<Answer<Use>> {
    const { once, headers = {}, ...rest } = call;
    const idempotent = once === undefined ? headers : { ...headers, 'Idempotency-Key': once };
    return this.service.send(`POST /business/usage/${id}`, { ...rest, headers: idempotent });
  }

  /** A console link for a business: its address, and the code in it. */
  async newLink({ id }: Business, minutes: number): Promise<{ url: URL; code: string }> {
    const body = { business_id: id, role: 'read', minutes };
    const link = await this.service.ok<{ url: string }>(`POST /user/${this.user_id}/console-link`, { body });
    const url = new URL(link.url);
    return { url, code: url.hash.replace(/^#code=/, '') };
  }

  /** Sends the code of a link, as the console does. */
  redeem(code: string) {
    return this.service.send<{ session_key: string; read_only: boolean }>('POST /session', {
      key: null,
      body: { code },
    });
  }

  /** What a session sees of its business: whether it has ended. */
  async outcomeWith(key: string, { id }: Business): Promise<string> {
    return (await this.service.send(`GET /business/${id}`, { key })).outcome;
  }

  newKey({ id }: Business, role: string) {
    const call = { body: { name: NAME, business_id: id, role } };
    return this.service.ok<{ id: number; api_key: string }>(`POST /user/${this.user_id}/keys`, call);
  }
}

const random = () => randomBytes(8).toString('hex');
const outcomes = (answers: Answer[]) => answers.map(({ outcome }) => outcome).sort();
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
/** A credential in the right form that nobody has. */
const unknown = (prefix: string, length: number) =>
  prefix + Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');

/** What concerns the service as a whole. */
export const OF_SERVICE: Record<string, (service: DeployedService) => Promise<void>> = {
  async 'health says that every database responds'(service) {
    const { outcome, text } = await service.send('GET /health', { key: null });
    same('GET /health', [outcome, text], ['200', '{"status":true}']);
  },

  async 'the OpenAPI description is served'(service) {
    const { outcome, text } = await service.send('GET /openapi.json', { key: null });
    same('GET /openapi.json', outcome, '200');
    same('its version', JSON.parse(text).openapi, '3.1.0');
  },

  async 'the chart, the page at / and the console are served'(service) {
    for (const [path, type] of [
      ['/usage-chart.js', 'javascript'],
      ['/', 'text/html'],
      ['/owner', 'text/html'],
    ] as const) {
      const { outcome, headers } = await service.fetch('GET', `${service.origin}${path}`, { key: null });
      same(`GET ${path}`, outcome, '200');
      if (!headers.get('Content-Type')?.includes(type))
        throw new Differs(`GET ${path} is ${headers.get('Content-Type')}, not ${type}`);
    }
  },

  async 'a preflight allows pages every method and header'(service) {
    const { outcome, headers } = await service.send('OPTIONS /business', { key: null });
    same('OPTIONS /business', [outcome, headers.get('Access-Control-Allow-Origin')], ['204', '*']);
    const listed = (name: string) => headers.get(name)?.split(/,\s*/).sort();
    same('the methods', listed('Access-Control-Allow-Methods'), ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST']);
    const names = ['*', 'Authorization', 'Content-Type', 'Idempotency-Key'];
    same('the headers', listed('Access-Control-Allow-Headers'), names);
  },

  async 'an unknown credential is refused, whatever its kind'(service) {
    for (const key of [unknown('bua_op_', 43), unknown('bua_sk_0', 33), unknown('bua_pk_0', 33), unknown('', 40)])
      await service.refused('GET /business', '401 unauthenticated', { key });
    const { headers } = await service.refused('GET /business', '401 unauthenticated', { key: null });
    same('WWW-Authenticate', headers.get('WWW-Authenticate'), 'Bearer');
  },

  async 'an operator key is refused in a page'(service) {
    const call = { headers: { Origin: 'https://verify.example' } };
    await service.refused('GET /business', '403 operator_key_in_page', call);
  },

  async 'responses are for HTTPS only, are not stored, and can be read by pages'(service) {
    const promised = {
      'Strict-Transport-Security': 'max-age=15552000; includeSubDomains',
      'Cache-Control': 'no-store',
      'Access-Control-Allow-Origin': '*',
      'X-Content-Type-Options': 'nosniff',
    };
    for (const call of [{}, { key: null }]) {
      const { headers } = await service.send('GET /business?limit=1', call);
      for (const [name, value] of Object.entries(promised)) same(name, headers.get(name), value);
    }
  },
};

/** What concerns each database. */
export const OF_DATABASE: Record<string, (place: Place) => Promise<void>> = {
  async 'ids and credentials name their database'(place) {
    const business = await place.newBusiness();
    same('the database of the id', databaseOfId(business.id), place.database);
    same('the letter of the token', business.token.slice(0, 8), `bua_pk_${ALPHABET[place.database]}`);
    const { api_key } = await place.newKey(business, 'full');
    same('the letter of the API key', api_key.slice(0, 8), `bua_sk_${ALPHABET[place.database]}`);
  },

  async 'the same Idempotency-Key makes one business'(place) {
    const request = (body: object) =>
      place.service.send<Business>('POST /business', { body, headers: { 'Idempotency-Key': key } });
    const key = random();
    const twoAtOnce = await Promise.all([request(place.fields()), request(place.fields())]);
    const answers = [...twoAtOnce, await request(place.fields())];
    same('three requests, two of them at once', outcomes(answers), ['200', '200', '200']);
    same('how many businesses they made', new Set(answers.map(({ data }) => data.id)).size, 1);
    const other = await request(place.fields({ country_id: 2 }));
    same('the same key with another body', other.outcome, '422 invalid_input');
  },

  async 'a use counts, and the report shows it'(place) {
    const business = await place.newBusiness();
    for (const call of [{ key: business.token }, {}]) {
      const { outcome, data } = await place.record(business, call);
      same('recording', outcome, '200');
      same('what it says', Object.keys(data), ['date', 'count']);
    }
    same('the uses in the report', await place.usesOf(business), 2);
  },

  async 'the same id twice counts once'(place) {
    const business = await place.newBusiness();
    const once = random();
    for (const call of [{ key: business.token }, { key: business.token }, {}, {}]) {
      const { outcome } = await place.record(business, { once, ...call });
      same('recording', outcome, '200');
    }
    same('the uses of one id, twice from a token and twice from the operator', await place.usesOf(business), 2);
  },

  async '20 uses at once with 10 ids count 10'(place) {
    const business = await place.newBusiness();
    const ids = times(10, random);
    const answers = await Promise.all([...ids, ...ids].map((once) => place.record(business, { once })));
    same(
      'the answers',
      outcomes(answers),
      times(20, () => '200'),
    );
    same('the uses in the report', await place.usesOf(business), 10);
  },

  async 'a list of 1,000 uses counts each id once, on its first day'(place) {
    const business = await place.newBusiness();
    const date = await dayAt(place);
    const yesterday = `${addDays(date, -1)}T12:00:00Z`;
    const distinct = MAX_USES_PER_CALL - 10;
    const uses = times(MAX_USES_PER_CALL, (index) => ({ id: `id-${index % distinct}`, at: yesterday }));
    const report = () => place.service.ok(`POST /business/usage/${business.id}`, { body: { uses } });
    same('the list', await report(), { recorded: distinct, duplicates: 10 });
    same('the same list again', await report(), { recorded: 0, duplicates: MAX_USES_PER_CALL });
    const onDay = addDays(date, -1);
    const range = `/business/usage/${business.id}?from=${onDay}&to=${onDay}`;
    same('the report', await place.service.ok(`GET ${range}`), { used: [{ date: onDay, count: distinct }] });
  },

  async 'a limit of 1 refuses the second of two at once'(place) {
    const business = await place.newBusiness({ daily_limit: 1 });
    const answers = await Promise.all([place.record(business), place.record(business)]);
    const statuses = outcomes(answers);
    if (statuses.every((status) => status === '200'))
      throw new Differs(
        `both were counted (${statuses.join(', ')}), and the report has ${await place.usesOf(business)}`,
      );
    same('the answers', statuses, ['200', '429 limit_reached']);
    same('the uses in the report', await place.usesOf(business), 1);
  },

  async 'a use that a limit refused is not remembered, and counts once the limit is raised'(place) {
    const business = await place.newBusiness({ daily_limit: 1 });
    const [counted, refused] = [random(), random()];
    same('the first use', (await place.record(business, { once: counted })).outcome, '200');
    same('the second', (await place.record(business, { once: refused })).outcome, '429 limit_reached');
    same('the first again', (await place.record(business, { once: counted })).outcome, '200');
    await place.service.ok(`PATCH /business/${business.id}`, { body: { daily_limit: 2 } });
    same('the second with a limit of 2', (await place.record(business, { once: refused })).outcome, '200');
    same('the uses in the report', await place.usesOf(business), 2);
  },

  async 'a list of uses counts past a limit'(place) {
    const business = await place.newBusiness({ daily_limit: 1 });
    const { outcome } = await place.record(business, { body: { uses: [{ id: 'a' }, { id: 'b' }] } });
    same('the list', outcome, '200');
    same('one use behind it', (await place.record(business)).outcome, '429 limit_reached');
    same('the uses in the report', await place.usesOf(business), 2);
  },

  async 'a refused origin is refused and remembered'(place) {
    const business = await place.newBusiness({ sites: ['https://verify.example'] });
    const origin = `https://${random()}.example`;
    const from = async (headers: Record<string, string>) =>
      (await place.record(business, { key: business.token, headers })).outcome;
    same('a page of the site', await from({ Origin: 'https://verify.example' }), '200');
    same('a server with the token', await from({}), '403 origin_missing');
    same('a page of another site', await from({ Origin: origin }), '403 origin_not_authorized');
    // It is stored once the response has gone.
    for (const deadline = performance.now() + REFUSED_ORIGIN_SECONDS * 1000; ; ) {
      type Refused = { refused: { origin: string; count: number }[] };
      const { refused } = await place.service.ok<Refused>(`GET /business/${business.id}/access/refused`);
      if (refused.length === 0 && performance.now() < deadline) {
        await place.service.wait(POLL_MS);
        continue;
      }
      const seen = refused.map(({ origin, count }) => ({ origin, count }));
      same(`what is remembered within ${REFUSED_ORIGIN_SECONDS} seconds`, seen, [{ origin, count: 1 }]);
      return;
    }
  },

  async 'a site is added once, and the last one is not removed alone'(place) {
    const { id } = await place.newBusiness();
    const body = { sites: ['https://verify.example', 'https://VERIFY.example:443/cart'] };
    const { access_list } = await place.service.ok<Details>(`POST /business/${id}/access`, { body });
    const sites = access_list.map(({ site }) => site);
    same('the sites', sites, ['https://verify.example']);
    await place.service.refused(`DELETE /business/${id}/access/${access_list[0]?.id}`, '422 last_domain');
    const all = await place.service.ok<Details>(`DELETE /business/${id}/access`);
    same('the sites after all were removed', all.access_list, []);
  },

  async 'a replaced token stops at once'(place) {
    const business = await place.newBusiness();
    const { token } = await place.service.ok<Business>(`POST /business/${business.id}/token`);
    same('the old token', (await place.record(business, { key: business.token })).outcome, '401 unauthenticated');
    same('the new token', (await place.record(business, { key: token })).outcome, '200');
  },

  async 'a replaced token that is kept works on until it is stopped'(place) {
    const business = await place.newBusiness();
    const { id, token: old } = business;
    const { token } = await place.service.ok<Business>(`POST /business/${id}/token`, { body: { keep_old: '1h' } });
    const both = async () => outcomes(await Promise.all([old, token].map((key) => place.record(business, { key }))));
    same('both tokens', await both(), ['200', '200']);
    const { former_tokens } = await place.service.ok<Details>(`GET /business/${id}`);
    const ends = former_tokens.map(({ last_four }) => last_four);
    same('the former tokens', ends, [old.slice(-4)]);
    await place.service.ok(`DELETE /business/${id}/token/former`);
    same('both tokens afterwards', await both(), ['200', '401 unauthenticated']);
  },

  async 'the report is also CSV'(place) {
    const business = await place.newBusiness();
    const today = await dayAt(place);
    const yesterday = addDays(today, -1);
    await place.record(business, { body: { uses: [{ id: 'a', at: `${yesterday}T12:00:00Z` }] } });
    const from = addDays(yesterday, -1);
    const csv = await place.service.send(`GET /business/usage/${business.id}?from=${from}&to=${yesterday}`, CSV);
    same('the file', csv.text, `date,count\r\n${from},0\r\n${yesterday},1\r\n`);
    const file = `attachment; filename="usage-${business.id}-${from}-${yesterday}.csv"`;
    same('its name', csv.headers.get('Content-Disposition'), file);
  },

  async 'the totals are also CSV, with a link to the next page'(place) {
    const [first, second] = [await place.newBusiness(), await place.newBusiness()];
    await place.record(first);
    const query = `GET /usage?limit=1&after=${first.id - 1}`;
    const page = await place.service.send(query, CSV);
    same('the page', page.text, `business_id,user_id,count\r\n${first.id},${first.user_id},1\r\n`);
    const [, link = ''] = /^<(.*)>; rel="next"$/.exec(page.headers.get('Link') ?? '') ?? [];
    if (!link.startsWith(`${place.service.origin}/`))
      throw new Differs(`the link to the next page is ${link || 'missing'}`);
    const next = await place.service.fetch('GET', link, CSV);
    same('the next page', next.outcome, '200');
    // Somebody else's business may come between the two.
    const [, id] = /^business_id,user_id,count\r\n(\d+),\d+,\d+\r\n$/.exec(next.text) ?? [];
    if (id === undefined || Number(id) <= first.id || Number(id) > second.id)
      throw new Differs(`the next page is ${JSON.stringify(next.text)}`);
  },

  async 'a record-only key records, a read-only key reads, and for one business only'(place) {
    const [own, other] = [await place.newBusiness(), await place.newBusiness()];
    const record = (await place.newKey(own, 'record')).api_key;
    const read = (await place.newKey(own, 'read')).api_key;
    same('recording with the first', (await place.record(own, { key: record })).outcome, '200');
    await place.service.refused(`GET /business/${own.id}`, '403 record_only_key', { key: record });
    const { token } = await place.service.ok<Business>(`GET /business/${own.id}`, { key: read });
    same('the token that the second sees', token, `bua_pk_…${own.token.slice(-4)}`);
    same('recording with the second', (await place.record(own, { key: read })).outcome, '403 read_only_key');
    for (const key of [record, read])
      await place.service.refused(`GET /business/usage/${other.id}`, '422 unknown_business', { key });
  },

  async 'a revoked key stops at once'(place) {
    const business = await place.newBusiness();
    const { id, api_key: key } = await place.newKey(business, 'full');
    same('recording with it', (await place.record(business, { key })).outcome, '200');
    await place.service.ok(`DELETE /user/${place.user_id}/keys/${id}`);
    same('recording afterwards', (await place.record(business, { key })).outcome, '401 unauthenticated');
  },

  async 'a console link opens the console of this service, and works once'(place) {
    const business = await place.newBusiness();
    const { url, code } = await place.newLink(business, 5);
    same('where it leads', `${url.origin}${url.pathname}`, `${place.service.origin}/owner`);
    const answers = await Promise.all([place.redeem(code), place.redeem(code)]);
    const seen = outcomes([...answers, await place.redeem(code)]);
    if (seen.filter((outcome) => outcome === '200').length > 1)
      throw new Differs(`it worked more than once (${seen.join(', ')})`);
    same('three uses of its code', seen, ['200', '401 unauthenticated', '401 unauthenticated']);
    const { session_key, read_only } = answers.find(({ outcome }) => outcome === '200')?.data ?? {};
    same('whether the session can only read', read_only, true);
    const session = { key: session_key ?? '' };
    same('reading with it', await place.outcomeWith(session.key, business), '200');
    same('recording with it', (await place.record(business, session)).outcome, '403 read_only_key');
    await place.service.ok('DELETE /session', session);
    same('reading after its end', await place.outcomeWith(session.key, business), '401 unauthenticated');
  },

  async 'a suspended business counts nothing until it is active again'(place) {
    const business = await place.newBusiness();
    const set = (status: string) => place.service.ok(`PATCH /business/${business.id}`, { body: { status } });
    const both = async () => [
      (await place.record(business, { key: business.token })).outcome,
      (await place.record(business)).outcome,
    ];
    await set('suspended');
    same('the token and the operator', await both(), ['401 unauthenticated', '403 inactive_business']);
    await set('active');
    same('the token and the operator afterwards', await both(), ['200', '200']);
    same('the uses in the report', await place.usesOf(business), 2);
  },

  async 'a change is recorded once, with who made it'(place) {
    const business = await place.newBusiness();
    const path = `/business/${business.id}`;
    for (const _ of [1, 2]) await place.service.ok(`PATCH ${path}`, { body: { monthly_limit: 7 } });
    await place.service.ok(`POST ${path}/token`);
    type Changes = { changes: { actor: string; action: string; before: unknown; after: unknown }[] };
    const { changes } = await place.service.ok<Changes>(`GET ${path}/changes`);
    const actions = changes.map(({ action }) => action);
    same('the actions, newest first', actions, ['rotate_token', 'update_business', 'create_business']);
    same('the limit', [changes[1]?.before, changes[1]?.after], [{ monthly_limit: null }, { monthly_limit: 7 }]);
    same('who', new Set(changes.map(({ actor }) => /^operator \(….{4}\)$/.test(actor))), new Set([true]));
  },

  async 'a deleted business is unknown at once, to everybody'(place) {
    const business = await place.newBusiness();
    const { id, token, user_id } = business;
    const { api_key } = await place.newKey(business, 'full');
    await place.service.refused(`DELETE /business/${id}?name=another`, '422 invalid_input');
    const deletion = `DELETE /business/${id}?name=${encodeURIComponent(NAME)}`;
    same('the deletion', await place.service.ok(deletion), { deleted: { id, name: NAME } });
    for (const key of [token, api_key]) {
      same('a credential of it', (await place.record(business, { key })).outcome, '401 unauthenticated');
    }
    same('the operator', (await place.record(business)).outcome, '422 unknown_business');
    await place.service.refused(deletion, '401 unknown_business');
    type Listed = { businesses: Business[] };
    const { businesses } = await place.service.ok<Listed>(`GET /business?user_id=${user_id}&after=${id - 1}&limit=1`);
    same(
      'whether the list has it',
      businesses.some((listed) => listed.id === id),
      false,
    );
  },
};

/** What takes a minute, and concerns each database: it is looked at beside the rest. */
export const BESIDE: Record<string, (place: Place) => Promise<void>> = {
  async 'a session of one minute ends when its time is over'(place) {
    const business = await place.newBusiness();
    const { code } = await place.newLink(business, 1);
    const { outcome, data } = await place.redeem(code);
    const began = performance.now();
    same('its start', outcome, '200');
    const { before, after } = SESSION_LOOKS_MS;
    await place.service.wait(before);
    same(`reading after ${before / 1000} seconds`, await place.outcomeWith(data.session_key, business), '200');
    await place.service.wait(Math.max(0, after - (performance.now() - began)));
    const ended = await place.outcomeWith(data.session_key, business);
    same(`reading after ${after / 1000} seconds`, ended, '401 unauthenticated');
  },
};

const CSV = { headers: { Accept: 'text/csv' } };

/** The day in the service, by its own clock. */
async function dayAt(place: Place): Promise<string> {
  const { used } = await place.service.ok<{ used: Use[] }>(`GET /business/usage/${(await place.newBusiness()).id}`);
  return used.at(-1)?.date ?? '';
}
