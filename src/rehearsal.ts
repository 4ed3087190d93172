// The entry point of a Worker with another clock, for `npm run dev -- --now` only. The pages of such a run have the same clock (tools/build.ts).
import { workerAhead } from './worker.ts';

declare const AHEAD_MS: number;

export default workerAhead(AHEAD_MS);
