// One change: when, what, who, and each changed field before and after.
import type { Change } from '../../../changes/description.ts';
import { instantWords, number } from '../formats.ts';
import { whole } from '../parts.tsx';
import { whoWords } from '../who.ts';
import { describe, type Line } from './change-words.ts';

/** Longer lists are collapsed. */
const MAX_SHOWN = 5;

export function Entry({ change }: { change: Change }) {
  const { id, at } = change;
  const { title, lines } = describe(change);
  const { name, credential } = whoWords(change);
  return (
    <li class="entry" data-id={id} tabIndex={-1}>
      <time dateTime={at} title={instantWords(at)}>
        {at.slice(11, 16)}
      </time>
      <div class="what">
        <b>{title}</b>
        <ul>
          {lines.map((line) => (
            <li key={line.field}>
              <Field line={line} />
            </li>
          ))}
        </ul>
      </div>
      <p class="by">
        {name !== null && <bdi>{name}</bdi>} {whole(credential)}
      </p>
    </li>
  );
}

/** Domains need no label: the title describes what happened to them. */
function Field({ line: { field, name, before, after } }: { line: Line }) {
  const isPlain = field === 'sites' && (before === null || after === null);
  return (
    <>
      {!isPlain && <span class="name">{name}: </span>}
      {before && <Values values={before} />}
      {before && after && <span class="arrow"> → </span>}
      {after && <Values values={after} />}
    </>
  );
}

function Values({ values }: { values: string[] }) {
  if (values.length === 1) return <span>{whole(values[0] ?? '')}</span>;
  if (values.length === 0) return <span>none</span>;
  const items = (some: string[]) => (
    <ul>
      {some.map((value) => (
        <li key={value}>{whole(value)}</li>
      ))}
    </ul>
  );
  const more = values.slice(MAX_SHOWN);
  return (
    <>
      {items(values.slice(0, MAX_SHOWN))}
      {more.length > 0 && (
        <details>
          <summary>and {number(more.length)} more</summary>
          {items(more)}
        </details>
      )}
    </>
  );
}
