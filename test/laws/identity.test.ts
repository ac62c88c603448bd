import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { randomEvents } from '../random-sql/events.ts';
import { randomQuery } from '../random-sql/random-query.ts';
import { render } from '../random-sql/render.ts';
import { NOW, us } from '../scripts/script.ts';
import { runsOf } from '../support/budget.ts';
import type { HttpAnswer } from '../support/http-client.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

const SOURCE = 'postgres.logs';
const NOW_US = us(NOW);
const DEFINITION_COUNT = runsOf(25);
const CALLS_PER_DEFINITION = 3;

const TEXTS = ['x', '', "it's", 'é & ü', 'a+b', '%41'];
const NUMBERS = ['0', '7', '-1', '9007199254740993'];

type Definition = {
  readonly id: string;
  readonly name: string;
  readonly alias: string;
  readonly text: string;
};

function randomDefinition(random: Random, index: number): Definition {
  const words = ['logs', 'Usage', 'by-hour', 'a_b', '7'];
  const name = [random.pick(words), `n${index}`, random.pick(words)]
    .slice(random.below(2))
    .join('.');
  const alias = `other.${index}`;
  const id = random.uuid();
  const query = render(randomQuery(random)).replaceAll('logs AS', `\`${SOURCE}\` AS`);
  const text = [
    `-- id: ${id}`,
    `-- name: ${name}`,
    `-- alias: ${alias}`,
    `-- max_rows: ${random.pick([1, 3, 1000])}`,
    `-- param: word string ${random.pick(['', 'default=x', 'required'])}`.trimEnd(),
    `-- param: number int64 ${random.pick(['', 'default=-5', 'from=other'])}`.trimEnd(),
    '',
    `SELECT q.*, @word AS word, @number AS number FROM (${query}) AS q`,
    '',
  ].join('\n');
  return { id, name, alias, text };
}

function randomParameters(random: Random): Record<string, string> {
  const parameters: Record<string, string> = {};
  if (random.below(4) > 0) parameters['word'] = random.pick(TEXTS);
  if (random.below(3) > 0) parameters['number'] = random.pick(NUMBERS);
  if (random.below(4) === 0) parameters['other'] = random.pick(NUMBERS);
  return parameters;
}

/**
 * The JSON body that says what a query string of these says: there an empty text is the default, where there is one, and in
 * a body it is a value.
 */
function bodyOf({ text }: Definition, parameters: Readonly<Record<string, string>>): string {
  const { word, ...others } = parameters;
  const isDefault = word === '' && text.includes('default=x');
  return JSON.stringify(isDefault ? others : parameters);
}

/** The bytes of an answer; a refusal names the request it is of. */
function withoutRequestId({ status, text }: HttpAnswer): readonly [number, string] {
  return [status, status === 200 ? text : text.replace(/"request_id":"[^"]*"/, '')];
}

/** Some random queries take longer than a query may, on a busy machine more: they say nothing. */
function isLate({ status }: HttpAnswer): boolean {
  return status === 504;
}

test('law 6: by id, by name and by alias: the same bytes, for any definition and parameters', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const random = new Random(seed);
  const folder = await mkdtemp(join(tmpdir(), 'weir-identity-'));
  context.after(() => rm(folder, { recursive: true }));
  const definitions = Array.from({ length: 4 * DEFINITION_COUNT }, (_, index) =>
    randomDefinition(random, index),
  );
  for (const { id, text } of definitions) await writeFile(join(folder, `${id}.sql`), text);
  const service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder });
  context.after(() => service.stop());
  const events = randomEvents(random, { count: 40, isMixed: true })
    .filter((event) => event.timestampUs <= NOW_US)
    .map(({ timestampUs, ...event }) => ({ ...event, timestamp: timestampUs }));
  await service.post(SOURCE, events, NOW_US);

  const answers = { success: 0, refusal: 0, late: 0 };
  for (const [index, definition] of definitions.entries()) {
    const { id, name, alias, text } = definition;
    // A few queries may all be refused: then more of them are called.
    if (index >= DEFINITION_COUNT && answers.success > DEFINITION_COUNT) break;
    for (let call = 0; call < CALLS_PER_DEFINITION; call++) {
      const parameters = randomParameters(random);
      const query = new URLSearchParams(parameters);
      const wanted = await service.ask('GET', `/api/endpoints/query/${id}?${query}`);
      if (isLate(wanted)) {
        answers.late++;
        continue;
      }
      answers[wanted.status === 200 ? 'success' : 'refusal']++;
      const asked = [
        ...[`query/${id.toUpperCase()}`, name, `query/${name}`, `query/name/${name}`, alias].map(
          (path) => service.ask('GET', `/api/endpoints/${path}?${query}`),
        ),
        ...[`query/${id}`, name].map((path) =>
          service.ask('POST', `/api/endpoints/${path}`, bodyOf(definition, parameters)),
        ),
      ];
      for (const got of await Promise.all(asked)) {
        if (isLate(got)) answers.late++;
        else assert.deepEqual(withoutRequestId(got), withoutRequestId(wanted), text);
      }
    }
  }
  assert.ok(answers.success > DEFINITION_COUNT, `answers: ${JSON.stringify(answers)}`);
  context.diagnostic(JSON.stringify(answers));
});
