// The tables and rules of origins, days, sites and limits: each row is asked of the running service.
import { KEEP_DAYS } from '../../src/core/use.ts';
import { type Answer, type Ask, access, type Check, DAY_MS, dayOf, unless, usage, type Variables } from './check.ts';
import { codesIn, tableOf } from './document.ts';

/** In this order: the sites are registered, and the limits reached, for the business whose origins are looked at first. */
export async function checkTables(markdown: string, check: Check, ask: Ask, variables: Variables) {
  const { API_KEY, SHOP } = variables;
  const register = (sites: string[]) => ask('POST', access(SHOP), { as: API_KEY, body: { sites } });
  await origins(markdown, check, ask, variables);
  await wildcards(markdown, check, ask, variables);
  await days(check, ask, variables);
  await sites(markdown, check, register);
  await limits(markdown, check, ask, register, variables);
}

async function origins(markdown: string, check: Check, ask: Ask, variables: Variables) {
  const { API, API_KEY, BUSINESS, TOKEN, SHOP, SHOP_TOKEN } = variables;
  const columns = [
    { id: BUSINESS, as: TOKEN, who: 'no site, token' },
    { id: BUSINESS, as: API_KEY, who: 'no site, API key' },
    { id: SHOP, as: SHOP_TOKEN, who: 'registered, token' },
    { id: SHOP, as: API_KEY, who: 'registered, API key' },
  ];
  for (const [from, header = '', ...statuses] of tableOf(markdown, 'the call comes from')) {
    const origin = header === 'none' ? {} : { origin: codesIn(header)[0] ?? new URL(API).origin };
    for (const [i, { id, as, who }] of columns.entries()) {
      for (const method of ['GET', 'POST']) {
        const { status } = await ask(method, usage(id), { as, ...origin });
        const right = `${status}` === statuses[i];
        check(`origins: ${from}: ${who}: ${method} → ${statuses[i]}`, unless(right, `the status is ${status}`));
      }
    }
  }
}

async function wildcards(markdown: string, check: Check, ask: Ask, { API_KEY, SHOP, SHOP_TOKEN }: Variables) {
  for (const [registered = '', ...verdicts] of tableOf(markdown, 'registered', 'passes', 'is refused')) {
    await ask('DELETE', access(SHOP), { as: API_KEY });
    await ask('POST', access(SHOP), { as: API_KEY, body: { sites: codesIn(registered) } });
    for (const [i, wanted] of [200, 403].entries()) {
      for (const origin of codesIn(verdicts[i] ?? '')) {
        const { status } = await ask('GET', usage(SHOP), { as: SHOP_TOKEN, origin });
        check(`sites: ${origin} by ${registered} → ${wanted}`, unless(status === wanted, `the status is ${status}`));
      }
    }
  }
}

async function days(check: Check, ask: Ask, { BUSINESS, TOKEN }: Variables) {
  const used = async (query: string) => (await ask('GET', usage(BUSINESS, query), { as: TOKEN })).body.data?.used ?? [];
  const month = await used('?to=2026-03-15');
  check('days: `to` alone covers 30 days', unless(month.length === 30 && month[0].date === '2026-02-14', month));
  const yesterday = dayOf(Date.now() - DAY_MS);
  const since = await used(`?from=${yesterday}`);
  check('days: `from` alone ends today', unless(since.length >= 2 && since[0].date === yesterday, since));
  const ahead = await used('?from=9999-12-31&to=9999-12-31');
  check('days: a day to come has the count 0', unless(ahead[0]?.count === 0, ahead));
  for (const query of ['?from=2026-02-30', '?from=2026-03-01&from=2026-03-02', '?from=1969-12-31&to=1970-01-01']) {
    const { status } = await ask('GET', usage(BUSINESS, query), { as: TOKEN });
    check(`days: ${query} → 422`, unless(status === 422, `the status is ${status}`));
  }
  const head = await ask('HEAD', usage(BUSINESS), { as: TOKEN });
  check('HEAD answers as GET, without a body', unless(head.status === 200 && head.body === null, head));
}

async function sites(markdown: string, check: Check, register: (sites: string[]) => Promise<Answer>) {
  for (const [given = '', stored = ''] of tableOf(markdown, 'site as given')) {
    const [site = ''] = codesIn(given);
    const { status, body } = await register([site]);
    const list: string[] = body.data?.access_list?.map((entry: { site: string }) => entry.site) ?? [];
    const right = stored.startsWith('refused') ? status === 422 : list.includes(codesIn(stored)[0] ?? '');
    check(`sites: ${site} → ${stored}`, unless(right, body));
  }
}

type Register = (sites: string[]) => Promise<Answer>;

async function limits(markdown: string, check: Check, ask: Ask, register: Register, variables: Variables) {
  const { API_KEY, BUSINESS, TOKEN, SHOP } = variables;
  const table = new Map(
    tableOf(markdown, 'limit').map(([name = '', value = '']) => [name, Number.parseInt(value, 10)]),
  );
  /** That many are accepted, one more is not. */
  async function limit(name: string, reach: (n: number) => Promise<Answer>, refusal = 422) {
    const max = table.get(name) ?? Number.NaN;
    for (const [n, wanted] of [
      [max, 200],
      [max + 1, refusal],
    ] as const) {
      const { status, body } = await reach(n);
      check(`limits: ${n} ${name} → ${wanted}`, unless(status === wanted, body));
    }
  }
  const many = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `https://s${from + i}.example`);
  const json = '{"sites":["https://shop.example"]}';

  await limit('days in a report', (n) => {
    const to = dayOf(Date.parse('2026-01-01') + (n - 1) * DAY_MS);
    return ask('GET', usage(BUSINESS, `?from=2026-01-01&to=${to}`), { as: TOKEN });
  });
  await limit('characters of a site as given', (n) => register(['https://shop.example'.padEnd(n, '/')]));
  await limit('bytes of a body', (n) => ask('POST', access(SHOP), { as: API_KEY, body: json.padEnd(n) }), 413);
  await limit('sites in a call', (n) => register(many(n)));
  const none = await register([]);
  check('limits: no site in a call → 422', unless(none.status === 422, none.body));
  const report = (uses: object[]) => ask('POST', usage(BUSINESS), { as: API_KEY, body: { uses } });
  const at = (minutes: number) =>
    report([{ id: `at ${minutes}`.replace(' ', '-'), at: new Date(Date.now() + minutes * 60_000).toISOString() }]);
  const unused = await report([]);
  check('limits: no use in a call → 422', unless(unused.status === 422, unused.body));
  await limit('uses in a call', (n) => report(Array.from({ length: n }, (_, i) => ({ id: `${i}` }))));
  await limit('characters of the id of a use', (n) => ask('POST', usage(BUSINESS), { as: TOKEN, key: 'x'.repeat(n) }));
  await limit('days that a use can lie back', (n) => at(1 - n * 24 * 60));
  await limit('minutes that a use can lie ahead', (n) => at(n - 0.5));
  const memory = table.get('days for which an id counts once');
  check(
    'limits: days for which an id counts once',
    unless(memory === KEEP_DAYS.key, `src/core/use.ts has ${KEEP_DAYS.key}`),
  );
  await limit('sites of a business', async (n) => {
    for (;;) {
      const { body } = await ask('GET', access(SHOP), { as: API_KEY });
      const missing = n - body.data.access_list.length;
      const answer = await register(many(Math.min(missing, 100), 1_000 + missing));
      if (missing <= 100 || answer.status !== 200) return answer;
    }
  });
}
