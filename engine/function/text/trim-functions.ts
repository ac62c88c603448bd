import { STRING } from '../../column/type.ts';
import { ofBytes, scalarFunction, typed } from '../definition.ts';
import type { FunctionDoc } from '../function-doc.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { charactersOf } from './character.ts';

export const trimFunctions: readonly ScalarFunction[] = [
  trimming(
    'trim',
    [
      'The text without white space at both ends, or without the characters of the second argument. BYTES need the second argument.',
      "TRIM('/rest/v1/', '/')",
      "'rest/v1'",
    ],
    (text, set) => trimStart(trimEnd(text, set), set),
  ),
  trimming('ltrim', ['Like `TRIM`, at the start only.', "LTRIM('007', '0')", "'7'"], trimStart),
  trimming('rtrim', ['Like `TRIM`, at the end only.', "RTRIM('line\\n')", "'line'"], trimEnd),
];

type Trim = (text: string, set: ReadonlySet<string> | undefined) => string;

/**
 * Without a second argument white space is taken off, else each of its characters. Of BYTES the
 * second must be given.
 */
function trimming(name: string, doc: FunctionDoc, trim: Trim): ScalarFunction {
  const overload: ScalarOverload = {
    parameters: [STRING, STRING],
    result: STRING,
    nulls: 'propagate',
    evaluate: typed((text: string, set?: string) =>
      trim(text, set === undefined ? undefined : new Set(set)),
    ),
  };
  return scalarFunction(name, doc, { ...overload, optionalCount: 1 }, ofBytes(overload));
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

function trimStart(text: string, set: ReadonlySet<string> | undefined): string {
  if (set === undefined) return text.replace(SPACES_BEFORE, '');
  const characters = charactersOf(text);
  const start = characters.findIndex((character) => !set.has(character));
  return start < 0 ? '' : characters.slice(start).join('');
}

function trimEnd(text: string, set: ReadonlySet<string> | undefined): string {
  if (set === undefined) return text.slice(0, spacesBehindStart(text));
  const characters = charactersOf(text);
  const last = characters.findLastIndex((character) => !set.has(character));
  return characters.slice(0, last + 1).join('');
}
