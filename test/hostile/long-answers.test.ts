import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { StepCounter, totalOf } from './step-counter.ts';

const UNIT_COUNT = 1_000_000;

/** Of one text of an answer; a caller may ask for many megabytes of them. */
const STEPS_MAX = UNIT_COUNT / 100;

const counter = new StepCounter('/engine/');
after(() => counter.close());

test('a long text of an answer is written in few steps', () => {
  for (const character of ['a', 'é', '語']) {
    const buffer = new JsonBuffer();
    const text = character.repeat(UNIT_COUNT);
    const steps = totalOf(counter.count(() => buffer.string(text)));
    assert.equal(Buffer.from(buffer.written()).toString(), `"${text}"`);
    assert.ok(steps <= STEPS_MAX, `${steps} steps for ${UNIT_COUNT} of ${character}`);
  }
});
