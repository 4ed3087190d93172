// The sections of a user's export, and its page cursors.

/** The sections of an export, in order, with the type of the key that sorts a business's rows. Null if the rows have no such key. */
export const SORTED_BY = {
  businesses: null,
  sites: 'text',
  counts: 'text',
  billing_changes: 'text',
  imported_days: 'text',
  refused_origins: 'text',
  alerts: 'text',
  changes_of_businesses: 'number',
  changes_before: 'number',
  changes_after: 'number',
  changes_of_user: null,
  keys: null,
  codes: null,
} as const satisfies Record<string, 'text' | 'number' | null>;
export type Section = keyof typeof SORTED_BY;
export const SECTION_NAMES = Object.keys(SORTED_BY) as Section[];

/** The row after which a section continues: its id, or the id of its business and its sort key. */
export type RowPosition = { id: number; key: string | number };
/** The start of a page. `after` is null at the section's first row. */
export type PagePosition = { section: Section; after: RowPosition | null };

export const formatExportCursor = ({ section, after }: PagePosition): string =>
  after === null ? section : `${section}.${after.id}.${after.key}`;

/** Parses a cursor. Null if it is malformed. */
export function parseExportCursor(cursor: string): PagePosition | null {
  const [name, id, ...rest] = cursor.split('.');
  const section = SECTION_NAMES.find((section) => section === name);
  if (section === undefined) return null;
  if (id === undefined) return { section, after: null };
  const key = rest.join('.');
  const isText = SORTED_BY[section] === 'text';
  const areNumbers = [id, isText ? '0' : key].every((text) => /^\d{1,16}$/.test(text));
  return areNumbers ? { section, after: { id: Number(id), key: isText ? key : Number(key) } } : null;
}
