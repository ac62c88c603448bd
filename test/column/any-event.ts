import fc from 'fast-check';
import { anyCodePoint } from '../support/code-point.ts';
import { type EventValue, HugeNumber, type TestEvent } from './batch-of.ts';

const KEYS = ['a', 'A', 'b', '__proto__', 'constructor', '7', '', 'ä', 'Ä', '\ud800', 'k"\\\n'];

const scalar: fc.Arbitrary<EventValue> = fc.oneof(
  fc.constantFrom(null, true, false, 0, -0, 1, 'x', '', '\ud800', 'deadbeef00', 'DEADBEEF00'),
  fc.integer(),
  fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
  fc.constantFrom(2n ** 53n, -(2n ** 63n), 2n ** 63n, 10n ** 30n, 1e300, 5e-324),
  fc.string({ unit: anyCodePoint }),
  fc.uuid(),
  fc.constant(new HugeNumber('1e999')),
);

const { value, record } = fc.letrec<{ value: EventValue; record: ReadonlyMap<string, EventValue> }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      tie('record'),
      fc.array(tie('record'), { minLength: 1, maxLength: 3 }),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
    record: fc
      .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), tie('value')), {
        selector: ([key]) => key,
        maxLength: 5,
      })
      .map((entries) => new Map(entries)),
  }),
);

const event: fc.Arbitrary<TestEvent> = fc.record(
  {
    timestampUs: fc.integer({ min: 0, max: 4000 }).map((time) => time * 1000),
    event_message: fc.option(fc.string({ unit: anyCodePoint })),
    project: fc.option(fc.constantFrom('p', 'q', 'P')),
    metadata: fc.oneof(record, fc.array(record, { minLength: 1, maxLength: 3 })),
    extra: value,
  },
  { requiredKeys: ['timestampUs'] },
);

/** Some events of any shape, each of them several times: enough for some leaves to get columns. */
export const anyEvents = fc
  .array(fc.tuple(event, fc.constantFrom(1, 1, 9, 20)), { minLength: 1, maxLength: 6 })
  .map((pairs) => pairs.flatMap(([shape, times]) => Array.from({ length: times }, () => shape)));
