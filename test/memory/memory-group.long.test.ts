import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AttackedService } from '../../bench/attacked-service.ts';
import { HttpClient } from '../../bench/http-client.ts';
import { MemoryGroup } from '../../bench/memory-group.ts';
import { ServiceProcess } from '../../bench/service-process.ts';
import { readMetrics } from '../../bench/service-reading.ts';
import { QUERY_ATTACKS } from '../../bench/workload/memory-attacks.ts';
import { BESIDE_BYTES } from '../../src/memory-shares.ts';
import { budgetOf } from '../support/budget.ts';
import { programWords } from '../support/program-words.ts';

const MEBIBYTE = 1024 * 1024;
const LIMIT_MIB = 256;

const EVENT_COUNT = budgetOf('WEIR_ATTACKED_EVENTS', { fast: 30_000, all: 30_000 });

/** One of so many attacks is made; `npm run test:memory` makes all. */
const ATTACK_STEP = budgetOf('WEIR_GROUP_ATTACK_STEP', { fast: 6, all: 6 });

/** A memory cgroup for the time of a test; `undefined`, and the test left out, where none can be made. */
function groupOf(context: TestContext, bytesMax: number): MemoryGroup | undefined {
  const group = MemoryGroup.make(bytesMax);
  if (group === undefined) {
    context.skip(
      'no memory cgroup can be made below that of this process: that needs root, or a cgroup of its own',
    );
    return undefined;
  }
  context.after(() => group.remove());
  return group;
}

test(`a cgroup of ${LIMIT_MIB} MiB plus 150 MB is enough, whatever callers do`, async (context) => {
  const group = groupOf(context, LIMIT_MIB * MEBIBYTE + BESIDE_BYTES);
  if (group === undefined) return;
  const service = await AttackedService.start(programWords('src/main.ts'), {
    limitMib: LIMIT_MIB,
    group,
  });
  try {
    await service.takeIn(EVENT_COUNT);
    for (const attack of QUERY_ATTACKS.filter((_, index) => index % ATTACK_STEP === 0)) {
      await service.attack(attack);
      assert.equal(group.killedCount(), 0, attack.name);
    }
    await service.askWithoutReading(40, 2_000);
    await service.followWithoutReading(200, 2_000);
    assert.equal(group.killedCount(), 0, 'callers who read nothing');
    const { outcomes } = await service.askAsUsual();
    assert.deepEqual(outcomes, ['200', '200', '200']);
  } finally {
    await service.stop();
  }
});

test('without MEMORY_LIMIT the service uses half of its cgroup', async (context) => {
  const group = groupOf(context, 1024 * MEBIBYTE);
  if (group === undefined) return;
  const service = await ServiceProcess.start(
    programWords('src/main.ts'),
    {},
    undefined,
    group.nodeWords,
  );
  const client = new HttpClient(service.url, service.token, 1);
  try {
    const metrics = await readMetrics(client);
    assert.equal(metrics.get('weir_memory_limit_bytes'), 512 * MEBIBYTE);
  } finally {
    client.close();
    await service.stop();
  }
});

test('the kernel kills a process that exceeds its cgroup, and the group counts it', async (context) => {
  // Less than the main thread takes before the others have started.
  const group = groupOf(context, 32 * MEBIBYTE);
  if (group === undefined) return;
  await assert.rejects(
    ServiceProcess.start(programWords('src/main.ts'), {}, undefined, group.nodeWords),
    /the service ended/,
  );
  assert.ok(group.killedCount() > 0);
});
