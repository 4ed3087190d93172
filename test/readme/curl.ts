// A stand-in for curl on machines that have none: the few options that README.md uses.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    json: { type: 'string' },
    'dump-header': { type: 'string', short: 'D' },
    'max-time': { type: 'string', default: '20' },
    silent: { type: 'boolean', short: 's' },
    'show-error': { type: 'boolean', short: 'S' },
  },
});
const headers = new Headers({ Accept: values.json === undefined ? '*/*' : 'application/json' });
if (values.json !== undefined) headers.set('Content-Type', 'application/json');
else if (values.data !== undefined) headers.set('Content-Type', 'application/x-www-form-urlencoded');
for (const line of values.header)
  headers.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
const body = values.json ?? values.data;
const response = await fetch(positionals[0] as string, {
  method: values.request ?? (body === undefined ? 'GET' : 'POST'),
  headers,
  ...(body === undefined ? {} : { body }),
  signal: AbortSignal.timeout(Number(values['max-time']) * 1000),
});
const head = [`HTTP/1.1 ${response.status}`, ...[...response.headers].map(([name, value]) => `${name}: ${value}`)];
if (values['dump-header'] !== undefined) writeFileSync(values['dump-header'], `${head.join('\r\n')}\r\n\r\n`);
process.stdout.write(await response.text());
