import fc from 'fast-check';

const SURROGATES_START = 0xd800;
const SURROGATES_END = 0xe000;
const SURROGATE_COUNT = SURROGATES_END - SURROGATES_START;
const CODE_POINT_MAX = 0x10ffff;

/**
 * Any code point that is no surrogate: the same as fast-check's `unit: 'binary'`, which first makes a table of all
 * code points, with a second of processor time in each test file.
 */
export const anyCodePoint: fc.Arbitrary<string> = fc
  .nat({ max: CODE_POINT_MAX - SURROGATE_COUNT })
  .map(
    (index) => String.fromCodePoint(index < SURROGATES_START ? index : index + SURROGATE_COUNT),
    indexOfText,
  );

/** fast-check tries texts that are no code point, and expects an error. */
function indexOfText(text: unknown): number {
  const codePoint = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (codePoint === undefined || String.fromCodePoint(codePoint) !== text) {
    throw new Error('must be one code point');
  }
  if (codePoint < SURROGATES_START) return codePoint;
  if (codePoint < SURROGATES_END) throw new Error('must be no surrogate');
  return codePoint - SURROGATE_COUNT;
}
