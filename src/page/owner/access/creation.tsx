// The dialog that creates a key, and the presets of its last day.
import { useRef, useState } from 'preact/hooks';
import { MAX_LINE_LENGTH } from '../../../core/fields.ts';
import type { OwnRole } from '../../../core/policy.ts';
import { addDays, addMonths } from '../../../core/time.ts';
import { SESSION_KEY_DAYS } from '../../../keys/rules.ts';
import { Failure, type KeyToCreate } from '../api.ts';
import { Confirm } from '../confirm.tsx';
import { number } from '../formats.ts';
import type { Listing } from '../list/listing.ts';
import { ordered } from '../list/order.ts';
import { Button, VERBATIM } from '../parts.tsx';
import { OWN_KINDS } from '../roles.ts';
import { refusedCreation } from './refused-creation.ts';

const PRESETS = [
  { months: 1, label: '1 month' },
  { months: 3, label: '3 months' },
  { months: 12, label: '1 year' },
] as const;

/** Adds months to a day. In a month that is too short, returns its last day. */
function monthsAfter(day: string, months: number): string {
  const first = addMonths(`${day.slice(0, 8)}01`, months);
  const last = addDays(addMonths(first, 1), -1);
  const same = `${first.slice(0, 8)}${day.slice(8)}`;
  return same < last ? same : last;
}

type Props = {
  role: OwnRole;
  today: string;
  listing: Listing;
  create: (key: KeyToCreate) => Promise<void>;
  onFailure: () => void;
  onClose: () => void;
  next: () => HTMLElement | null | undefined;
};

export function Creation({ role, today, listing: { businesses, extent }, create, ...closing }: Props) {
  const [name, setName] = useState('');
  const [business, setBusiness] = useState('');
  const [expires_on, setExpiry] = useState(monthsAfter(today, PRESETS[0].months));
  const fields = useRef<HTMLFormElement>(null);

  async function work(): Promise<void> {
    const invalid = fields.current?.querySelector<HTMLInputElement>(':invalid');
    invalid?.focus();
    if (invalid?.type === 'text') throw new Failure(422, 'Enter a name that will help you recognize this key later.');
    if (invalid) throw new Failure(422, `Choose a last day from today to ${SESSION_KEY_DAYS} days from now.`);
    const key = { name, role, expires_on, ...(business !== '' && { business_id: Number(business) }) };
    await create(key).catch((error) => {
      throw refusedCreation(error);
    });
  }
  return (
    <Confirm
      title={`Create a ${OWN_KINDS[role].kind} key`}
      kind="ordinary"
      action={`Create ${OWN_KINDS[role].kind} key`}
      doing="Creating…"
      form="key-fields"
      advice="If the list shows a new key, revoke it, because the key itself cannot be shown again."
      work={work}
      {...closing}
    >
      <form id="key-fields" class="fields" noValidate ref={fields} onSubmit={(event) => event.preventDefault()}>
        <label for="key-name">Name</label>
        <input
          {...VERBATIM}
          id="key-name"
          type="text"
          required
          pattern=".*\S.*"
          maxLength={MAX_LINE_LENGTH}
          placeholder="Such as the agency’s name"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <label for="key-business">Business</label>
        <select id="key-business" value={business} onChange={({ currentTarget }) => setBusiness(currentTarget.value)}>
          <option value="">All businesses, and those added later</option>
          {ordered(businesses, 'name').map(({ id, name }) => (
            <option key={id} value={id}>
              {name} (ID {id})
            </option>
          ))}
        </select>
        {extent !== 'all' && (
          <p class="note">
            {number(businesses.length)} businesses are loaded. To choose another one, load more in the list of
            businesses.
          </p>
        )}
        <label for="key-expiry">Last day (UTC)</label>
        <div class="days">
          <input
            id="key-expiry"
            type="date"
            required
            min={today}
            max={addDays(today, SESSION_KEY_DAYS)}
            value={expires_on}
            onInput={({ currentTarget }) => setExpiry(currentTarget.value)}
          />
          {PRESETS.map(({ months, label }) => (
            <Button key={label} class="quiet" onClick={() => setExpiry(monthsAfter(today, months))}>
              {label}
            </Button>
          ))}
        </div>
      </form>
    </Confirm>
  );
}
