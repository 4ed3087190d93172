// The bounds of sources (docs/api.md, "Sources"). Labels and sites have their own, so that labels can never take the place of a site.

export const MAX_LABEL_LENGTH = 64;
/** A label is never an origin, so it cannot pass for a site. */
export const LABEL = /^(?!.*:\/\/)[!-~](?:[ -~]{0,62}[!-~])?$/;
/** The maximum number of labels of a business. Uses with a further label have no source. */
export const MAX_LABELS = 200;
/** The maximum number of sites of a business that are registered, or were and have counted uses. */
export const MAX_NAMED_SITES = 1000;
/** The maximum numbers of labels and sites in the counts of a day. Its uses of further ones have no source. */
export const MAX_LABELS_PER_DAY = 80;
export const MAX_SITES_PER_DAY = 40;
