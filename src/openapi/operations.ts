// Builds the list of operations for the page at /, with curl examples, from the OpenAPI description.
import { openapi } from './document.ts';

type Operation = {
  summary: string;
  description?: string;
  security: object[];
  parameters?: { name: string; in: string; example: string }[];
  requestBody?: { content: { 'application/json': { examples: Record<string, { value: object }> } } };
};

const VARIABLES: Record<string, string> = { business_id: '$BUSINESS', access_id: '1' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const prose = (text = '') => text && `<p>${escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`;

/** Returns a curl command for each way to call the operation. */
function curl(path: string, method: string, { security, parameters = [], requestBody }: Operation): string[] {
  const url = path.replace('/api/v1', '$API').replace(/\{(\w+)\}/g, (_, name: string) => VARIABLES[name] ?? '');
  const query = parameters.flatMap(({ in: location, name, example }) =>
    location === 'query' ? [`${name}=${example}`] : [],
  );
  const address = query.length === 0 ? url : `"${url}?${query.join('&')}"`;
  const takesToken = security.some((credential) => 'businessToken' in credential);
  const takesSession = security.some((credential) => 'sessionKey' in credential);
  const takesKey = security.some((credential) => 'apiKey' in credential);
  const examples = Object.values(requestBody?.content['application/json'].examples ?? { none: { value: {} } });
  /** True if a body can be sent instead of a credential. When a credential is sent, the body is empty. */
  const isOptional = security.some((credential) => Object.keys(credential).length === 0);
  const bodies = isOptional ? [{ value: {} }, ...examples] : examples;
  return bodies.map(({ value }) => {
    const isSent = Object.keys(value).length > 0;
    const secret = takesSession ? 'bua_sk_…' : takesKey ? '$API_KEY' : '$OPERATOR_KEY';
    const credential = takesToken && !isSent ? '$TOKEN' : secret;
    return [
      `curl ${address}`,
      method === 'get' || isSent ? '' : ` -X ${method.toUpperCase()}`,
      security.length === 0 || (isOptional && isSent) ? '' : ` -H "Authorization: Bearer ${credential}"`,
      isSent ? ` --json '${JSON.stringify(value)}'` : '',
    ].join('');
  });
}

const article = (path: string, method: string, operation: Operation) => `<article class="operation">
      <h3>${escaped(operation.summary)}</h3>
      <code class="path"><b>${method.toUpperCase()}</b> ${escaped(path)}</code>
      ${prose(operation.description)}
      <div class="snippet">
        <pre><code>${escaped(curl(path, method, operation).join('\n'))}</code></pre>
        <button type="button" class="quiet copy" hidden>Copy</button>
      </div>
    </article>`;

/** Returns an article for each operation. */
export const operationsHtml = (): string =>
  Object.entries(openapi().paths ?? {})
    .flatMap(([path, { parameters: _, ...operations }]) =>
      Object.entries(operations).map(([method, operation]) => article(path, method, operation as Operation)),
    )
    .join('\n    ');
