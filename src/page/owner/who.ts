// Says who changed something, or created a key.

type Who = { actor: string; key_name?: string | null; actor_name?: string | null };
/**
 * Describes the author of a change: the name of the key or person, if there is one, and the credential in terms that the owner knows. A
 * name can be any text, even `operator`, so it always appears beside the credential.
 */
export function whoWords({ actor, key_name, actor_name }: Who): { name: string | null; credential: string } {
  const [, kind = '', tail = ''] = /^(key \d+|console link|operator) \(…(.+)\)$/.exec(actor) ?? [];
  if (kind.startsWith('key') && key_name) return { name: key_name, credential: `…${tail}` };
  const credential = kind === '' ? actor : `${kind.startsWith('key') ? 'API key' : kind} …${tail}`;
  return actor_name ? { name: actor_name, credential: `(${credential})` } : { name: null, credential };
}
