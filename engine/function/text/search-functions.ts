import { INT64, STRING } from '../../column/type.ts';
import { QueryError } from '../../query-error.ts';
import { scalarFunction, textAndBytes, typed } from '../definition.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { characterCount, charactersOf } from './character.ts';
import { positionMeasure } from './text-measures.ts';
import { indexOfText, placesOf } from './text-places.ts';

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
