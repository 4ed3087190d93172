// Plays a world: generates steps from a seed and takes them until one fails, and repeats a list of steps.
import { FAULTS } from './faults.ts';
import { Random } from './random.ts';
import { shrink } from './shrink.ts';
import { type Setting, Simulation, type Taken } from './simulation.ts';
import { nextCrowd, nextStep, nextTogether, type Step, tooManyUses } from './steps.ts';

type Played = { setting: Setting; taken: Taken[]; hash: string; failure: string | null };

/**
 * How large a world is: its steps at most, its businesses at least, the days after which it ends, and whether it settles then. In a world of
 * days, no midnight passes without a sweep, so what is kept for a number of days is judged on each day. After half of the sweeps, a limit
 * refuses uses: the counts of refused uses of earlier days are deleted only then.
 */
export type Size = { steps: number; businesses?: number; days?: number; settles?: boolean };
const DAY_MS = 86_400_000;

/** Plays random steps of a world, then lets it settle, which takes as long as 1,500 steps. */
export async function play(
  seed: number,
  { steps, businesses = 3, days = Infinity, settles = true }: Size,
): Promise<Played> {
  const random = new Random(seed);
  const setting = { seed, databases: 1 + random.int(3) };
  const simulation = new Simulation(setting);
  const taken: Taken[] = [];
  let failure: string | null = null;
  const end = simulation.world.now + days * DAY_MS;
  while (failure === null && taken.length < steps && simulation.world.now < end) {
    const made = generated(random, simulation, businesses);
    const isDayOver = days < Infinity && (random.chance(0.1) || passesMidnight(made, simulation.world.now));
    const isNewDay = days < Infinity && taken.at(-1)?.kind === 'sweep' && random.chance(0.5);
    const next = isNewDay ? tooManyUses(random) : isDayOver ? ({ kind: 'sweep' } as const) : made;
    const step: Taken = { ...next, seed: random.next() };
    taken.push(step);
    failure = await attempt(() => simulation.take(step));
  }
  if (settles) failure ??= await attempt(() => simulation.settle());
  return { setting, taken, hash: simulation.hash, failure };
}

const passesMidnight = (step: Step, now: number) => step.kind === 'wait' && (now % DAY_MS) + step.ms >= DAY_MS;

function generated(random: Random, { model, world }: Simulation, businesses: number): Step {
  const step = nextStep(random, model, world.now, businesses);
  if (model.state.businesses.length < businesses) return step;
  switch (random.weighted({ step: 1000, together: 100, crowd: 3, fault: 120, down: 10 })) {
    case 'together':
      return nextTogether(random);
    case 'crowd':
      return nextCrowd(random);
    case 'fault':
      return {
        kind: 'fault',
        fault: random.pick(FAULTS),
        at: random.pick([0, 0, 0, 1, 2]),
        ms: random.pick([0, 1, 1499, 2999, 4999, 5000, 9999]),
      };
    case 'down':
      return { kind: 'down', database: random.int(3), ms: random.pick([1000, 60_000, 3_600_000]) };
    default:
      return step;
  }
}

/** Takes a list of steps in a new world, then lets it settle. Returns the first failure, or null. */
export async function replay(setting: Setting, steps: readonly Taken[]): Promise<string | null> {
  const simulation = new Simulation(setting);
  for (const step of steps) {
    const failure = await attempt(() => simulation.take(step));
    if (failure !== null) return failure;
  }
  return attempt(() => simulation.settle());
}

/** The shortest list found within `ms` that still fails, and its failure. */
export async function shrunk(
  { setting, taken, failure }: Played,
  ms: number,
): Promise<{ steps: Taken[]; failure: string | null }> {
  const fails = async (some: Taken[]) => kindOf(await replay(setting, some)) === kindOf(failure);
  const steps = await shrink(taken, fails, Date.now() + ms);
  return { steps, failure: await replay(setting, steps) };
}

/** The beginning of a failure, without its numbers. */
const kindOf = (failure: string | null) => failure?.replace(/\d+/g, '').slice(0, 50);

/** An error in the model or the world is a failure, too. */
const attempt = (work: () => Promise<string | null>) =>
  work().catch((error: unknown) => (error instanceof Error ? `${error.stack}` : `${error}`));
