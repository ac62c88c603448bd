/**
 * Texts that programs stumble over, made of parts: each kind of character at each place where it may matter.
 * All are well-formed; halves of surrogate pairs stand apart.
 */
export function naughtyStrings(): readonly string[] {
  const texts = new Set<string>();
  for (const part of [...PARTS, ...controlCharacters()]) {
    for (const text of [part, `${part}a`, `a${part}`, `a${part}b`, part.repeat(3)]) texts.add(text);
  }
  for (const whole of WHOLE) texts.add(whole);
  return [...texts];
}

/** Escapes of terminals, ends of lines of every kind, and what ends texts in C. */
function controlCharacters(): readonly string[] {
  return [...range(0x00, 0x20), ...range(0x7f, 0xa0)].map((code) => String.fromCodePoint(code));
}

function range(start: number, end: number): readonly number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}

const PARTS: readonly string[] = [
  // What JSON, SQL, shells, HTML, URLs and patterns give a meaning.
  ...'"\'`\\/<>&;%$#@!?*+-=~^|(){}[],.:_ ',
  ...[
    '\\u0000',
    '\\n',
    '\\"',
    '%00',
    '%0d%0a',
    '&#0;',
    '$' + '{a}',
    '$(a)',
    '{{a}}',
    '<!--',
    ']]>',
  ],
  ...["' OR 1=1 --", '; DROP TABLE a', '/*', '*/', '--', '\\x1b[31m', '\u001b[2J', '\u009b31m'],
  // Ends of lines and spaces beyond ASCII, and what nobody sees.
  ...['\u2028', '\u2029', '\u0085', '\u00a0', '\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad'],
  // Directions, marks that combine, and forms of one text that are not the same bytes.
  ...['\u202e', '\u2066', '\u061c', 'e\u0301', '\u00e9', '\u0345', 'a\u0328\u0301\u0323', '\ufb01'],
  // Beyond 16 bits, the last of planes, and what is no character.
  ...['\u{1f600}', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '\u{1f1e6}\u{1f1f9}', '\u{10000}'],
  ...['\u{10ffff}', '\uffff', '\ufffe', '\ufffd', '\ud7ff', '\ue000', '\u{e0001}', '\u{20000}'],
  // Letters whose case changes their length, or differs by language.
  ...['\u0130', '\u0131', '\u00df', '\u1e9e', '\u01c5', '\u03c2', '\ufb03', '\u212a', '\u0149'],
];

const WHOLE: readonly string[] = [
  '',
  ' ',
  // What other programs take for something that is no text.
  ...[
    'null',
    'NULL',
    'undefined',
    'true',
    'false',
    'NaN',
    'Infinity',
    '-0',
    '0x10',
    '1e309',
    '1e-400',
  ],
  ...['9007199254740993', '-9223372036854775808', '18446744073709551616', '1_000', '1,5', '\u0661'],
  ...['2026-01-15T11:55:00Z', '0000-00-00', '[]', '{}', '[[[[', '{"a":', '"', '\\', '""', "''"],
  // What objects of JavaScript have.
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then'],
  ...['__defineGetter__', 'length', 'toJSON', 'id', 'timestamp', 'metadata', 'event_message'],
  // Long ones, of one byte and of more.
  ...['a'.repeat(65_536), '\u00e9'.repeat(32_769), '\u{1f600}'.repeat(16_385), '\\'.repeat(10_000)],
  '\u0301'.repeat(5_000),
];
