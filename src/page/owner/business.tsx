// One business: its name, what needs attention, and its views.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Business, Limits, RefusedOrigin } from '../../wire/responses.ts';
import { Changes } from './changes/changes.tsx';
import { Domains } from './domains/domains.tsx';
import { plural } from './formats.ts';
import { FailureNotice, Loading, Mark, Notice, Status, Title } from './parts.tsx';
import { useQuery } from './query.ts';
import { Refresh, useRefresh } from './refresh.tsx';
import { ROOMS, type Room } from './rooms.ts';
import { businessHref } from './route.ts';
import { type Memory, NOT_READ, type ReadState, type RoomProps, type Session, shownRefused } from './session.ts';
import { standingOf } from './standing.ts';
import { Token } from './token/token.tsx';
import { Usage } from './usage/usage.tsx';

const LOADING_ROWS = 4;
const NAMES: Record<Room, string> = { usage: 'Usage', domains: 'Domains', token: 'Token', changes: 'Changes' };

type Props = { session: Session; id: number; room: Room; part: string; query: URLSearchParams; memory: Memory };

export function BusinessView({ session, id, room, part, query, memory }: Props) {
  const { api, kept } = session;
  const { revision, refresh } = useRefresh();
  const details = useQuery(`${revision}`, () => api.business(id));
  const refused = useQuery(`${revision}`, () => api.refused(id));
  const [dismissed, setDismissed] = useState(() => memory.dismissed.get(id) ?? new Set<string>());
  const [ofRoom, setOfRoom] = useState<ReadState | null>(NOT_READ);
  const read = (room === 'usage' || room === 'changes' ? ofRoom : null) ?? details;
  const readAt = oldest(details.readAt, read.readAt);
  const { data, failure } = details;
  const listed = memory.opened?.id === id ? memory.opened : null;
  const seen = data ?? listed;
  const name = seen?.name ?? `Business ${id}`;
  const place = useRef<HTMLDivElement>(null);
  const shown = useRef(`${room} ${part}`);

  // The title has the focus first. Then each view that takes the place of another gives it to its own title, or to that of the part.
  useEffect(() => {
    if (shown.current === `${room} ${part}`) return;
    shown.current = `${room} ${part}`;
    const titles = [...(place.current?.querySelectorAll('h2') ?? [])];
    (titles.find(({ id }) => id === `${part}-title`) ?? titles[0])?.focus();
  }, [room, part]);

  function onChanged(business: Business): void {
    if (data !== null) details.setData({ ...data, ...business });
    refused.reload(); // a domain that was added or removed decides what is refused
  }
  const frame = {
    api,
    readOnly: kept.readOnly,
    query,
    revision,
    refused,
    dismissed,
    setDismissed: (origins: ReadonlySet<string>) => {
      memory.dismissed.set(id, origins);
      setDismissed(origins);
    },
  };
  const rooms: Record<Room, () => ComponentChildren> = {
    usage: () => (
      <Usage
        {...frame}
        id={id}
        name={name}
        listed={listed}
        limits={seen?.limits ?? null}
        isActive={seen?.status === 'active'}
        onRead={setOfRoom}
      />
    ),
    domains: () => editing((props) => <Domains {...props} />),
    token: () => editing((props) => <Token {...props} />),
    changes: () => <Changes {...frame} id={id} onRead={setOfRoom} />,
  };
  /** A view that needs the business. */
  function editing(view: (props: RoomProps) => ComponentChildren): ComponentChildren {
    if (data !== null) return view({ ...frame, business: data, onChanged, reload: details.reload });
    return failure === null ? <Loading rows={LOADING_ROWS} /> : null; // the failure is told above
  }

  if (failure?.status === 401) {
    return (
      <>
        <Back href={memory.list.href} />
        <Title name={`Business ${id}`} />
        <p class="card empty">There is no business {id} that you can see here.</p>
      </>
    );
  }
  return (
    <>
      <div class="trail">
        <Back href={memory.list.href} />
        <Refresh readAt={readAt} isBusy={details.busy || refused.busy || read.busy} refresh={refresh} />
      </div>
      <div class="heading business-name">
        <Title name={name} part={NAMES[room]} />
        {seen && <Marks id={id} status={seen.status} limits={seen.limits} refused={shownRefused(frame)} />}
      </div>
      {seen && (
        <p class="sub">
          {seen.main_domain} · id {id}
        </p>
      )}
      {seen && seen.status !== 'active' && (
        <Notice kind="warning">
          This business is {seen.status}: its token is refused everywhere, and no use is recorded.
        </Notice>
      )}
      <nav class="rooms" aria-label="Views of this business">
        {ROOMS.map((one) => (
          <a key={one} href={businessHref(id, one)} aria-current={one === room ? 'page' : undefined}>
            {NAMES[one]}
          </a>
        ))}
      </nav>
      {failure && <FailureNotice failure={failure} reload={details.reload} />}
      <div key={room} ref={place} class="room">
        {rooms[room]()}
      </div>
    </>
  );
}

const oldest = (a: number | null, b: number | null) => (a === null || b === null ? null : Math.min(a, b));

const Back = ({ href }: { href: string }) => (
  <p class="back">
    <a href={href}>← Businesses</a>
  </p>
);

type MarksProps = { id: number; status: string; limits: Limits; refused: RefusedOrigin[] };

/** What needs attention. */
function Marks({ id, status, limits, refused }: MarksProps) {
  const standing = standingOf(limits);
  return (
    <>
      <Status status={status} />
      {standing && <Mark level={standing.level}>{standing.words}</Mark>}
      {refused.length > 0 && (
        <a class="mark" href={businessHref(id, 'domains', 'refused')}>
          {plural(refused.length, 'refused origin')}
        </a>
      )}
    </>
  );
}
