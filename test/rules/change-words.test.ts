// How the console describes a change, for each action that the service records.
import { expect, test } from 'vitest';
import { ACTIONS } from '../../src/core/change.ts';
import { ACTION_WORDS } from '../../src/page/owner/changes/actions.ts';
import { describe } from '../../src/page/owner/changes/change-words.ts';
import { dayHeading } from '../../src/page/owner/formats.ts';
import { whoWords } from '../../src/page/owner/who.ts';

type Values = Record<string, unknown> | null;

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

test('the console describes every action that the service records, also in its filter', () => {
  expect(Object.keys(ACTION_WORDS)).toEqual([...ACTIONS]);
  expect(written('rotate_token', null, null)).toEqual({ title: 'Token replaced', lines: [] });
});

test.each<[string, Values, Values, string[]]>([
  ['lists', { sites: ['https://a.example', 'https://b.example'] }, null, ['Domains: https://a.example; https://b.example']],
  ['an instant', null, { former_works_until: '2026-11-23T06:21:00.000000Z' }, ['Old token works until: Nov 23, 2026, 06:21 UTC']],
  ['old tokens', { tokens: [{ last_four: 'abcd', expires_at: '2026-11-23T06:21:00Z' }] }, null, ['Old tokens: …abcd, which would have worked until Nov 23, 2026, 06:21 UTC']],
  ['no limit', { monthly_limit: null, daily_limit: 100 }, { monthly_limit: 12_000, daily_limit: null }, ['Monthly limit: no limit → 12,000', 'Daily limit: 100 → no limit']],
  ['a user and a country', null, { user_id: 1000, country_id: 1000 }, ['Owner: user 1000', 'Country: 1000']],
  ['a key that never expires', null, { expires_on: null, role: 'read' }, ['Expires after: never', 'Role: read only']],
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
}); // biome-ignore format: one row per line

test.each([
  ['key 12 (…irco)', { key_name: 'Owner laptop' }, 'Owner laptop', '…irco'],
  ['key 12 (…irco)', { key_name: null }, null, 'API key …irco'],
  ['console link (…wxyz)', { actor_name: null }, null, 'console link …wxyz'],
  ['console link (…wxyz)', { actor_name: 'Anna' }, 'Anna', '(console link …wxyz)'],
  ['console link (…wxyz)', { actor_name: 'operator …abcd' }, 'operator …abcd', '(console link …wxyz)'],
  ['operator (…abcd)', {}, null, 'operator …abcd'],
  ['robot 7', {}, null, 'robot 7'],
])('the console describes the actor “%s” with %j as “%s” and “%s”', (actor, names, name, credential) => {
  expect(whoWords({ actor, ...names })).toEqual({ name, credential });
});

test('a day heading includes the weekday', () => {
  expect(dayHeading('2026-11-22')).toBe('Sunday, Nov 22, 2026');
});
