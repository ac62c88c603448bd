/**
 * Regular expressions that hold up one kind of engine or another: repetitions within repetitions, ways to match
 * the same text that multiply, programs and sets of states that grow, classes of many characters.
 */
export function evilPatterns(): readonly string[] {
  return [
    ...ambiguousPatterns(),
    ...countedPatterns(),
    ...widePatterns(),
    ...classPatterns(),
    ...groupPatterns(),
    ...emptyLoops(),
  ];
}

const COUNTS: readonly number[] = [2, 5, 10, 30, 100, 300, 1000];

/** A backtracking engine tries exponentially many ways. */
function ambiguousPatterns(): readonly string[] {
  const cores = ['(a+)+', '(a*)*', '(a|a)*', '(a|aa)+', '(a?a?)*', '(.*)*', '(.+)+', '(\\w+\\s?)*'];
  const ends = ['$', 'b', '!$', '[^a]x', '\\b\\B'];
  return [
    ...cores.flatMap((core) => ends.map((end) => `${core}${end}`)),
    ...[2, 3, 5, 10].map((depth) => `${'('.repeat(depth)}a${'+)+'.repeat(depth)}!`),
    ...[5, 10, 20, 40].map((count) => `${'.*a'.repeat(count)}!`),
    ...[5, 10, 20, 40].map((count) => `${'(a|b)*c?'.repeat(count)}!`),
    ...[10, 25, 50, 100].map((count) => `${'a?'.repeat(count)}${'a'.repeat(count)}!`),
  ];
}

/** The program, or what is remembered of a text, is as long as the count. */
function countedPatterns(): readonly string[] {
  const items = ['a', '.', '[ab]', '(a|b)', '\\w', '(ab?)', '\\pL'];
  return [
    ...items.flatMap((item) => COUNTS.map((count) => `${item}{${count}}!`)),
    ...items.flatMap((item) => COUNTS.map((count) => `a${item}{1,${count}}b!`)),
    // Which of so many last characters were an "a" is 2^count states.
    ...COUNTS.map((count) => `a.{${count}}!`),
    ...COUNTS.map((count) => `(a|b)*a(a|b){${count}}!`),
    ...[2, 5, 10, 30].flatMap((count) => [
      `((a{${count}}){${count}}){${count}}`,
      `((a{0,${count}}){0,${count}}){0,${count}}!`,
      `(((x?){${count}}){${count}}y?)*!`,
    ]),
  ];
}

/** As many branches as the pattern has room for. */
function widePatterns(): readonly string[] {
  const words = (count: number, word: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => word(index)).join('|');
  return [
    ...[10, 50, 100, 250].map((count) => `(${words(count, (index) => `a${index}`)})!`),
    ...[10, 50, 100, 250].map((count) => `(${words(count, (index) => `${index}z`)})*!`),
    ...[10, 50, 100].map((count) => `(${words(count, (index) => `.${index}.`)})+!`),
    ...[10, 30, 60].map((count) => `(${words(count, (index) => `a{${index}}b`)})!`),
    ...[3, 10, 25].map((count) => `(${words(count, (index) => `.*${index}.*x`)})!`),
  ];
}

/** Classes of many ranges, each of several bytes, in any case. */
function classPatterns(): readonly string[] {
  const classes = [
    '\\pL',
    '\\PL',
    '\\p{Greek}',
    '\\p{Han}',
    '\\pN',
    '[^a]',
    '[\\x{100}-\\x{10ffff}]',
  ];
  return [
    ...classes.flatMap((each) => [1, 5, 20, 80].map((count) => `${each.repeat(count)}!`)),
    ...classes.map((each) => `(${each}|${each}${each})*!`),
    ...classes.map((each) => `(?i)(${each}a)*!`),
    ...[10, 100, 300].map((count) => `(?i)${'ſkßK'.repeat(count / 4)}!`),
    ...[1, 5, 20].map((count) => `[${'\\pL\\pN\\pS'.repeat(count)}]*!`),
  ];
}

/** Groups to be remembered for each place that a match may have reached. */
function groupPatterns(): readonly string[] {
  return [
    ...[5, 50, 150, 300].map((count) => `${'(a)?'.repeat(count)}!`),
    ...[5, 50, 150].map((count) => `${'('.repeat(count)}a${')*'.repeat(count)}!`),
    ...[5, 20, 60].map((count) => `${'(.*)'.repeat(count)}!`),
    ...[5, 20, 60].map((count) => `(${'(a|b)'.repeat(count)})*!`),
    ...[300, 500].map((count) => `${'('.repeat(count)}${')'.repeat(count)}`),
  ];
}

/** What matches nothing, again and again. */
function emptyLoops(): readonly string[] {
  const empties = ['()*', '(|a)*', '(a*|b*)*', '(^)*', '(\\b)*', '($)*', '(a?){0,100}', '(|){100}'];
  return [
    ...empties.flatMap((each) => [`${each}!`, `(${each})*!`, `(${each}${each})+!`, `^${each}$`]),
    ...[10, 100, 200].map((count) => `${'(|a)'.repeat(count)}!`),
    ...[10, 50, 100].map((count) => `(?:${'(?:a*)*'.repeat(count)})*!`),
    ...[10, 50].map((count) => `${'(^|a)*'.repeat(count)}!`),
  ];
}

/** 100 KB each. They begin with what most patterns end with, or they would be decided by its lack. */
export function evilTexts(): readonly string[] {
  return [
    `!${'a'.repeat(100_000)}`,
    `!${Array.from({ length: 100_000 }, (_, index) => String.fromCharCode(97 + ((index * 7919 + (index >> 3)) % 26))).join('')}`,
    `!${'éa😀'.repeat(25_000)}`,
  ];
}
