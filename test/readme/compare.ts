// Holds an answer against the one that is printed: same keys in the same order, same types, same values but for those that
// differ from run to run, which only have to look right.

const ID = /^[1-9]\d*$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const DAY = /\b\d{4}-\d\d-\d\d\b/g;

/** By key: what a value that varies looks like. */
const VARIES: Record<string, RegExp> = {
  id: ID,
  business_id: ID,
  token: /^bua_pk_[0-9A-Za-z]{33}$/,
  api_key: /^bua_sk_[0-9A-Za-z]{33}$/,
  last_four: /^[0-9A-Za-z]{4}$/,
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
  date: /^\d{4}-\d\d-\d\d$/,
  count: /^(0|[1-9]\d*)$/,
};
/** Lists that are printed shortened. */
const SHORTENED = 'used';

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
const show = (value: unknown) => JSON.stringify(value);

/** Where `actual` differs from `printed`. "…" stands for any text. */
export function differences(printed: unknown, actual: unknown, path = 'answer'): string[] {
  const type = typeOf(printed);
  if (typeOf(actual) !== type) return [`${path} is ${show(actual)}, printed is ${show(printed)}`];
  if (type === 'array') return listDifferences(printed as unknown[], actual as unknown[], path);
  if (type === 'object') return objectDifferences(printed as object, actual as object, path);
  const key = path.split('.').at(-1) ?? '';
  const shape = VARIES[key];
  const alike = shape ? shape.test(String(actual)) : printed === '…' || settled(printed) === settled(actual);
  return alike ? [] : [`${path} is ${show(actual)}, printed is ${show(printed)}`];
}

const settled = (value: unknown) => (typeof value === 'string' ? value.replace(DAY, '<day>') : value);

function listDifferences(printed: unknown[], actual: unknown[], path: string): string[] {
  if (path.endsWith(`.${SHORTENED}`))
    return actual.flatMap((entry, i) => differences(printed[0], entry, `${path}.${i}`));
  if (printed.length !== actual.length) return [`${path} has ${actual.length} entries, printed are ${printed.length}`];
  return actual.flatMap((entry, i) => differences(printed[i], entry, `${path}.${i}`));
}

function objectDifferences(printed: object, actual: object, path: string): string[] {
  const [wanted, found] = [Object.keys(printed), Object.keys(actual)];
  if (show(wanted) !== show(found)) return [`${path} has the keys ${found}, printed are ${wanted}`];
  const values = actual as Record<string, unknown>;
  return Object.entries(printed).flatMap(([key, value]) => differences(value, values[key], `${path}.${key}`));
}
