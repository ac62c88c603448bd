import fc from 'fast-check';

const CHARACTERS = [
  'a',
  'b',
  'k',
  'S',
  '0',
  '_',
  '-',
  '/',
  '\n',
  ' ',
  'é',
  'ſ',
  '\u212a',
  '日',
  '😀',
];
const HALVES = ['\ud83d', '\ude00', '\ufffd'];

/** Texts of characters that patterns tell apart, halves of surrogate pairs among them. */
export const text = fc
  .array(fc.constantFrom(...CHARACTERS, ...HALVES, 'ab', 'abba'), { maxLength: 12 })
  .map((parts) => parts.join(''));

const atom = fc.constantFrom(
  ...['a', 'b', 'k', 's', 'ab', '-', '/', 'é', '日', '😀', '.', '(?s:.)', '[ab]', '[^a]', '[^/]'],
  ...['\\d', '\\w', '\\W', '\\s', '\\S', '[[:alpha:]]', '[a-k\\d]', '[é-日]', '\\pL', '\\PN'],
  ...['\\p{Greek}', '[\\x{10000}-\\x{10ffff}]', '\\x{d83d}', '[\\x{d800}-\\x{dfff}]', '\\x{fffd}'],
  ...['^', '$', '\\A', '\\z', '\\b', '\\B', '(?m:^)', '(?m:$)', '', '[^\\x00-\\x{10ffff}]'],
);

/** Patterns of RE2 with all kinds of operators, groups among them. */
export const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.array(tie('pattern'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '+?', '{2}', '{0,2}', '{1,}'))
      .map(([part, times]) => `(?:${part})${times}`),
    tie('pattern').map((part) => `(?i:${part})`),
    tie('pattern').map((part) => `(${part})`),
  ),
}));
