// Builds the operations of the page at /, in groups that unfold, with curl examples, from the OpenAPI description.
import type { PathParameter } from '../operation.ts';
import { openapi } from './document.ts';

type Operation = {
  summary: string;
  description?: string;
  tags: string[];
  security: object[];
  parameters?: { name: string; in: string; example?: string; required?: boolean }[];
  requestBody?: { content: { 'application/json': { examples: Record<string, { value: object }> } } };
};

/** Shell variables for the ids in paths. */
const VARIABLES: Record<PathParameter, string> = {
  business_id: '$BUSINESS',
  user_id: '$OWNER',
  access_id: '$SITE',
  key_id: '$KEY',
  former_id: '$FORMER',
};
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const prose = (text = '') => text && `<p class="note">${escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`;

/** Returns a curl command for each way to call the operation. */
function curl(path: string, method: string, { security, parameters = [], requestBody }: Operation): string[] {
  const url = path.replace('/api/v1', '$API').replace(/\{(\w+)\}/g, (_, name: PathParameter) => VARIABLES[name]);
  const query = parameters.flatMap(({ in: location, name, example }) =>
    location === 'query' && example !== undefined ? [`${name}=${example}`] : [],
  );
  const address = query.length === 0 ? url : `"${url}?${query.join('&')}"`;
  const takesToken = security.some((credential) => 'businessToken' in credential);
  const takesSession = security.some((credential) => 'sessionKey' in credential);
  const takesKey = security.some((credential) => 'apiKey' in credential);
  const headers = parameters.flatMap(({ in: location, name, example, required }) =>
    location === 'header' && required ? [` -H "${name}: ${example}"`] : [],
  );
  const examples = Object.values(requestBody?.content['application/json'].examples ?? { none: { value: {} } });
  /** True if a body can be sent instead of a credential. When a credential is sent, the body is empty. */
  const isOptional = security.some((credential) => Object.keys(credential).length === 0);
  const bodies = isOptional ? [{ value: {} }, ...examples] : examples;
  return bodies.map(({ value }) => {
    const isSent = Object.keys(value).length > 0;
    const secret = takesSession ? '$SESSION_KEY' : takesKey ? '$API_KEY' : '$OPERATOR_KEY';
    const credential = takesToken && !isSent ? '$TOKEN' : secret;
    return [
      `curl ${address}`,
      method === (isSent ? 'post' : 'get') ? '' : ` -X ${method.toUpperCase()}`,
      security.length === 0 || (isOptional && isSent) ? '' : ` -H "Authorization: Bearer ${credential}"`,
      ...headers,
      isSent ? ` --json '${JSON.stringify(value)}'` : '',
    ].join('');
  });
}

const snippet = (commands: string[]) => `<div class="snippet">
        <pre><code>${escaped(commands.join('\n'))}</code></pre>
        <button type="button" class="quiet copy" hidden>Copy</button>
      </div>`;

const group = (title: string, description: string, content: string) => `<details>
      <summary class="note"><b>${title}</b> ${escaped(description)}</summary>
      ${content}
    </details>`;

const article = (path: string, method: string, operation: Operation) => `<article class="operation">
      <h3>${escaped(operation.summary)}</h3>
      <code class="note"><b>${method.toUpperCase()}</b> ${escaped(path)}</code>
      ${prose(operation.description)}
      ${snippet(curl(path, method, operation))}
    </article>`;

const KEY = '-H "Authorization: Bearer $API_KEY"';
const WWW = 'https://www.cafe.example';

/** Shows how to let a refused page in. `business` refuses the page's origin. */
function tryFixing(business: number | string): string {
  const use = `curl "$API/business/usage/${business}" ${KEY} -H "Origin: ${WWW}"`;
  const commands = [
    `${use} # is refused`,
    `curl "$API/business/${business}/access/refused" ${KEY} # shows why`,
    `curl "$API/business/${business}/access" ${KEY} --json '{"sites":["${WWW}"]}'`,
    `${use} # works`,
  ];
  return `${prose(`A shop has registered \`https://cafe.example\`, but its visitors also come to \`${WWW}\`, where nothing is counted. In
the console, this is one press under “Domains”. Your server can do the same:`)}
      ${snippet(commands)}`;
}

const operations = () =>
  Object.entries(openapi().paths ?? {}).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as Operation })),
  );

/** Returns every curl command of every operation. */
export const commands = () => operations().flatMap(({ path, method, operation }) => curl(path, method, operation));

/** Returns a group for each tag, and first one to try. `refusing` is the business to try it with. */
export function operationsHtml(refusing: number | string = '$BUSINESS'): string {
  const { tags = [] } = openapi();
  const described = operations();
  const groups = tags.flatMap(({ name, description = '' }) => {
    const own = described.filter(({ operation }) => operation.tags.includes(name));
    const articles = own.map(({ path, method, operation }) => article(path, method, operation));
    return articles.length === 0 ? [] : group(capitalized(name), description, articles.join('\n    '));
  });
  return [group('Try: fix the refused site.', '20 seconds', tryFixing(refusing)), ...groups].join('\n    ');
}
