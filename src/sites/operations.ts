// The sites on which a business token works, and the origins that were refused or let in.
import * as z from 'zod/mini';
import { CHANGERS, READERS, reading } from '../core/policy.ts';
import { canonicalSite, MAX_SITE_LENGTH, MAX_SITES_PER_CALL } from '../core/site.ts';
import { ADDITION_OF_SITES } from '../core/work.ts';
import { boundedList, CONTROL, described, HTTP, strict } from '../input.ts';
import { define } from '../operation.ts';
import { sitesErrors } from './rules.ts';

export const SITES_RULE = `must be a list of 1 to ${MAX_SITES_PER_CALL} URLs, such as ["https://example.com"]`;
export const site = described(
  z.string('must be a string, such as https://example.com').check((payload) => {
    const { problem } = canonicalSite(payload.value);
    if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
  }),
  {
    minLength: 1,
    maxLength: MAX_SITE_LENGTH,
    pattern: `^ *(?:${HTTP}|capacitor|ionic|tauri|app|chrome-extension)://[^\\s/?#@\\\\%]+ *(?:[/?#][^${CONTROL}]*)?$`,
  },
);

const sitesBody = strict(
  { sites: boundedList(site, MAX_SITES_PER_CALL, SITES_RULE) },
  'must be a JSON object, such as {"sites":["https://example.com"]}',
);

const CHANGE = {
  ...CHANGERS,
  whileInactive: true,
  retry: 'always',
  name: 'change_access',
  does: 'change sites',
} as const;

export const operations = define({
  readAccess: {
    ...reading(READERS),
    route: 'GET /business/:business_id/access',
    name: 'read_access',
    does: 'read sites',
  },
  addAccess: {
    ...CHANGE,
    route: 'POST /business/:business_id/access',
    work: ADDITION_OF_SITES,
    body: sitesBody,
    check: sitesErrors,
  },
  removeAllAccess: { ...CHANGE, route: 'DELETE /business/:business_id/access' },
  readRefusedOrigins: {
    ...reading(READERS),
    route: 'GET /business/:business_id/access/refused',
    name: 'read_refused_origins',
    does: 'read refused origins',
  },
  forgetRefusedOrigins: {
    ...CHANGERS,
    whileInactive: true,
    retry: 'always',
    route: 'DELETE /business/:business_id/access/refused',
    name: 'change_refused_origins',
    does: 'change refused origins',
  },
  removeAccess: { ...CHANGE, route: 'DELETE /business/:business_id/access/:access_id' },
});
