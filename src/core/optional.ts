/** `Partial` that also allows an explicit undefined, as zod's `optional` produces. */
export type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };
