// What the console says about the roles of API keys. Every table is total, so a new role does not compile without its words.
import type { OwnRole, Role } from '../../core/policy.ts';
import { sentenceCase } from './formats.ts';

type Words = {
  /** In the table of keys and in changes. */
  access: string;
  /** Completes "This key can only", for a role that cannot sign in. Null for one that can. */
  only: string | null;
};
const ROLES: Record<Role, Words> = {
  full: { access: 'full access', only: null },
  read: { access: 'read only', only: null },
  record: { access: 'record uses and read usage only', only: 'record uses' },
};
/** Returns the words for a role. Null for a role that only a newer service knows. */
export const wordsOf = (role: string): Words | null => (Object.hasOwn(ROLES, role) ? ROLES[role as Role] : null);

/** Describes a key's role in a table. */
export const roleWords = (role: string): string => sentenceCase((wordsOf(role)?.access ?? role).replaceAll('_', ' '));

/** Explains why a key cannot sign in. Null if its role is not the reason. */
export function refusedRoleWords(code: string): string | null {
  const only = wordsOf(code.replace(/_only_key$/, ''))?.only;
  return only ? `This key can only ${only}, so it does not work here. Ask the service operator for another one.` : null;
}

/** The kinds of keys that owners create, and what such a key can do in `where`. */
export const OWN_KINDS: Record<OwnRole, { kind: string; ability: (where: string) => string }> = {
  read: {
    kind: 'read-only',
    ability: (where) =>
      `Anyone with this key can read the usage, limits, domains and changes of ${where}, at ${location.origin}/owner or from a program, but cannot change anything.`,
  },
  record: {
    kind: 'record-only',
    ability: (where) => `Programs with this key can record uses of ${where} and read the usage, and nothing else.`,
  },
};
