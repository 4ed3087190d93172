// What npm run verify does with a service: it deletes what an earlier run left, makes every check (checks.ts) in all databases at
// once, deletes what it has made, and prints a line for each promise.
import { bindingOf, IDS_PER_DATABASE } from '../core/database.ts';
import { FIRST_VERIFICATION_USER, VERIFICATION_USERS } from '../core/verification.ts';
import { BESIDE, NAME, OF_DATABASE, OF_SERVICE, Place } from './checks.ts';
import { type Answer, DeployedService, Differs, lineOf, Unseen } from './deployed-service.ts';

/** The users whom the checks make businesses for. Each keeps its database, and they are used again each time. */
const USERS = Array.from({ length: VERIFICATION_USERS }, (_, index) => FIRST_VERIFICATION_USER + index);
/** The most businesses that a page of the list has. */
const PER_PAGE = 50;

/** How many promises are kept, how many are not, and how many could not be looked at. */
export type Summary = { kept: number; differing: number; unseen: number };

/**
 * Checks a service, and prints a line for each promise. Once `stopped` is aborted, no check begins; what was made is deleted in any
 * case. Throws an error of one line if there is nothing to check.
 */
export async function verify(
  { origin, operatorKey, stopped }: { origin: string; operatorKey: string; stopped: AbortSignal },
  print: (line: string) => void,
): Promise<Summary> {
  const service = new DeployedService(origin, operatorKey, stopped);
  const cleaner = new DeployedService(origin, operatorKey);
  await requireOperator(service);
  const summary: Summary = { kept: 0, differing: 0, unseen: 0 };

  /** Looks at one promise, and prints what it saw. `look` may return what else there is to say. */
  async function report(name: string, look: () => Promise<unknown>, isStopped = () => false): Promise<void> {
    const { said, error } = await look().then(
      (said) => ({ said, error: undefined }),
      (error: Error) => ({ said: lineOf(error.message), error }),
    );
    if (error === undefined) {
      summary.kept++;
      print(`ok       ${name}${typeof said === 'string' ? ` (${said})` : ''}`);
    } else if (isStopped()) {
      return; // it says nothing about the service
    } else if (error instanceof Unseen) {
      summary.unseen++;
      print(`UNSEEN   ${name}: ${said}`);
    } else {
      summary.differing++;
      print(`DIFFERS  ${name}: ${said}`);
    }
  }
  const check = async (name: string, look: () => Promise<unknown>) => {
    if (!stopped.aborted) await report(name, look, () => stopped.aborted);
  };

  await check('what an earlier run left is deleted', () => deleteAll(service));
  let places: Place[] = [];
  for (const [name, look] of Object.entries(OF_SERVICE)) await check(name, () => look(service));
  await check('a business is made in each database', async () => {
    const found = await placesIn(service);
    places = found.places;
    if (found.problems.length > 0) throw new Differs(found.problems.join('; '));
    return found.said;
  });
  // What takes a minute begins first, and is reported last.
  const besides = Object.entries(BESIDE).map(([name, look]) => ({ name, seen: settled(inEach(places, look)) }));
  for (const [name, look] of Object.entries(OF_DATABASE)) await check(name, () => inEach(places, look));
  for (const { name, seen } of besides) await check(name, async () => (await seen)());
  await check('responses say in Server-Timing how long the database took', async () => timesOf(service));
  await service.idle();
  await report('what was made is deleted', () => deleteAll(cleaner));
  return summary;
}

/** Throws an error of one line unless there is a service, and the key may make all the checks. */
async function requireOperator(service: DeployedService): Promise<void> {
  const { outcome, data } = await service.send<Listed | undefined>('GET /business?limit=1');
  if (outcome === '401 unauthenticated') throw new Error(`${service.origin} does not know the key in OPERATOR_KEY.`);
  if (outcome === '403 record_only_key')
    throw new Error('The key in OPERATOR_KEY can only record. It must have the role full.');
  const isOurs = outcome === '200' ? Array.isArray(data?.businesses) : / /.test(outcome); // errors have a code
  if (!isOurs)
    throw new Error(`${service.origin} is not this service: it answers GET /api/v1/business with ${outcome}.`);
}

/** Waits for what is looked at later. If it fails before, that is no unhandled rejection. */
const settled = <T>(promise: Promise<T>): Promise<() => T> =>
  promise.then(
    (value) => () => value,
    (error) => () => {
      throw error;
    },
  );

/** Looks in every database at once. What is wrong is said with the names of the databases. */
async function inEach(places: Place[], look: (place: Place) => Promise<void>): Promise<void> {
  if (places.length === 0) throw new Unseen('no database takes a business');
  const results = await Promise.allSettled(places.map(look));
  const failed = results.flatMap((result, index) =>
    result.status === 'rejected' ? [{ error: result.reason as Error, place: places[index] as Place }] : [],
  );
  if (failed.length === 0) return;
  const text = failed.map(({ error, place }) => `${bindingOf(place.database)}: ${error.message}`).join('; ');
  throw failed.every(({ error }) => error instanceof Unseen) ? new Unseen(text) : new Differs(text);
}

type Listed = { businesses: { id: number; name: string }[]; next: number | null };

/** Deletes the businesses of the checks, with all that is theirs, and says how many there were. */
async function deleteAll(service: DeployedService): Promise<string> {
  const results = await Promise.allSettled(USERS.map((user_id) => deleteAllOf(service, user_id)));
  const problems = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []));
  if (problems.length > 0) throw new Differs([...new Set(problems)].join('; '));
  const count = results.reduce((sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0), 0);
  return count === 1 ? '1 business' : `${count} businesses`;
}

async function deleteAllOf(service: DeployedService, user_id: number): Promise<number> {
  const deleted = new Set<number>();
  for (;;) {
    const { businesses } = await service.ok<Listed>(`GET /business?user_id=${user_id}&limit=${PER_PAGE}`);
    if (businesses.length === 0) return deleted.size;
    for (const { id, name } of businesses) {
      // These users are for the checks alone. But what somebody has made by mistake is not ours to delete.
      if (name !== NAME)
        throw new Differs(`user ${user_id} has business ${id}, ${name}, which is not of this and stays`);
      if (deleted.has(id)) throw new Differs(`a business of user ${user_id} is still listed after its deletion`);
      await service.ok(`DELETE /business/${id}?name=${encodeURIComponent(name)}`);
      deleted.add(id);
    }
  }
}

/** The numbers of the databases that are bound: the list of all businesses goes from one to the next. */
async function databasesOf(service: DeployedService): Promise<{ databases: number[]; problems: string[] }> {
  const databases: number[] = [];
  for (let database: number | null = 0; database !== null; ) {
    databases.push(database);
    // After the last id of a database, only the next one follows.
    const after: number = (database + 1) * IDS_PER_DATABASE - 1;
    const { outcome, data }: Answer<Listed> = await service.send(`GET /business?limit=1&after=${after}`);
    if (outcome !== '200')
      return {
        databases,
        problems: [`the list of ${bindingOf(database)} is ${outcome}, so what follows is not known`],
      };
    database = data.next === null ? null : data.next / IDS_PER_DATABASE;
  }
  return { databases, problems: [] };
}

/**
 * The databases, each with a user who is there. Without a home, the user with the number of a database gets it. One who has another
 * home is taken for that one.
 */
async function placesIn(service: DeployedService): Promise<{ places: Place[]; problems: string[]; said: string }> {
  const { databases, problems } = await databasesOf(service);
  const open = new Set(databases);
  const places: Place[] = [];
  for (const [index, user_id] of USERS.entries()) {
    const database = open.has(index) ? index : [...open][0];
    if (database === undefined) break;
    const place = new Place(service, user_id, database);
    const answer = await service.send('POST /business', { body: place.fields({ database }) });
    const home = answer.outcome === '200' ? database : homeIn(answer);
    if (home === null) {
      open.delete(database);
      problems.push(`${bindingOf(database)}: POST /business is ${answer.outcome} ${answer.text}`);
    } else if (open.delete(home)) places.push(new Place(service, user_id, home));
  }
  const names = places.map(({ database }) => bindingOf(database)).sort();
  const others = [...open].map(bindingOf);
  const unseen = `; not looked at: ${others.join(', ')}, because there are ${USERS.length} users for this`;
  return { places, problems, said: `${names.join(', ')}${others.length === 0 ? '' : unseen}` };
}

/** The database of a user, where the service says that it is another than the one that was asked for. */
function homeIn({ outcome, text }: Answer): number | null {
  const [, home] = (outcome === '422 invalid_input' && /"database must be (\d+): user /.exec(text)) || [];
  return home === undefined ? null : Number(home);
}

function timesOf({ databaseMs }: DeployedService): string {
  if (databaseMs.length === 0) throw new Differs('none does');
  const sorted = databaseMs.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `of ${sorted.length}, half within ${middle} ms, all within ${sorted.at(-1)} ms`;
}
