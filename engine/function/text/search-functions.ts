import { keepLast } from '../../column/caches.ts';
import { nestedText } from '../../column/json-nested.ts';
import { BOOL, DYNAMIC, INT64, type SqlType, STRING } from '../../column/type.ts';
import { isNested, type SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import type { Int64 } from '../number/int64.ts';
import { type ScalarFunction, scalarFunction, textAndBytes, typed } from '../scalar-function.ts';
import { caseFold, normalForm } from './letter-functions.ts';
import {
  characterCount,
  charactersOf,
  holdsText,
  indexOfText,
  placesOf,
  positionMeasure,
} from './text-units.ts';

export const searchFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'strpos',
    [
      'The position, from 1, at which the second text or BYTES first occurs in the first; 0 if it does not.',
      "STRPOS('a/b/c', '/')",
      '2',
    ],
    ...textAndBytes({
      parameters: [STRING, STRING],
      result: INT64,
      nulls: 'propagate',
      facts: { fails: 'never', isPosition: true },
      evaluate: typed(positionOf),
      measure: ([wanted]) => positionMeasure(wanted!),
    }),
  ),
  scalarFunction(
    'instr',
    [
      'Like `STRPOS`, starting from the position in the third argument; a negative one counts from the end and searches backwards. The fourth argument is the occurrence (default 1).',
      "INSTR('a/b/c', '/', -1)",
      '4',
    ],
    ...textAndBytes({
      parameters: [STRING, STRING, INT64, INT64],
      optionalCount: 2,
      result: INT64,
      nulls: 'propagate',
      evaluate: typed(occurrenceOf),
    }),
  ),
  scalarFunction(
    'contains_substr',
    [
      'Whether a value contains a text, ignoring case. A record, list or JSON value is searched in all its fields and elements, without field names. An error if the text is NULL.',
      "CONTAINS_SUBSTR('Not Found', 'found')",
      'TRUE',
    ],
    {
      parameters: ['any', STRING],
      result: BOOL,
      nulls: 'handle',
      evaluate: typed(containing(DYNAMIC)),
      evaluateTyped: (types) => typed(containing(types[0]!)),
    },
  ),
];

/** STRPOS: in characters, from 1; 0 where there is none. */
function positionOf(text: string, wanted: string): number {
  const index = indexOfText(text, wanted);
  return index < 0 ? 0 : characterCount(text.slice(0, index)) + 1;
}

/**
 * INSTR: the start of the `occurrence`th place of `wanted` at `position` or behind it, or, when that
 * is negative and so counts from the end, before it. Places may overlap. 0 where there is none.
 */
function occurrenceOf(text: string, wanted: string, position: Int64 = 1, occurrence: Int64 = 1) {
  if (position === 0 || occurrence <= 0) {
    throw new QueryError(
      'query_failed',
      `INSTR takes a position other than 0 and an occurrence of at least 1; got ${position} and ${occurrence}`,
    );
  }
  const characters = charactersOf(text);
  const isForward = position > 0;
  if (wanted === '') {
    // There is an empty text before each character, and one behind the last.
    const last = characters.length + 1;
    const place = isForward
      ? Number(position) + Number(occurrence) - 1
      : last + Number(position) + 2 - Number(occurrence);
    return place >= 1 && place <= last ? place : 0;
  }
  const start = isForward ? Number(position) - 1 : characters.length + Number(position);
  if (start < 0 || start >= characters.length) return 0;
  // Places in UTF-16 units; a place between the halves of a pair is none of a whole text.
  let unit = characters.slice(0, start).join('').length;
  let left = Number(occurrence);
  if (isForward) {
    for (unit of placesOf(text, wanted, unit)) {
      if (--left === 0) return characterCount(text.slice(0, unit)) + 1;
    }
    return 0;
  }
  const places = [...placesOf(text.slice(0, unit + wanted.length), wanted)];
  const place = places.at(-left);
  return place === undefined ? 0 : characterCount(text.slice(0, place)) + 1;
}

function containing(type: SqlType): (value: SqlValue, wanted: string | null) => boolean | null {
  return (value, wanted) => {
    if (wanted === null) {
      throw new QueryError('query_failed', 'CONTAINS_SUBSTR takes a text to look for; got NULL');
    }
    return holds(value, type, comparable(wanted));
  };
}

/** NULL when no part holds it and a part is NULL: that one might. */
function holds(value: SqlValue, type: SqlType, wanted: string): boolean | null {
  if (value === null) return null;
  if (isNested(value)) return holdsInTexts(scalarsIn(nestedText(value)), wanted);
  if (type.kind === 'JSON') return holdsInTexts(scalarsIn(value as string), wanted);
  if (!Array.isArray(value)) {
    return holdsText(comparable(String(castValue(value, type, STRING, false))), wanted);
  }
  let found: boolean | null = false;
  for (const [index, part] of (value as readonly SqlValue[]).entries()) {
    const isHeld = holds(part, typeOfPart(type, index), wanted);
    if (isHeld === true) return true;
    if (isHeld === null) found = null;
  }
  return found;
}

function typeOfPart(type: SqlType, index: number): SqlType {
  if (type.kind === 'STRUCT') return type.fields[index]!.type;
  return type.kind === 'ARRAY' ? type.element : DYNAMIC;
}

function holdsInTexts(texts: Iterable<string | null>, wanted: string): boolean | null {
  let found: boolean | null = false;
  for (const text of texts) {
    if (text === null) found = null;
    else if (holdsText(comparable(text), wanted)) return true;
  }
  return found;
}

/** The strings, numbers and truth values of a JSON text, keys left out; NULL for each null. */
function* scalarsIn(json: string): Generator<string | null> {
  for (const [scalar, string, colon] of json.matchAll(SCALARS)) {
    if (colon !== undefined) continue;
    if (scalar === 'null') yield null;
    else yield string === undefined ? scalar : (JSON.parse(string) as string);
  }
}

const SCALARS = /("(?:[^"\\]|\\.)*")(\s*:)?|[^\s[\]{},":]+/g;

/** As texts are compared here: letters that look alike are one, and so are a capital and its small letter. */
const comparable = keepLast((text: string): string => {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return normalForm(caseFold(normalForm(text, 'NFKC')), 'NFKC');
});

const NOT_ASCII = /[^\0-\x7f]/;
