// The owner's part of the page: the chart and the domains of any of his businesses, with an API key that only this module's
// memory holds. Whether an origin would pass is said by the very rules by which the service lets it in.
import { canonicalSite, sitesCovering } from '../core/site.ts';
import { element, showDays, typedInto } from './dom.ts';
import type { UsageChart } from './usage-chart.ts';

type Business = { id: number; name: string; status: string; access_list: { id: number; site: string }[] };
type Opened = { key: string; id: string };

let opened: Opened | null = null;
let sites: string[] = [];

/** The business as it is after a call; throws with what the service says. */
async function ask({ key, id }: Opened, method = 'GET', path = '', body?: object): Promise<Business> {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}`, Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const init = { method, headers, credentials: 'omit', ...(body && { body: JSON.stringify(body) }) } as const;
  const answer = await fetch(`/api/v1/business/${encodeURIComponent(id)}/access${path}`, init).catch(() => {
    throw new Error('The service cannot be reached.');
  });
  const said = await answer.json().catch(() => null);
  if (answer.ok && said?.data) return said.data;
  throw new Error(said?.message ?? `The service answered ${answer.status}.`);
}

/** Runs `work` while the owner's buttons are disabled, and says in the element `problem` what was refused. */
async function attempt(problem: string, work: () => Promise<void>): Promise<void> {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('#owner button')];
  const place = element(problem);
  place.textContent = '';
  for (const button of buttons) button.disabled = true;
  try {
    await work();
  } catch (error) {
    place.textContent = (error as Error).message;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

function removal(id: number, site: string): HTMLLIElement {
  const row = document.createElement('li');
  const name = document.createElement('code');
  name.textContent = site;
  const remove = document.createElement('button');
  remove.type = 'button';
  remove.textContent = 'Remove';
  remove.setAttribute('aria-label', `Remove ${site}`);
  remove.addEventListener('click', () => change('DELETE', `/${id}`));
  row.append(name, remove);
  return row;
}

function show(business: Business): void {
  sites = business.access_list.map(({ site }) => site);
  element('business-name').textContent =
    business.status === 'active' ? business.name : `${business.name} (${business.status})`;
  element('sites').replaceChildren(...business.access_list.map(({ id, site }) => removal(id, site)));
  element('sites-none').hidden = sites.length > 0;
  element('lift').hidden = sites.length === 0;
  resetLift();
  check();
}

const change = (method: 'POST' | 'DELETE', path = '', body?: object) =>
  attempt('sites-problem', async () => {
    if (opened === null) return;
    const asked = opened;
    const business = await ask(asked, method, path, body);
    if (asked !== opened) return;
    show(business);
    element<HTMLInputElement>('add-site').value = '';
  });

/** The origin that a browser sends from a page of this address; any other text is returned unchanged. */
function originOf(text: string): string {
  if (text.includes('*') || canonicalSite(text).site === undefined) return text;
  return new URL(text).origin;
}

function check(): void {
  const answer = element('check-answer');
  const text = typedInto('check-origin');
  if (text === '') {
    answer.textContent = '';
    return;
  }
  const origin = originOf(text);
  const covering = sitesCovering(origin);
  const site = sites.find((registered) => covering.includes(registered));
  const passes = sites.length === 0 || site !== undefined;
  answer.dataset.pass = passes ? 'yes' : 'no';
  if (site !== undefined) answer.textContent = `Yes: ${site} allows ${origin}.`;
  else if (passes) answer.textContent = `Yes: no domain is registered, so every origin is allowed.`;
  else answer.textContent = `No: origin ${origin} is not authorized for this business.`;
}

function resetLift(): void {
  const lift = element('lift');
  lift.dataset.asked = '';
  lift.textContent = 'Remove all domains…';
}

/** Asks once more: without domains the token works everywhere. */
function lift(): void {
  const button = element('lift');
  if (button.dataset.asked === 'yes') {
    void change('DELETE');
    return;
  }
  button.dataset.asked = 'yes';
  button.textContent = 'Remove all: the token will work on every site';
}

const days = () => showDays(element('owner-chart'), 'days');

function open(): Promise<void> {
  const asked = { key: typedInto('open-key'), id: typedInto('open-business') };
  return attempt('open-problem', async () => {
    const business = await ask(asked);
    opened = asked;
    element<HTMLInputElement>('open-key').value = '';
    element('open').hidden = true;
    show(business);
    element('business').hidden = false;
    const chart = element<UsageChart>('owner-chart');
    chart.token = asked.key; // the property: an attribute would put the key into the document
    chart.setAttribute('business', asked.id);
    element('business-name').focus();
  });
}

function close(): void {
  opened = null;
  sites = [];
  const chart = element<UsageChart>('owner-chart');
  chart.token = null;
  chart.removeAttribute('business');
  for (const id of ['days-from', 'days-to', 'add-site', 'check-origin']) element<HTMLInputElement>(id).value = '';
  days();
  element('business').hidden = true;
  element('sites-problem').textContent = '';
  element('sites').replaceChildren();
  element('open').hidden = false;
  element('open-key').focus();
}

const onSubmit = (form: string, work: () => void) =>
  element(form).addEventListener('submit', (event) => {
    event.preventDefault();
    work();
  });

export function startOwner(): void {
  element('open').hidden = false;
  onSubmit('open', open);
  onSubmit('add', () => change('POST', '', { sites: [typedInto('add-site')] }));
  onSubmit('days', days);
  element('days').addEventListener('change', days);
  onSubmit('check', check);
  element('check').addEventListener('input', check);
  element('lift').addEventListener('click', lift);
  element('close').addEventListener('click', close);
}
