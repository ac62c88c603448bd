import { BOOL, INT64, STRING } from '../column/type.ts';
import { QueryError } from '../query-error.ts';
import type { Evaluate } from './definition.ts';
import { scalarFunction, typed } from './definition.ts';
import type { Int64 } from './int64.ts';
import { compileRegex } from './regular-expression.ts';
import type { ScalarFunction, ScalarOverload } from './scalar-function.ts';

export const textFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    '||',
    textToText(
      [STRING, STRING],
      typed((left: string, right: string) => left + right),
    ),
  ),
  scalarFunction('concat', {
    ...textToText([STRING], (...texts) => texts.join('')),
    variadic: STRING,
  }),
  scalarFunction(
    'lower',
    textToText(
      [STRING],
      typed((text: string) => text.toLowerCase()),
    ),
  ),
  scalarFunction(
    'upper',
    textToText(
      [STRING],
      typed((text: string) => text.toUpperCase()),
    ),
  ),
  ...['length', 'char_length', 'character_length'].map((name) =>
    scalarFunction(name, textToNumber([STRING], typed(codePointCount))),
  ),
  scalarFunction(
    'byte_length',
    textToNumber(
      [STRING],
      typed((text: string) => Buffer.byteLength(text)),
    ),
  ),
  scalarFunction(
    'starts_with',
    textTest(typed((text: string, start: string) => text.startsWith(start))),
  ),
  scalarFunction('ends_with', textTest(typed((text: string, end: string) => text.endsWith(end)))),
  scalarFunction('strpos', textToNumber([STRING, STRING], typed(positionOf))),
  scalarFunction(
    'regexp_contains',
    textTest(typed((text: string, pattern: string) => compileRegex(pattern).test(text))),
  ),
  scalarFunction('regexp_extract', textToText([STRING, STRING], typed(extractMatch))),
  scalarFunction(
    'replace',
    textToText(
      [STRING, STRING, STRING],
      typed((text: string, from: string, to: string) =>
        from === '' ? text : text.replaceAll(from, () => to),
      ),
    ),
  ),
  ...['substr', 'substring'].map((name) =>
    scalarFunction(name, {
      ...textToText([STRING, INT64, INT64], typed(substring)),
      optionalCount: 1,
    }),
  ),
  scalarFunction(
    'trim',
    trimming((text, set) => trimStart(trimEnd(text, set), set)),
  ),
  scalarFunction('ltrim', trimming(trimStart)),
  scalarFunction('rtrim', trimming(trimEnd)),
];

function textToText(parameters: ScalarOverload['parameters'], evaluate: Evaluate): ScalarOverload {
  return { parameters, result: STRING, nulls: 'propagate', evaluate };
}

function textToNumber(
  parameters: ScalarOverload['parameters'],
  evaluate: Evaluate,
): ScalarOverload {
  return { parameters, result: INT64, nulls: 'propagate', evaluate };
}

function textTest(evaluate: Evaluate): ScalarOverload {
  return { parameters: [STRING, STRING], result: BOOL, nulls: 'propagate', evaluate };
}

/** Code points, not UTF-16 units: a surrogate pair counts once. */
function codePointCount(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    if (isLowSurrogate(text, index) && isHighSurrogate(text, index - 1)) count--;
  }
  return count;
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}

/** STRPOS: in code points, from 1; 0 where there is none. */
function positionOf(text: string, wanted: string): number {
  const index = text.indexOf(wanted);
  return index < 0 ? 0 : codePointCount(text.slice(0, index)) + 1;
}

/** SUBSTR: `position` from 1, or from the end when negative; 0 counts as 1. In code points. */
function substring(text: string, position: Int64, length?: Int64): string {
  if (length !== undefined && length < 0) {
    throw new QueryError('query_failed', `SUBSTR takes a length of at least 0; got ${length}`);
  }
  const characters = [...text];
  const wanted = Number(position);
  const start =
    wanted > 0 ? wanted - 1 : wanted === 0 ? 0 : Math.max(0, characters.length + wanted);
  const end = length === undefined ? characters.length : start + Number(length);
  return characters.slice(start, end).join('');
}

/** REGEXP_EXTRACT: the group if the pattern has one, else the whole match. */
function extractMatch(text: string, pattern: string): string | null {
  const { program } = compileRegex(pattern);
  if (program.groupCount() > 1) {
    throw new QueryError(
      'query_failed',
      `REGEXP_EXTRACT takes a pattern with at most one group; got ${program.groupCount()}`,
    );
  }
  const matcher = program.matcher(text);
  return matcher.find() ? matcher.group(program.groupCount()) : null;
}

/** White space as Unicode has it; what JavaScript's own trim takes differs in U+0085 and U+FEFF. */
const SPACES_BEFORE = /^\p{White_Space}+/u;
const SPACE = /\p{White_Space}/u;

/** Where the white space at the end begins. White space is of one UTF-16 unit. */
function spacesBehindStart(text: string): number {
  let end = text.length;
  while (end > 0 && SPACE.test(text[end - 1]!)) end--;
  return end;
}

type Trim = (text: string, set: ReadonlySet<string> | undefined) => string;

/** Without a second argument white space is taken off, else each of its characters. */
function trimming(trim: Trim): ScalarOverload {
  return {
    ...textToText(
      [STRING, STRING],
      typed((text: string, set?: string) =>
        trim(text, set === undefined ? undefined : new Set(set)),
      ),
    ),
    optionalCount: 1,
  };
}

function trimStart(text: string, set: ReadonlySet<string> | undefined): string {
  if (set === undefined) return text.replace(SPACES_BEFORE, '');
  const characters = [...text];
  const start = characters.findIndex((character) => !set.has(character));
  return start < 0 ? '' : characters.slice(start).join('');
}

function trimEnd(text: string, set: ReadonlySet<string> | undefined): string {
  if (set === undefined) return text.slice(0, spacesBehindStart(text));
  const characters = [...text];
  const last = characters.findLastIndex((character) => !set.has(character));
  return characters.slice(0, last + 1).join('');
}
