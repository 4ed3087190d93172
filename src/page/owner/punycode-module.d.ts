// punycode has no types of its own, and those of others are of the module that Node has under this name.
declare module 'punycode/punycode.es6.js' {
  /** Throws a RangeError for what is not punycode. */
  export function decode(text: string): string;
}
