import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AttackedService, type AttackReport } from '../../bench/attacked-service.ts';
import { programWords } from '../support/program-words.ts';

/** Some 120 MB of texts at once, more than twice of what all queries may have. The long form has all attacks. */
const ATTACK = {
  name: 'ORDER BY over long texts',
  sql: 'SELECT ARRAY_LENGTH(ARRAY_AGG(t ORDER BY t DESC)) AS n FROM (SELECT REPEAT(event_message, 200) AS t FROM entries)',
};

let service: AttackedService;
before(async () => {
  service = await AttackedService.start(programWords('src/main.ts'), { limitMib: 256 });
  await service.takeIn(5_000);
});
after(() => service.stop());

test(`the process stays within 256 MiB plus 150 MB: ${ATTACK.name}`, async () => {
  const report = await service.attack(ATTACK);
  expectWithin(report);
  // V8's own limit of a thread's heap is the net below: Node 24 lets a heap grow faster between two looks at it.
  const refused = new Set(['query_limit', 'worker_lost']);
  assert.deepEqual(
    report.outcomes.filter((outcome) => !refused.has(outcome)),
    [],
  );
});

test('the process stays within it while callers do not read their answers', async () => {
  expectWithin(await service.askWithoutReading(6, 100));
  expectWithin(await service.followWithoutReading(40, 100));
});

test('normal queries are answered after that', async () => {
  const { outcomes } = await service.askAsUsual();
  assert.deepEqual(outcomes, ['200', '200', '200']);
});

function expectWithin({ peakBytes, peakBytesMax, outcomes }: AttackReport): void {
  assert.ok(peakBytes <= peakBytesMax, `${peakBytes} of ${peakBytesMax}: ${outcomes}`);
}
