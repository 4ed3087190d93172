// Where a database is created: `config.databases` of package.json, such as {"DB_1": {"jurisdiction": "eu"}}. wrangler's configuration
// has no field for it, and an option of a command would be forgotten. It cannot be changed once the database exists.

/** As `wrangler d1 create --help` has them. */
export const PLACES: Record<string, readonly string[]> = {
  location: ['weur', 'eeur', 'apac', 'oc', 'wnam', 'enam'],
  jurisdiction: ['eu', 'fedramp', 'us'],
};

export type Place = { kind: string; value: string };

/** The places by binding. Throws an error of one line if one is wrong, or is for a binding that is not one of `bindings`. */
export function placesIn(setting: unknown, bindings: string[]): Map<string, Place> {
  const entries = Object.entries(setting ?? {}).map(([binding, place]) => {
    const name = `package.json: config.databases.${binding}`;
    if (!bindings.includes(binding)) throw new Error(`${name} is for a database that the configuration does not bind.`);
    const [[kind, value] = ['', ''], ...more] = Object.entries<string>(place ?? {});
    const values = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined;
    if (values === undefined || more.length > 0)
      throw new Error(`${name} must have one key, location or jurisdiction.`);
    if (!values.includes(value)) throw new Error(`${name}.${kind} must be one of ${values.join(', ')}.`);
    return [binding, { kind, value }] as const;
  });
  return new Map(entries);
}
