import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { VectorChunk } from '../../engine/column/chunk.ts';
import { INT64, STRING, TIMESTAMP } from '../../engine/column/type.ts';
import { constantVector, valueAt } from '../../engine/column/vector.ts';
import { compileExpression } from '../../engine/plan/evaluate.ts';
import type { Expression } from '../../engine/plan/expression.ts';
import { lateNumberOf } from '../../engine/plan/plan-cache.ts';
import { QueryError } from '../../engine/query-error.ts';

const CLOCK: Expression = { op: 'column', type: TIMESTAMP, id: 0 };

function call(name: string, parts: readonly Expression[]): Expression {
  return { op: 'call', type: TIMESTAMP, name, arguments: parts };
}

const text = (value: string): Expression => ({ op: 'literal', type: STRING, value });
const count = (value: number): Expression => ({ op: 'literal', type: INT64, value });

const PART = fc.constantFrom('MICROSECOND', 'SECOND', 'MINUTE', 'HOUR', 'day').map(text);
const COUNT = fc
  .oneof(fc.integer({ min: -100, max: 100 }), fc.constantFrom(2 ** 40, -(2 ** 52)))
  .map(count);
const STEP = fc.oneof(
  PART.map((part) => (time: Expression) => call('timestamp_trunc', [time, part])),
  fc.tuple(fc.constantFrom('timestamp_sub', 'timestamp_add'), COUNT, PART).map(
    ([name, shift, part]) =>
      (time: Expression) =>
        call(name, [time, shift, part]),
  ),
);

const CLOCK_US = fc.oneof(
  fc.integer({ min: -2_000_000, max: 2_000_000 }),
  fc.integer({ min: 1_700_000_000_000_000, max: 1_900_000_000_000_000 }),
  fc.constantFrom(253_402_300_799_000_000, -62_135_596_800_000_000, 0, 86_400_000_000),
);

/** In the plain way; `undefined` where that is an error. */
function plainly(expression: Expression, clockUs: number): unknown {
  try {
    const row = new VectorChunk([constantVector(clockUs, 1)], 1);
    return valueAt(compileExpression(expression, (id) => id)(row), 0);
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

test('a time in plain arithmetic is the one that functions give, or is left to them', () => {
  let numberCount = 0;
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 3 }), CLOCK_US, (steps, clockUs) => {
      const expression = steps.reduce<Expression>((time, step) => step(time), CLOCK);
      const number = lateNumberOf(expression, (node) => (node.op === 'column' ? 0 : undefined));
      const value = number?.(Float64Array.of(clockUs)) ?? Number.NaN;
      if (Number.isNaN(value)) return;
      numberCount += 1;
      equal(value, plainly(expression, clockUs));
    }),
    { numRuns: 500 },
  );
  equal(numberCount > 100, true, `${numberCount} times were computed`);
});

test('weeks, zones and what is no literal are left to the functions', () => {
  const indexOf = (node: Expression) => (node.op === 'column' ? 0 : undefined);
  for (const expression of [
    call('timestamp_trunc', [CLOCK, text('WEEK')]),
    call('timestamp_trunc', [CLOCK, text('DAY'), text('Europe/Berlin')]),
    call('timestamp_sub', [CLOCK, { op: 'column', type: INT64, id: 1 }, text('DAY')]),
    call('timestamp_sub', [CLOCK, count(1), text('MONTH')]),
  ]) {
    equal(lateNumberOf(expression, indexOf), undefined);
  }
});
