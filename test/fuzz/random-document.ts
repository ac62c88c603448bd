import fc from 'fast-check';
import { anyCodePoint } from '../support/code-point.ts';
import type { Exact } from '../support/exact-json.ts';

/** Keys that are something else elsewhere, and ordinary ones. */
const KEY = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', '', 'a.b', 'a', 'A', 'id', 'timestamp'),
  fc.constantFrom('0', '1', '10', '01', '-1', '4294967295', 'metadata', 'project', 'é', '\u0000'),
  fc.string({ unit: anyCodePoint, maxLength: 4 }),
);

const SCALAR: fc.Arbitrary<Exact> = fc.oneof(
  fc.constantFrom(null, true, false, '', 0n, -1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.integer({ min: -1000, max: 1000 }).map(BigInt),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.string({ unit: anyCodePoint, maxLength: 12 }),
  // Halves of surrogate pairs, in any order.
  fc
    .array(fc.integer({ min: 0xd7ff, max: 0xe000 }), { maxLength: 4 })
    .map((units) => String.fromCharCode(...units)),
);

const { record } = fc.letrec<{ value: Exact; record: ReadonlyMap<string, Exact> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    SCALAR,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(tie('record'), { maxLength: 3 }),
    tie('record'),
  ),
  record: fc
    .uniqueArray(fc.tuple(KEY, tie('value')), { selector: ([key]) => key, maxLength: 6 })
    .map((entries) => new Map(entries)),
}));

/** What `metadata` may be: a map, or a list of maps. */
export const METADATA: fc.Arbitrary<Exact> = fc.oneof(
  record,
  fc.array(record, { minLength: 1, maxLength: 3 }),
);
