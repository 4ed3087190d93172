// The entry point of the Worker.
import { workerAhead } from './worker.ts';

export default workerAhead(0);
