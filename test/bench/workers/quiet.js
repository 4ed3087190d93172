// Silences the log of the Worker imported after this file. The platform collects log lines outside of requests, but here the process that
// sends the load would print them. Contenders measured as deployed still serialize them.
import { env } from 'cloudflare:workers';

console.log = env.LIMITERS ? (line) => void JSON.stringify(line) : () => {};
