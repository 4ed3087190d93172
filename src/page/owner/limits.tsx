// The limits of a business and what is left of them. Nothing is shown for a business without any.
import type { Limits as Standing } from '../../wire/responses.ts';
import { Section } from './parts.tsx';
import { levelOf } from './standing.ts';
import { number, plural } from './words.ts';

export function Limits({ limits }: { limits: Standing }) {
  if (limits === null) return null;
  const verb = limits.remaining === 1 ? 'is' : 'are';
  const left =
    limits.remaining === 0
      ? 'None are left: the next use is refused.'
      : `${plural(limits.remaining, 'use')} ${verb} left.`;
  return (
    <Section id="limits" title="Limits" note={`${left} Days and months are UTC.`}>
      <div class="meters">
        {limits.daily !== null && <Meter name="Today" used={limits.today ?? 0} limit={limits.daily} />}
        {limits.monthly !== null && <Meter name="This month" used={limits.month ?? 0} limit={limits.monthly} />}
      </div>
    </Section>
  );
}

function Meter({ name, used, limit }: { name: string; used: number; limit: number }) {
  return (
    <div class={`meter ${levelOf(limit, used) ?? ''}`}>
      <span>{name}</span>
      <span>
        <b>{number(used)}</b> of {number(limit)}
      </span>
      <progress aria-label={`Uses, ${name.toLowerCase()}`} max={Math.max(1, limit)} value={limit === 0 ? 1 : used} />
    </div>
  );
}
