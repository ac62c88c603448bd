import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { ApiDocument } from '../support/api-document.ts';
import { budgetOf } from '../support/budget.ts';
import { answerProblem, findOperation } from './answer-problem.ts';
import { GuardedService, tokenText } from './guarded-service.ts';
import { type RandomRequest, randomRequest, validRequest } from './random-request.ts';
import { exchange, headOf } from './raw-exchange.ts';

/** Requests to each of the two profiles, or more if there are many operations; `npm run test:routes` sends a hundred thousand in all. */
const REQUESTS = Math.ceil(budgetOf('WEIR_ROUTE_REQUESTS', { fast: 500, all: 3_000 }) / 2);
const SEED = fuzzSeed();

/** Requests under way at once. */
const SENDERS = 8;

/** How often each operation is asked as it wants to be. */
const VALID_ROUNDS = 3;

/** More say no more. */
const PROBLEMS_MAX = 20;

const DEFINITION = `-- id: 3d0f9a52-61c4-4d6f-9d6a-6f1f6a0f9b11
-- name: app.kinds
-- cache: 60s
-- sandbox: enabled
-- param: project string required
-- param: level string enum(low, high) default=low
-- param: days int64 default=1
-- param: share float64
-- param: deep bool default=false
-- param: since timestamp default=2026-01-01T00:00:00Z
WITH kinds AS (
  SELECT @project AS project, @level AS level, @days AS days, @share AS share, @deep AS deep, @since AS since
)
SELECT * FROM kinds
`;

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  await writeFile(join(folder, 'kinds.sql'), DEFINITION);
});

after(() => rm(folder, { recursive: true }));

for (const profile of ['default', 'supabase']) {
  test(`profile ${profile}: any request gets a documented answer (seed ${SEED})`, async () => {
    const service = await GuardedService.start({ PROFILE: profile, ENDPOINTS_DIR: folder });
    try {
      await fuzz(service);
    } finally {
      await service.stop();
    }
  });
}

/**
 * Operations on what no document names: a query is there while it runs, a ticket until it is used, and the files of the console have a hash in
 * their names. `test/src/http/named-runs.test.ts`, `test/src/http/tickets.test.ts` and `test/console` show that they succeed.
 */
const UNGUESSED: ReadonlySet<string> = new Set([
  'get.api.query.runs.id',
  'delete.api.query.runs.id',
  'get.api.query.tickets.id',
  'get.console.file',
]);

async function fuzz(service: GuardedService): Promise<void> {
  const document = await documentOf(service);
  const disposable = new Map([
    ['/api/tokens', await make(service, '/api/tokens', (name) => ({ name, scopes: ['ingest'] }))],
    [
      '/api/endpoints',
      await make(service, '/api/endpoints', (name) => ({ name, query: 'SELECT 1 AS one' })),
    ],
  ]);
  const port = Number(new URL(service.url).port);
  // Of seeds that follow a rule, the first draws of an operation's requests may be the same.
  const seedRandom = new Random(SEED);
  const { operations } = document;
  const count = Math.max(REQUESTS, VALID_ROUNDS * operations.length);
  const seeds = Array.from({ length: count }, () => seedRandom.below(2 ** 32));
  const problems: string[] = [];
  const answered = new Map<string, number>();
  const sendOne = async (index: number): Promise<void> => {
    const random = new Random(seeds[index]!);
    // What each operation is for is asked first, of all of them in turn.
    const isAsWanted = index < VALID_ROUNDS * operations.length;
    const request = isAsWanted
      ? validRequest(random, operations[index % operations.length]!, disposable)
      : randomRequest(random, random.pick(operations), disposable);
    const answer = await exchange(port, request);
    if (answer === undefined) {
      // Who breaks off in the midst of a request may be hung up on in the midst of the answer, and so may
      // who asks whether to send a body, and sends it all the same.
      const isTold = request.headers.some(([name]) => name === 'Expect');
      if (!isTold && !/cut off|broken/.test(request.delivery)) {
        problems.push(described(index, request, 'no answer'));
      }
      return;
    }
    const problem = answerProblem(document, request, answer);
    if (problem !== undefined)
      problems.push(described(index, request, `${answer.status}: ${problem}`));
    const operation = findOperation(document, request);
    if (operation === undefined || answer.status >= 300) return;
    const { operationId } = operation.object;
    answered.set(operationId, (answered.get(operationId) ?? 0) + 1);
  };
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < count && problems.length < PROBLEMS_MAX) await sendOne(next++);
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  deepEqual(problems, []);
  checkLog(service);
  const unreached = operations.filter(
    ({ object: { operationId } }) => !answered.has(operationId) && !UNGUESSED.has(operationId),
  );
  deepEqual(
    unreached.map(({ object }) => object.operationId),
    [],
    'each operation has done once what it is for',
  );
  const health = await service.client.ask({ method: 'GET', path: '/health' });
  equal(health.status, 200, 'the service is well');
}

/** The ids of things that nobody needs. */
async function make(
  { client }: GuardedService,
  path: string,
  thing: (name: string) => object,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < 50; index++) {
    const { text } = await client.ask({
      method: 'POST',
      path,
      headers: { 'X-API-KEY': tokenText('all'), 'Content-Type': 'application/json' },
      body: JSON.stringify(thing(`disposable-${index}`)),
    });
    ids.push(JSON.parse(text).result.id);
  }
  return ids;
}

/** Refusals are no mistakes of ours, and tokens are nobody's to read. */
function checkLog({ entries }: GuardedService): void {
  deepEqual(
    entries.filter(
      ({ level, code }) => level === 'error' && (code === 'internal' || code === undefined),
    ),
    [],
  );
  const text = JSON.stringify(entries);
  ok(!text.includes('secret-'), 'no token is in the log');
}

async function documentOf({ client }: GuardedService): Promise<ApiDocument> {
  const headers = { 'X-API-KEY': tokenText('all') };
  const { text } = await client.ask({ method: 'GET', path: '/api/openapi.json', headers });
  return new ApiDocument(JSON.parse(text));
}

function described(index: number, request: RandomRequest, problem: string): string {
  const body = request.body === undefined ? '' : request.body.subarray(0, 200).toString('latin1');
  const head = headOf(request)
    .replaceAll(/x{40,}/g, 'xxx')
    .slice(0, 1_000);
  return `request ${index}, ${request.delivery}: ${problem.slice(0, 500)}\n${head}${body}`;
}
