// Starts `npm run dev` with a database of its own, and ends it with every process that it started.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const START_MS = 60_000;
const STOP_MS = 5_000;

/** Runs a command as the leader of a process group of its own, with which all that it starts can be ended. */
export function spawnGroup(command: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const group = child.pid as number;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('exit', resolve));
  /** Ends the group; whether asking was enough. */
  async function stop(): Promise<boolean> {
    signal(group, 'SIGTERM');
    for (let waited = 0; waited < STOP_MS; waited += 50) {
      if (!isRunning(group)) return true;
      await wait(50);
    }
    signal(group, 'SIGKILL');
    return false;
  }
  return { output: () => output, exited, stop };
}

function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    return false;
  }
}

/** Whether a process of the group runs. On Linux by /proc: one that has ended but that nobody waited for is not running. */
function isRunning(group: number): boolean {
  if (!existsSync('/proc/self/stat')) return signal(group, 0);
  return readdirSync('/proc').some((pid) => {
    try {
      const [state, , of] =
        readFileSync(`/proc/${Number(pid)}/stat`, 'utf8')
          .split(') ')
          .at(-1)
          ?.split(' ') ?? [];
      return Number(of) === group && state !== 'Z';
    } catch {
      return false;
    }
  });
}

/** `npm run dev`; `exports` are the lines that it prints for the reader's terminal, once it answers. */
export function startService(port: number, state: string) {
  const service = spawnGroup('npm', ['run', 'dev', '--', '--port', `${port}`, '--persist-to', state]);
  let exited = false;
  const ended = () => {
    exited = true;
  };
  service.exited.then(ended, ended);
  async function ready(): Promise<string[]> {
    const deadline = Date.now() + START_MS;
    while (Date.now() < deadline && !exited) {
      const exports = service.output().match(/^export .*$/gm) ?? [];
      if (exports.length > 0) return exports;
      await wait(100);
    }
    throw new Error(`npm run dev ${exited ? 'ended' : 'did not answer'}:\n${service.output()}`);
  }
  return { ready, output: service.output, stop: service.stop };
}
