// What the views share while somebody is signed in.
import type { Api, Business, Businesses } from './api.ts';

/** Somebody who is signed in. `first` is the page of the list that was read to try the key. */
export type Session = { api: Api; readOnly: boolean; first: Businesses };

/** What outlives a list, so that it is as it was on the way back from a business. */
export type Visited = {
  /** Where the page before a page of the list starts. */
  earlier: Map<number, number>;
  /** How far each list was scrolled when a business was opened, by hash. */
  tops: Map<string, number>;
};

export const nothingVisited = (): Visited => ({ earlier: new Map(), tops: new Map() });

/** What the parts of a business take that change it. After a failure nobody knows whether the change was made: they `reload`. */
export type EditorProps = {
  api: Api;
  business: Business;
  readOnly: boolean;
  onChanged: (business: Business) => void;
  reload: () => void;
};
