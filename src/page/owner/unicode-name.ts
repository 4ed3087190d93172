// Decodes punycode hosts to Unicode. The console shows the result beside the punycode, and only if it round-trips through the browser's own
// encoder and cannot be confused with another name.
import { decodeLabel } from './punycode.ts';

/** The Latin letters of living languages, without lookalikes such as ɑ, ı and ǃ. */
const LATIN = /^[a-z0-9\u00df-\u0130\u0132-\u0137\u0139-\u017e\u01a1\u01b0\u0219\u021b\u1e00-\u1eff-]+$/;
/** A word that consists only of these Cyrillic or Greek letters looks Latin. */
const LIKE_LATIN = [/^[асԁеһіјӏорԛѕԝхуъьҽпгѵѡ0-9-]+$/, /^[αγικνορτυχω0-9-]+$/];
/** Scripts allowed in one label: single scripts, then combinations that one language uses. */
const SCRIPTS = [
  ...['Arab', 'Armn', 'Beng', 'Cyrl', 'Deva', 'Ethi', 'Geor', 'Grek', 'Gujr', 'Guru', 'Hebr', 'Khmr', 'Knda', 'Laoo'],
  ...['Mlym', 'Mymr', 'Orya', 'Sinh', 'Taml', 'Telu', 'Thaa', 'Thai', 'Tibt'],
  ...['Hani Hira Kana', 'Hani Hang', 'Hani Bopo'],
].map((names) => {
  const scripts = names.split(' ').map((name) => `\\p{Script_Extensions=${name}}`);
  return new RegExp(`^[${scripts.join('')}0-9-]+$`, 'u');
});

/** Returns whether a label uses one script or an allowed combination, and contains no invisible characters or lookalikes. */
function isPlain(label: string): boolean {
  if (LATIN.test(label)) return true;
  if (!/^[\p{L}\p{M}0-9-]+$/u.test(label) || /\p{Default_Ignorable_Code_Point}/u.test(label)) return false;
  return SCRIPTS.some((script) => script.test(label)) && !LIKE_LATIN.some((letters) => letters.test(label));
}

/** Returns the Unicode host of a site or origin, or null if it equals the stored host or could mislead. */
export function unicodeName(site: string): string | null {
  const [, wildcard = '', host = ''] = /^https?:\/\/(\*\.)?([^:/]+)/.exec(site) ?? [];
  const labels: string[] = [];
  for (const label of host.split('.')) {
    const written = decodeLabel(label);
    if (label.startsWith('xn--') && (written === null || !isPlain(written))) return null;
    labels.push(written ?? label);
  }
  const name = labels.join('.');
  return name !== host && URL.parse(`https://${name}`)?.hostname === host ? `${wildcard}${name}` : null;
}
