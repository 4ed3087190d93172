// The filter of the list of changes.
import type { Action } from '../../core/change.ts';

/** The filters' names in the URL and in the request's query. */
export const FILTER_FIELDS = ['action', 'search', 'from', 'to'] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

/** `from` and `to` are inclusive. */
export type ChangeFilter = { action?: Action; search?: string; from?: string; to?: string };
