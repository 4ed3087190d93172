// docs/api.md, "Errors": a request that fails is carried out, or not at all, and its answer says whether sending it again is safe.
import { expect, test } from 'vitest';
import { CASES, failAtEach } from './fail-at.ts';
import type { FaultKind } from './faults.ts';

const KINDS: FaultKind[] = ['lost_before', 'lost_after', 'silent_before', 'silent_after', 'late', 'killed'];

test.each(CASES)('whichever call of a database fails, and however: $name', async (operation) => {
  const wrong: string[] = [];
  for (const kind of KINDS) wrong.push(...(await failAtEach(operation, kind)));
  expect(wrong).toEqual([]);
});
