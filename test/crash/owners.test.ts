import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Random } from '../../src/demo/traffic/random.ts';
import { budgetOf } from '../support/budget.ts';
import { numberFrom } from '../support/environment.ts';
import { newOwnersTally, OwnersSchedule } from './owners.ts';

/** `WEIR_OWNER_SCHEDULES=300` is the long form. */
const SCHEDULE_COUNT = budgetOf('WEIR_OWNER_SCHEDULES', { fast: 4, all: 100 });

/** Each kind of step must happen this often; few schedules may lack one by chance, so more of them follow. */
const STEPS_MIN = SCHEDULE_COUNT / 4;
const SCHEDULES_MAX = 5 * SCHEDULE_COUNT;

const SEED = numberFrom('WEIR_FUZZ_SEED', 1);

test(`what any owner of a folder acknowledged exists once, in ${SCHEDULE_COUNT} schedules of stops, kills and takeovers`, async () => {
  const tally = newOwnersTally();
  const isLacking = () => Object.values(tally).some((count) => count < STEPS_MIN);
  for (let index = 0; index < SCHEDULE_COUNT || (isLacking() && index < SCHEDULES_MAX); index++) {
    const seed = SEED + index;
    try {
      await OwnersSchedule.run(new Random(seed), tally);
    } catch (error) {
      assert.fail(`WEIR_FUZZ_SEED=${seed} WEIR_OWNER_SCHEDULES=1: ${inspect(error)}`);
    }
  }
  console.log(tally);
  for (const [what, count] of Object.entries(tally)) {
    assert(count >= STEPS_MIN, `${what}: ${count}`);
  }
});
