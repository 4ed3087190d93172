// How the console describes a change, for each action that the service records.
import { expect, test } from 'vitest';
import { type Action, ACTIONS as RECORDED } from '../../src/core/change.ts';
import { ACTIONS } from '../../src/page/owner/changes/actions.ts';
import { describe, whoWords } from '../../src/page/owner/changes/change-words.ts';
import { dayHeading } from '../../src/page/owner/formats.ts';

type Values = Record<string, unknown> | null;
/** The values of a change as the service returns them, and its title and lines in the console. */
type Case = { before: Values; after: Values; title: string; lines: string[] };

const written = (action: string, before: Values, after: Values) => {
  const { title, lines } = describe({ action, before, after });
  const side = (values: string[] | null) => values?.join('; ');
  return {
    title,
    lines: lines.map(
      ({ name, before, after }) =>
        `${name}: ${[side(before), side(after)].filter((one) => one !== undefined).join(' → ')}`,
    ),
  };
};

const site = 'https://a.example';
const CASES: Record<Action, Case> = {
  add_sites: {
    before: null,
    after: { sites: [site, 'https://b.example'] },
    title: 'Domains added',
    lines: ['Domains: https://a.example; https://b.example'],
  },
  remove_sites: { before: { sites: [site] }, after: null, title: 'Domains removed', lines: [`Domains: ${site}`] },
  rotate_token: {
    before: { token: '…abcd' },
    after: { token: '…wxyz', former_works_until: '2026-11-23T06:21:00.000000Z' },
    title: 'Token replaced',
    lines: ['Token: …abcd → …wxyz', 'Old token works until: Nov 23, 2026, 06:21 UTC'],
  },
  stop_former_tokens: {
    before: { tokens: [{ last_four: 'abcd', expires_at: '2026-11-23T06:21:00.000000Z' }] },
    after: null,
    title: 'Old tokens stopped',
    lines: ['Old tokens: …abcd, which would have worked until Nov 23, 2026, 06:21 UTC'],
  },
  create_business: {
    before: null,
    after: { user_id: 1000, name: 'Shop', country_id: 1, sites: [site], token: '…abcd', status: 'active' },
    title: 'Business created',
    lines: ['Owner: user 1000', 'Name: Shop', 'Country: 1', `Domains: ${site}`, 'Token: …abcd', 'Status: active'],
  },
  update_business: {
    before: { monthly_limit: null, daily_limit: 100, status: 'active' },
    after: { monthly_limit: 12_000, daily_limit: null, status: 'suspended' },
    title: 'Business changed',
    lines: ['Monthly limit: no limit → 12,000', 'Daily limit: 100 → no limit', 'Status: active → suspended'],
  },
  delete_business: {
    before: { user_id: 7, name: 'Shop', main_domain: 'shop.example' },
    after: null,
    title: 'Business deleted',
    lines: ['Owner: user 7', 'Name: Shop', 'Main domain: shop.example'],
  },
  create_key: {
    before: null,
    after: { key: '…abcd', name: 'Server', expires_on: null, business_id: 5, read_only: true, role: 'read' },
    title: 'API key created',
    lines: ['Key: …abcd', 'Name: Server', 'Expires after: never', 'Role: read only'],
  },
  revoke_key: {
    before: { id: 12, key: '…abcd', name: 'Server' },
    after: null,
    title: 'API key revoked',
    lines: ['Key: …abcd', 'Name: Server'],
  },
  import_usage: {
    before: null,
    after: { days: 400, uses: 1_234_567 },
    title: 'Usage imported',
    lines: ['Days: 400', 'Uses: 1,234,567'],
  },
  lower_uses: { before: { uses: 500 }, after: { uses: 120 }, title: 'Uses lowered', lines: ['Uses: 500 → 120'] },
};

test('the console describes every recorded action, in the list and in the filter', () => {
  expect(Object.keys(ACTIONS)).toEqual([...RECORDED]);
  expect(Object.keys(CASES)).toEqual([...RECORDED]);
});

test.each(Object.entries(CASES))('the console describes the action %s', (action, { before, after, title, lines }) => {
  expect(written(action, before, after)).toEqual({ title, lines });
});

test.each<[string, Values, Values, string[]]>([
  ['a boolean', { page_overage: true }, { page_overage: false }, ['Overage for pages: yes → no']],
  ['a text that looks like a day', { name: '2026-11-23' }, null, ['Name: 2026-11-23']],
  ['a limit of 0', { daily_limit: 5 }, { daily_limit: 0 }, ['Daily limit: 5 → 0']],
  ['an empty string', { name: '' }, { name: 'Shop' }, ['Name: empty → Shop']],
  ['a null without a special meaning', null, { name: null }, ['Name: none']],
  ['an empty list', { sites: [] }, null, ['Domains: ']],
  ['no values', null, null, []],
  ['row IDs, which it omits', { id: 8, business_id: 9 }, null, []],
])('the console describes a change with %s', (_, before, after, lines) => {
  expect(written('update_business', before, after).lines).toEqual(lines);
});

test.each([
  ['key 12 (…irco)', { key_name: 'Owner laptop' }, 'Owner laptop', '…irco'],
  ['key 12 (…irco)', { key_name: null }, null, 'API key …irco'],
  ['key 12 (…irco)', { key_name: '' }, null, 'API key …irco'],
  ['console link (…wxyz)', { actor_name: null }, null, 'console link …wxyz'],
  ['console link (…wxyz)', { actor_name: 'Anna' }, 'Anna', '(console link …wxyz)'],
  ['console link (…wxyz)', { actor_name: 'operator …abcd' }, 'operator …abcd', '(console link …wxyz)'],
  ['operator (…abcd)', {}, null, 'operator …abcd'],
  ['operator', {}, null, 'the operator'],
  ['robot 7', {}, null, 'robot 7'],
  ['', {}, null, ''],
])('the console describes the actor “%s” with %j as “%s” and “%s”', (actor, names, name, credential) => {
  expect(whoWords({ actor, ...names })).toEqual({ name, credential });
});

test('a day heading includes the weekday', () => {
  expect(dayHeading('2026-11-22')).toBe('Sunday, Nov 22, 2026');
});
