// The Token tab: the tag to paste, and the section that replaces and stops tokens.
import type { Business, BusinessDetails } from '../../../shown-business/description.ts';
import { number } from '../formats.ts';
import { CopyButton, Section } from '../parts.tsx';
import { businessHref } from '../route.ts';
import type { TabProps } from '../session.ts';
import { Rotation } from './rotation.tsx';

const tagOf = ({
  id,
  token,
}: Business): string => `<script type="module" src="${location.origin}/v1/usage-chart.js"></script>
<usage-chart business="${id}" token="${token}"></usage-chart>`;

const DOMAINS = 'Domains';

export function Token(props: TabProps) {
  const { business, readOnly } = props;
  return (
    <>
      <Section id="token" title={readOnly ? 'Token' : 'Token and tag'} note={readOnly ? HIDDEN : PUBLIC}>
        <Reach business={business} />
        {readOnly ? (
          <p>
            <code>{business.token}</code>
          </p>
        ) : (
          <>
            <Snippet title="The tag" text={tagOf(business)} label="Copy the tag" />
            <Snippet title="The token" text={business.token} label="Copy the token" />
          </>
        )}
      </Section>
      <Rotation {...props} />
    </>
  );
}

const HIDDEN = 'With read-only access, you do not see the whole token, because it can record uses.';
const PUBLIC =
  'The tag draws the chart of this business on any page where the token works. Anyone can read the token there.';

function Snippet({ title, text, label }: { title: string; text: string; label: string }) {
  return (
    <>
      <h3>{title}</h3>
      <div class="snippet">
        <pre>
          <code>{text}</code>
        </pre>
        <CopyButton text={text} label={label} />
      </div>
    </>
  );
}

/** Shows where the token works. */
function Reach({ business: { id, status, access_list } }: { business: BusinessDetails }) {
  const link = <a href={businessHref(id, 'domains')}>{DOMAINS}</a>;
  if (status !== 'active') return <p>The token does not work while the business is {status}.</p>;
  if (access_list.length === 0) return <p>The token works on every site, because no domains are registered. {link}</p>;
  const words =
    access_list.length === 1
      ? 'The token works only on pages of one registered domain.'
      : `The token works only on pages of ${number(access_list.length)} registered domains.`;
  return (
    <p>
      {words} {link}
    </p>
  );
}
