// punycode ships no types, and @types/punycode declares Node's module of that name.
declare module 'punycode/punycode.es6.js' {
  /** Throws a RangeError if the text is not punycode. */
  export function decode(text: string): string;
}
