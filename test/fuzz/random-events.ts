import type { Random } from '../../src/demo/traffic/random.ts';
import type { JsonObject } from '../oracle/oracle.ts';
import { randomTime, randomTimeForm } from './random-time.ts';

/** Names that are alike, so that a prefix or another case taken for the name itself would show. */
export const PROJECTS = ['alpha', 'alphabet', 'alph', 'Alpha', 'beta', ''];

export const FUNCTION_IDS = ['f1', 'f2', 'F1', ''];

const PATHS = ['/rest/v1/a', '/storage/rest', '/auth/v1/realtime', '/realtime', '/Rest', '/', ''];

/** What no query expects in any place. */
const HOSTILE = [null, 7, 1.5, true, false, '', 'text', [], {}, [null], [7, 'x'], [[]], { f1: 1 }];

/** Values with their weights: `[3, x]` is drawn three times as often as `[1, y]`. */
type Weighted = readonly (readonly [weight: number, value: () => unknown])[];

function draw(random: Random, choices: Weighted): unknown {
  let ticket = random.below(choices.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, value] of choices) {
    ticket -= weight;
    if (ticket < 0) return value();
  }
  throw new Error('a ticket is below the sum of the weights');
}

/** An edge request, in `cloudflare.logs.prod`. */
export function randomEdgeEvent(random: Random, nowUs: number, id: string): JsonObject {
  return withoutUndefined({
    ...randomHead(random, nowUs),
    id,
    project: draw(random, [
      [12, () => random.pick(PROJECTS)],
      [1, () => random.pick([undefined, null, 7, true])],
    ]),
    metadata: randomMetadata(random, () => randomEdgeElement(random)),
  });
}

/** An invocation, in `deno-relay-logs`. */
export function randomInvocation(random: Random, nowUs: number, id: string): JsonObject {
  return withoutUndefined({
    ...randomHead(random, nowUs),
    id: random.pick([id, id, id, undefined, null, 7]),
    metadata: randomMetadata(random, () => randomInvocationElement(random)),
  });
}

function randomHead(random: Random, nowUs: number): JsonObject {
  const message = random.pick(['event_message', 'event_message', 'message']);
  return {
    timestamp: randomTimeForm(random, randomTime(random, nowUs), nowUs),
    [message]: random.pick(['GET /', 'Grüße 🦊', '', null, 7, true, undefined]),
    [random.pick(['level', 'request', 'm', 'bucket'])]: random.pick(HOSTILE),
  };
}

/** None, one map, or a list of up to three. */
function randomMetadata(random: Random, element: () => JsonObject): unknown {
  return draw(random, [
    [10, element],
    [6, () => Array.from({ length: random.below(4) }, element)],
    [1, () => random.pick([null, undefined, [], {}])],
  ]);
}

function randomEdgeElement(random: Random): JsonObject {
  return withoutUndefined({
    [randomKey(random, 'request')]: randomList(random, () => randomRequest(random)),
    response: random.pick([undefined, { status_code: 200 }, ...HOSTILE]),
    ...randomNoise(random),
  });
}

function randomRequest(random: Random): JsonObject {
  const project = random.pick(PROJECTS);
  const path = random.pick(PATHS);
  return withoutUndefined({
    [randomKey(random, 'url')]: draw(random, [
      [8, () => `https://${project}.supabase.co${path}?at=${random.below(9)}`],
      [1, () => random.pick([undefined, 'https://gamma/?next=alpha', 'é.🦊', ...HOSTILE])],
    ]),
    [randomKey(random, 'path')]: draw(random, [
      [8, () => path],
      [1, () => random.pick([undefined, ...HOSTILE])],
    ]),
  });
}

function randomInvocationElement(random: Random): JsonObject {
  return withoutUndefined({
    [randomKey(random, 'project_ref')]: draw(random, [
      [12, () => random.pick(PROJECTS)],
      [1, () => random.pick([undefined, ['alpha'], ...HOSTILE])],
    ]),
    function_id: draw(random, [
      [8, () => random.pick(FUNCTION_IDS)],
      [1, () => random.pick([undefined, ...HOSTILE])],
    ]),
    // Quarters: every sum of them is exact.
    [randomKey(random, 'execution_time_ms')]: draw(random, [
      [10, () => random.below(400) / 4],
      [2, () => (random.below(2_000_000) - 1_000_000) / 4],
      [1, () => random.pick([undefined, '7', ...HOSTILE])],
    ]),
    [randomKey(random, 'response')]: randomList(random, () => randomResponse(random)),
    ...randomNoise(random),
  });
}

function randomResponse(random: Random): JsonObject {
  return withoutUndefined({
    [randomKey(random, 'status_code')]: draw(random, [
      [8, () => random.pick([200, 204, 302, 399, 400, 401, 404, 500, 599])],
      [1, () => random.pick([undefined, 399.75, 400.25, -400, '500', ...HOSTILE])],
    ]),
    body: random.pick([undefined, { size: random.below(100) }]),
  });
}

/** A map, a list of up to three things, mostly maps, or something that is neither. */
function randomList(random: Random, record: () => JsonObject): unknown {
  return draw(random, [
    [8, record],
    [4, () => Array.from({ length: random.below(4) }, record)],
    [1, () => Array.from({ length: random.below(4) }, () => random.pick([record(), ...HOSTILE]))],
    [1, () => [[record()], record()]],
    [1, () => random.pick([undefined, ...HOSTILE])],
  ]);
}

/** Field names are read without regard to case. */
function randomKey(random: Random, key: string): string {
  return random.below(30) === 0 ? key.toUpperCase() : key;
}

/** Fields under names that mean something elsewhere. */
function randomNoise(random: Random): JsonObject {
  if (random.below(4) > 0) return {};
  const name = random.pick([
    'id',
    'timestamp',
    'project',
    'metadata',
    'r',
    '__proto__',
    'a.b',
    '0',
  ]);
  return Object.fromEntries([[name, random.pick([...HOSTILE, { id: 'x' }, [{ deep: [{}] }]])]]);
}

function withoutUndefined(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
