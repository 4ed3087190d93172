// The dialog that creates a key.
import { useRef, useState } from 'preact/hooks';
import { MAX_LINE_LENGTH } from '../../../core/fields.ts';
import type { OwnRole } from '../../../core/policy.ts';
import { LABEL, MAX_LABEL_LENGTH } from '../../../core/sources.ts';
import { addDays } from '../../../core/time.ts';
import { SESSION_KEY_DAYS } from '../../../keys/rules.ts';
import { Failure, type KeyToCreate } from '../api.ts';
import { Confirm } from '../confirm.tsx';
import { number } from '../formats.ts';
import { byName, type Listing } from '../listing.ts';
import { Field, VERBATIM } from '../parts.tsx';
import { OWN_KINDS } from '../roles.ts';

const DEFAULT_DAYS = 30;
const LABEL_WORDS = `A label has 1 to ${MAX_LABEL_LENGTH} letters, digits or signs of ASCII, without “://” and without spaces at the ends.`;

type Props = {
  role: OwnRole;
  today: string;
  listing: Listing;
  create: (key: KeyToCreate) => Promise<void>;
  onFailure: () => void;
  onClose: () => void;
  next: () => HTMLElement | null | undefined;
};

export function Creation({ role, today, listing: { businesses, readAt }, create, ...closing }: Props) {
  const [name, setName] = useState('');
  const [business, setBusiness] = useState('');
  const [label, setLabel] = useState('');
  const [expires_on, setExpiry] = useState(addDays(today, DEFAULT_DAYS));
  const fields = useRef<HTMLFormElement>(null);

  const canHaveLabel = business !== '' && role === 'record';

  async function work(): Promise<void> {
    const invalid = fields.current?.querySelector<HTMLInputElement>(':invalid');
    invalid?.focus();
    if (invalid?.id === 'key-label') throw new Failure(422, LABEL_WORDS);
    if (invalid?.type === 'text') throw new Failure(422, 'Enter a name that will help you recognize this key later.');
    if (invalid) throw new Failure(422, `Choose a last day from today to ${SESSION_KEY_DAYS} days from now.`);
    await create({
      ...{ name, role, expires_on },
      ...(business !== '' && { business_id: Number(business) }),
      ...(canHaveLabel && label !== '' && { label }),
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
        <Field id="key-name" label="Name">
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
        </Field>
        <Field id="key-business" label="Business">
          <select id="key-business" value={business} onChange={({ currentTarget }) => setBusiness(currentTarget.value)}>
            <option value="">All, and those added later</option>
            {businesses.toSorted(byName).map(({ id, name }) => (
              <option key={id} value={id}>
                {name} (ID {id})
              </option>
            ))}
          </select>
        </Field>
        {readAt === null && <p class="note">{number(businesses.length)} businesses are loaded so far.</p>}
        {canHaveLabel && (
          <Field id="key-label" label="Label (optional)">
            <input
              {...VERBATIM}
              id="key-label"
              type="text"
              pattern={LABEL.source}
              maxLength={MAX_LABEL_LENGTH}
              placeholder="Its uses’ source, such as web-1"
              value={label}
              onInput={({ currentTarget }) => setLabel(currentTarget.value)}
            />
          </Field>
        )}
        <Field id="key-expiry" label="Last day (UTC)">
          <input
            id="key-expiry"
            type="date"
            required
            min={today}
            max={addDays(today, SESSION_KEY_DAYS)}
            value={expires_on}
            onInput={({ currentTarget }) => setExpiry(currentTarget.value)}
          />
        </Field>
      </form>
    </Confirm>
  );
}
