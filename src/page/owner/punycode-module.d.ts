// punycode ships no types, and other declarations describe Node's module with the same name.
declare module 'punycode/punycode.es6.js' {
  /** Throws a RangeError if the text is not punycode. */
  export function decode(text: string): string;
}
