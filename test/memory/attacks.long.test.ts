import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttackedService } from '../../bench/attacked-service.ts';
import { QUERY_ATTACKS } from '../../bench/workload/memory-attacks.ts';
import { budgetOf } from '../support/budget.ts';
import { programWords } from '../support/program-words.ts';

/** `npm run test:memory` takes 300,000: queries then make twice as much of them as the smaller limit is. */
const EVENT_COUNT = budgetOf('WEIR_ATTACKED_EVENTS', { fast: 30_000, all: 30_000 });

const LIMIT_MIB_MAX = budgetOf('WEIR_ATTACKED_MIB_MAX', { fast: 256, all: 256 });

for (const limitMib of [256, 1024].filter((mib) => mib <= LIMIT_MIB_MAX)) {
  test(`the process stays within ${limitMib} MiB plus 150 MB, whatever callers do`, async () => {
    const service = await AttackedService.start(programWords('src/main.ts'), { limitMib });
    try {
      const reports = [await service.takeIn(EVENT_COUNT)];
      for (const attack of QUERY_ATTACKS) reports.push(await service.attack(attack));
      reports.push(await service.askWithoutReading(40, 2_000));
      reports.push(await service.followWithoutReading(200, 2_000));
      const tooMuch = reports.filter(({ peakBytes, peakBytesMax }) => peakBytes > peakBytesMax);
      assert.deepEqual(tooMuch, []);
      const { outcomes } = await service.askAsUsual();
      assert.deepEqual(outcomes, ['200', '200', '200']);
    } finally {
      await service.stop();
    }
  });
}
