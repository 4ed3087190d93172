// The list of operations on the page at /, with curl lines: made of the description, so that it says the same.
import { openapi } from './document.ts';

type Operation = {
  summary: string;
  description?: string;
  security: object[];
  parameters?: { name?: string; in?: string; example?: string }[];
  requestBody?: { content: { 'application/json': { examples: Record<string, { value: object }> } } };
};

const VARIABLES: Record<string, string> = { business_id: '$BUSINESS', access_id: '1' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const prose = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

/** One line for each way to call it. */
function curl(path: string, method: string, { security, parameters = [], requestBody }: Operation): string[] {
  const url = path.replace('/api/v1', '$API').replace(/\{(\w+)\}/g, (_, name: string) => VARIABLES[name] ?? '');
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example }) => `${name}=${example}`);
  const address = query.length === 0 ? url : `"${url}?${query.join('&')}"`;
  const byToken = security.some((credential) => 'businessToken' in credential);
  const bodies = Object.values(requestBody?.content['application/json'].examples ?? { none: { value: {} } });
  return bodies.map(({ value }) => {
    const sent = Object.keys(value).length > 0;
    const credential = byToken && !sent ? '$TOKEN' : '$API_KEY';
    return [
      `curl ${address}`,
      method === 'get' || sent ? '' : ` -X ${method.toUpperCase()}`,
      security.length === 0 ? '' : ` -H "Authorization: Bearer ${credential}"`,
      sent ? ` --json '${JSON.stringify(value)}'` : '',
    ].join('');
  });
}

export function operationsHtml(): string {
  const entries = Object.entries(openapi().paths).flatMap(([path, item]) =>
    ['get', 'post', 'delete'].flatMap((method) => {
      const operation = (item as Record<string, Operation>)[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
  return entries
    .map(
      ({ path, method, operation }) => `<article class="operation">
      <h3>${escaped(operation.summary)}</h3>
      <code class="path"><b>${method.toUpperCase()}</b> ${escaped(path)}</code>
      ${operation.description === undefined ? '' : `<p>${prose(operation.description)}</p>`}
      <pre><code>${escaped(curl(path, method, operation).join('\n'))}</code></pre>
    </article>`,
    )
    .join('\n    ');
}
