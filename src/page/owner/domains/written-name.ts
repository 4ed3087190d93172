// How a host in punycode is written in its own script. It is shown only if the browser's own encoder makes the same punycode of it, and
// only if it cannot be taken for another name. The punycode is always shown, too.

import { decodedLabel } from '../punycode.ts';

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
  const labels: string[] = [];
  for (const label of host.split('.')) {
    const written = decodedLabel(label);
    if (label.startsWith('xn--') && (written === null || !isPlain(written))) return null;
    labels.push(written ?? label);
  }
  const name = labels.join('.');
  return name !== host && URL.parse(`https://${name}`)?.hostname === host ? `${wildcard}${name}` : null;
}
