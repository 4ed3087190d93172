// A step that depends on the one before it must follow a write that itself depends on the permission (src/db/statement.ts).
import { expect, test } from 'vitest';
import type { CallShape } from '../../src/db/call.ts';
import type { Steps } from '../../src/db/statement.ts';
import { revocation } from '../../src/keys/statements.ts';
import { countManyOnce } from '../../src/usage/lists.ts';
import { countOnce, countUse } from '../../src/usage/recording.ts';
import { ruleNamed } from '../ask.ts';
import { writtenBy } from '../definitions.ts';

const shapesOf = (name: string, namesUser: boolean) =>
  (['token', 'key', 'operator'] as const).map(
    (caller): CallShape => ({
      caller,
      rule: ruleNamed(name),
      namesBusiness: !namesUser,
      namesUser,
      origin: 'exempt',
      candidates: 0,
    }),
  );
const SHAPES = shapesOf('record_uses', false);
const digest = '00'.repeat(16);
const listed = { digest, day: '2026-03-15', isDated: false };

/** The steps that depend on `changes()` although no write before them in the batch depends on the permission or on such a step. */
function unguarded(steps: Steps, shape: CallShape): string[] {
  let isGuarded = false;
  return Object.entries(steps).flatMap(([step, { textFor }]) => {
    const { sql } = textFor(shape);
    const follows = sql.includes('changes()');
    const isWrong = follows && !isGuarded;
    if (writtenBy(sql) !== null) isGuarded = sql.includes(') permission') || (follows && !isWrong);
    return isWrong ? [step] : [];
  });
}

test.each<[string, Steps]>([
  ['a use', countUse({ quantity: 1, label: null })],
  ['a use with a label', countUse({ quantity: 1, label: 'app' })],
  ['a use with an id', countOnce({ digest, quantity: 1, label: null })],
  ['a use with an id and a label', countOnce({ digest, quantity: 1, label: 'app' })],
  ['a list', countManyOnce([{ ...listed, quantity: 1, label: null }], false)],
  ['a list with labels that takes ids', countManyOnce([{ ...listed, quantity: 1, label: 'app' }], true)],
])('%s: what follows a step follows a write that the permission guards', (_, steps) => {
  for (const shape of SHAPES) expect(unguarded(steps, shape)).toEqual([]);
});

test('a revocation: what follows a step follows a write that the permission guards', () => {
  for (const shape of shapesOf('revoke_key', true)) expect(unguarded(revocation({ key_id: 1 }), shape)).toEqual([]);
});

test('a step that follows nothing, or a write without the permission, is found', () => {
  const { counted, remembered } = countOnce({ digest, quantity: 1, label: null });
  const unasked = { textFor: () => ({ sql: 'update purge_state set value = 1', names: [] }), values: {} };
  for (const shape of SHAPES) {
    expect(unguarded({ remembered, counted }, shape)).toEqual(['remembered']);
    expect(unguarded({ counted, unasked, remembered }, shape)).toEqual(['remembered']);
    expect(unguarded({ counted, remembered }, shape)).toEqual([]);
  }
});
