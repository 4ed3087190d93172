// How a host in punycode is written in its own script. Browsers have no decoder. What is decoded here is shown only if the browser's
// own encoder makes the same punycode of it, and only if it cannot be taken for another name. The punycode is always shown, too.

const ENCODED = 'xn--';
/** The parameters of RFC 3492 §5. */
const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const BASE = DIGITS.length;
const LEAST = 1;
const MOST = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_POINT = 0x80;
const LAST_POINT = 0x10ffff;

/** RFC 3492 §6.1. */
function biasAfter(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / length);
  let bias = 0;
  for (; rest > ((BASE - LEAST) * MOST) / 2; bias += BASE) rest = Math.floor(rest / (BASE - LEAST));
  return bias + Math.floor(((BASE - LEAST + 1) * rest) / (rest + SKEW));
}

/** RFC 3492 §6.2. Null: not punycode. */
function decoded(text: string): string | null {
  const end = text.lastIndexOf('-');
  const points = Array.from(text.slice(0, Math.max(end, 0)), (character) => character.charCodeAt(0));
  let point = FIRST_POINT;
  let bias = FIRST_BIAS;
  let place = 0;
  for (let at = end + 1; at < text.length; ) {
    const before = place;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = at < text.length ? DIGITS.indexOf(text.charAt(at)) : -1;
      if (digit < 0) return null;
      at += 1;
      place += digit * weight;
      const threshold = Math.min(Math.max(k - bias, LEAST), MOST);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = points.length + 1;
    bias = biasAfter(place - before, length, before === 0);
    point += Math.floor(place / length);
    if (point > LAST_POINT) return null;
    place %= length;
    points.splice(place, 0, point);
    place += 1;
  }
  return String.fromCodePoint(...points);
}

/** The Latin letters of today's languages. Others look like these: ɑ, ı, ǃ. */
const LATIN = /^[a-z0-9\u00df-\u0130\u0132-\u0137\u0139-\u017e\u01a1\u01b0\u0219\u021b\u1e00-\u1eff-]+$/;
/** Words of these letters alone look like Latin ones. */
const LIKE_LATIN = [/^[асԁеһіјӏорԛѕԝхуъьҽпгѵѡ0-9-]+$/, /^[αγικνορτυχω0-9-]+$/];
/** Scripts that are written alone, and those that are written together. */
const SCRIPTS = [
  ...['Arab', 'Armn', 'Beng', 'Cyrl', 'Deva', 'Ethi', 'Geor', 'Grek', 'Gujr', 'Guru', 'Hebr', 'Khmr', 'Knda', 'Laoo'],
  ...['Mlym', 'Mymr', 'Orya', 'Sinh', 'Taml', 'Telu', 'Thaa', 'Thai', 'Tibt'],
  ...['Hani Hira Kana', 'Hani Hang', 'Hani Bopo'],
].map((names) => {
  const scripts = names.split(' ').map((name) => `\\p{Script_Extensions=${name}}`);
  return new RegExp(`^[${scripts.join('')}0-9-]+$`, 'u');
});

/** Whether a label is of one script, and has nothing in it that is invisible or looks like punctuation. */
function isPlain(label: string): boolean {
  if (LATIN.test(label)) return true;
  if (!/^[\p{L}\p{M}0-9-]+$/u.test(label) || /\p{Default_Ignorable_Code_Point}/u.test(label)) return false;
  return SCRIPTS.some((script) => script.test(label)) && !LIKE_LATIN.some((letters) => letters.test(label));
}

/** The host of a site or an origin as people write it. Null: it is written as it is, or its name could mislead. */
export function writtenName(site: string): string | null {
  const [, wildcard = '', host = ''] = /^https?:\/\/(\*\.)?([^:/]+)/.exec(site) ?? [];
  if (!host.split('.').some((label) => label.startsWith(ENCODED))) return null;
  const labels: string[] = [];
  for (const label of host.split('.')) {
    if (label.startsWith(ENCODED)) {
      const written = decoded(label.slice(ENCODED.length));
      if (written === null || !isPlain(written)) return null;
      labels.push(written);
    } else labels.push(label);
  }
  const name = labels.join('.');
  return URL.parse(`https://${name}`)?.hostname === host ? `${wildcard}${name}` : null;
}
