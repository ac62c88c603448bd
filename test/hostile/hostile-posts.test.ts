import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HOSTILE_POSTS, type HostilePost, requestOf } from '../../bench/workload/hostile-posts.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { RECEIVERS } from '../src/doors/receivers.ts';
import { budgetOf } from '../support/budget.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

/** Bytes of a hostile body before it is packed. */
const BODY_SIZE = budgetOf('WEIR_HOSTILE_BYTES', { fast: 30_000, all: 11_900_000 });

/** One post in so many is tried; of the next commit others. */
const POST_STEP = budgetOf('WEIR_HOSTILE_POST_STEP', { fast: 2, all: 1 });
const SEED = fuzzSeed();

/** Of the sender, who may post and nothing else; somebody else posts and calls meanwhile. */
const SENDER_TOKEN = 'a-public-token';

/** An answer has so many times the bytes of its post at most, and some more. */
const ANSWER_FACTOR = 25;
const ANSWER_BYTES_MIN = 4_096;

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({ PUBLIC_ACCESS_TOKEN: SENDER_TOKEN });
});

after(() => service.stop());

test('there are hostile posts for each receiver', () => {
  const tried = new Set(HOSTILE_POSTS.map(({ path }) => path));
  const paths = RECEIVERS.map(({ path }) => path.replace(/^\/api\/(?:logs|events)$/, '/logs'));
  assert.deepEqual(
    paths.filter((path) => !tried.has(path)),
    [],
  );
});

describe('a hostile post gets a success or a client error soon, and others are served', () => {
  for (const [index, post] of HOSTILE_POSTS.entries()) {
    if ((index + SEED) % POST_STEP === 0) test(post.name, () => attack(post));
  }
  test('afterwards', async (context) => {
    context.diagnostic(`seed ${SEED}: WEIR_FUZZ_SEED=${SEED} repeats the choice of posts`);
    await expectOthersServed();
  });
});

async function attack(post: HostilePost): Promise<void> {
  const { headers, body, size } = requestOf(post, BODY_SIZE);
  const path = post.path === '/_bulk' ? post.path : `${post.path}?source_name=gotrue.logs.prod`;
  const attacks = Array.from({ length: post.atOnce ?? 1 }, () =>
    service.ask('POST', path, body, { 'X-API-KEY': SENDER_TOKEN, ...headers }),
  );
  await expectOthersServed();
  for (const { status, text } of await Promise.all(attacks)) {
    assert.ok(status >= 200 && status < 500 && status !== 404, `${status} ${text.slice(0, 500)}`);
    assert.ok(
      text.length <= ANSWER_FACTOR * size + ANSWER_BYTES_MIN,
      `${text.length} bytes for ${size}`,
    );
  }
  assert.deepEqual(
    service.entries.filter(({ level }) => level === 'error'),
    [],
  );
}

async function expectOthersServed(): Promise<void> {
  const posted = await service.ask('POST', '/logs?source_name=postgres.logs', '[{"a":1}]');
  assert.equal(posted.status, 200, posted.text);
  const path = '/api/endpoints/usage.api-counts?project=a&interval=hourly';
  const called = await service.ask('GET', path);
  assert.equal(called.status, 200, called.text);
}
