// Why the change failed that was begun at a place of the view.
import { Notice } from '../parts.tsx';
import { changeFailureWords } from '../words.ts';
import type { DomainChanges } from './domain-changes.ts';

export function PlaceFailure({ changes, place }: { changes: DomainChanges; place: string }) {
  const failure = changes.failureAt(place);
  if (failure === null) return null;
  return (
    <Notice kind="problem">
      {failure.status === 404 ? 'Somebody else has removed it already.' : changeFailureWords(failure)}
    </Notice>
  );
}
