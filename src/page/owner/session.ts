// What the views share while somebody is signed in.
import type { Api, Business, ListedBusiness } from './api.ts';
import type { KeptSession } from './kept.ts';

/** Somebody who is signed in. */
export type Session = { api: Api; kept: KeptSession };

/** What outlives a list, so that it is as it was on the way back from a business. */
export type Visited = {
  /** Where the page before a page of the list starts. */
  earlier: Map<number, number>;
  /** How far each list was scrolled when a business was opened, by hash. */
  tops: Map<string, number>;
  /** The business that was opened last, as it was listed: its name is shown until the business has been read. */
  opened: ListedBusiness | null;
};

export const nothingVisited = (): Visited => ({ earlier: new Map(), tops: new Map(), opened: null });

/** What the parts of a business take that change it. After a failure nobody knows whether the change was made: they `reload`. */
export type EditorProps = {
  api: Api;
  business: Business;
  readOnly: boolean;
  onChanged: (business: Business) => void;
  reload: () => void;
};
