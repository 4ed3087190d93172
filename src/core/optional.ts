/** Members that may be left out, as input says it: undefined is the same. */
export type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };
