// Statements that only some callers may run throw for all others, even if a definition admits them by mistake.
import { expect, test } from 'vitest';
import type { CallShape } from '../../src/db/call.ts';
import { verdictOf } from '../../src/db/permission.ts';
import { operatorStatement, userStatement } from '../../src/db/statement.ts';
import { builder } from '../../src/db/text.ts';
import { ruleNamed } from '../ask.ts';

const rule = ruleNamed('list_keys');
const operator: Partial<CallShape> = { caller: 'operator' };
const ofUser: Partial<CallShape> = { caller: 'key', namesUser: true };
test.each([
  ['an operator’s', operatorStatement, [operator], [ofUser, { caller: 'token' }, { caller: 'code' }]],
  [
    'a user’s',
    userStatement,
    [operator, ofUser],
    [{ caller: 'key' }, { ...ofUser, caller: 'token', rule: { ...rule, token: true } }, { ...ofUser, caller: 'code' }],
  ],
] as const)('%s statement throws for callers that a definition admits by mistake', (_, define, runs, throws) => {
  const textFor = (part: Partial<CallShape>) =>
    define([], (permission) => builder.select(verdictOf(permission)).from(permission))({}).textFor({
      ...{ caller: 'key', rule, namesBusiness: false, namesUser: false, origin: 'exempt', candidates: 0 },
      ...part,
    });
  for (const part of runs) expect(textFor(part)).toBeDefined();
  for (const part of throws) expect(() => textFor(part)).toThrow('statement');
});
