// What needs attention in a business, as the list and the business's view show it. Each mark but the status leads to what it names.
import type { ComponentChildren } from 'preact';
import type { ListedBusiness } from '../../business/description.ts';
import { type Drop, dropWords } from './drop.ts';
import { plural } from './formats.ts';
import { type Level, limitStatusOf } from './limit-status.ts';
import { businessHref } from './route.ts';

type Props = Pick<ListedBusiness, 'id' | 'status' | 'limits'> & {
  drop: Drop | null;
  refusedOrigins: number;
  onPress?: (event: MouseEvent) => void;
};

const STATUSES: Record<string, string> = { suspended: 'Suspended', closed: 'Closed' };

export function Marks({ id, status, limits, drop, refusedOrigins, onPress }: Props) {
  const { level, words } = limitStatusOf(limits) ?? {};
  const mark = (href: string, level: Level | '', words: ComponentChildren) => (
    <a class={`mark ${level}`} href={href} onClick={onPress}>
      {words}
    </a>
  );
  return (
    <>
      {status !== 'active' && <span class="mark full">{STATUSES[status] ?? status}</span>}
      {drop && mark(businessHref(id, 'usage', 'usage'), 'full', dropWords(drop))}
      {level && mark(businessHref(id, 'usage', 'limits'), level, words)}
      {refusedOrigins > 0 && mark(businessHref(id, 'domains', 'refused'), '', plural(refusedOrigins, 'refused origin'))}
    </>
  );
}
