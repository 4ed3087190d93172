// Comes before a Worker: what that logs goes nowhere. On the platform, lines are gathered beside the requests; here each
// would be written to a terminal by the process that also sends the load. As it is deployed, each is serialized at least.
import { env } from 'cloudflare:workers';

console.log = env.LIMITERS ? (line) => void JSON.stringify(line) : () => {};
