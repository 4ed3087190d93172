// Domains as people write them: the service keeps `zürich.example` as `xn--zrich-kva.example` (RFC 3492).

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE = 128;

/** The value of a digit: `a` is 0, `z` is 25, `0` is 26, `9` is 35. */
const digitOf = (letter: string): number => (/\d/.test(letter) ? Number(letter) + 26 : letter.charCodeAt(0) - 97);

/** RFC 3492 §6.1 */
function adapted(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / length);
  let steps = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; steps += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return steps + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

/** RFC 3492 §6.2, of what follows `xn--`. Null if it is not valid. */
function decoded(label: string): string | null {
  const end = Math.max(0, label.lastIndexOf('-'));
  const letters = Array.from(label.slice(0, end));
  const digits = label.slice(end > 0 ? end + 1 : 0);
  if (!/^[a-z\d]+$/.test(digits)) return null;
  let [code, place, bias, at] = [FIRST_CODE, 0, FIRST_BIAS, 0];
  while (at < digits.length) {
    const before = place;
    for (let weight = 1, k = BASE; ; k += BASE) {
      if (at >= digits.length) return null;
      const digit = digitOf(digits.charAt(at++));
      place += digit * weight;
      const threshold = Math.max(T_MIN, Math.min(T_MAX, k - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = letters.length + 1;
    bias = adapted(place - before, length, before === 0);
    code += Math.floor(place / length);
    place %= length;
    if (code > 0x10ffff) return null;
    letters.splice(place++, 0, String.fromCodePoint(code));
  }
  return letters.join('');
}

/** The domain with each of its labels in Unicode. A label that cannot be read stays as it is. */
export const unicodeDomain = (domain: string): string =>
  domain
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decoded(label.slice(4)) ?? label) : label))
    .join('.');
