import type { SqlType } from '../../column/type.ts';
import { BOOL, DYNAMIC, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { isNested } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import { scalarFunction, typed } from '../definition.ts';
import { nestedText } from '../json/json-text.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { caseFold } from './case-fold.ts';
import { normalForm } from './normal-form.ts';
import { holdsText } from './text-places.ts';

/** CONTAINS_SUBSTR: a text anywhere in a value, whatever the case of its letters. */
export const containsFunctions: readonly ScalarFunction[] = [
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

let latest: { readonly text: string; readonly comparable: string } | undefined;

/** As texts are compared here: letters that look alike are one, and so are a capital and its small letter. */
function comparable(text: string): string {
  if (latest?.text === text) return latest.comparable;
  const isAscii = !NOT_ASCII.test(text);
  const folded = isAscii
    ? text.toLowerCase()
    : normalForm(caseFold(normalForm(text, 'NFKC')), 'NFKC');
  latest = { text, comparable: folded };
  return folded;
}

const NOT_ASCII = /[^\0-\x7f]/;
