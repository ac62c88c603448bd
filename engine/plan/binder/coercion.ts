import { must } from '../../assert.ts';
import {
  arrayOf,
  BOOL,
  BYTES,
  DATE,
  DATETIME,
  DYNAMIC,
  FLOAT64,
  INT64,
  INTERVAL,
  isElement,
  isNumber,
  JSON_TYPE,
  NULL_TYPE,
  NUMBER,
  type SqlType,
  STRING,
  TIME,
  TIMESTAMP,
  typeName,
  typesEqual,
} from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { canCast } from '../../function/cast.ts';
import { fitsDynamic, readingBeside } from '../../function/dynamic.ts';
import { parseJson } from '../../function/json/json-value.ts';
import {
  parseDate,
  parseDatetime,
  parseTimeOfDay,
  parseTimestamp,
} from '../../function/time/timestamp-text.ts';
import { hint } from '../../nearest-name.ts';
import { QueryError, refuse, type Span } from '../../query-error.ts';
import type { TypeName } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import type { Binding } from './binding.ts';

/**
 * How far a type is from another, for choosing among overloads: 0 is the same, `undefined` that
 * GoogleSQL does not coerce it. Literals and parameters of type STRING become times; DYNAMIC is
 * read as what is wanted, times and BYTES excepted, for these are never found inside an event.
 */
export function coercionCost(expression: Expression, type: SqlType): number | undefined {
  const from = expression.type;
  if (typesEqual(from, type)) return 0;
  // A bare NULL among numbers is an INT64, as in GoogleSQL: half a step keeps it from the others.
  if (from.kind === 'NULL') return type.kind === 'FLOAT64' || type.kind === 'NUMBER' ? 0.5 : 0;
  if (type.kind === 'NUMBER') return NUMBER_COSTS.get(from.kind);
  if (from.kind === 'NUMBER') return isNumber(type) || type.kind === 'DYNAMIC' ? 1 : undefined;
  if (type.kind === 'DYNAMIC') return fitsDynamic(from) ? 1 : undefined;
  if (from.kind === 'DYNAMIC') return isReadable(type) || type.kind === 'JSON' ? 1 : undefined;
  if (from.kind === 'INT64' && type.kind === 'FLOAT64') return 1;
  if (from.kind === 'DATE' && type.kind === 'DATETIME') return 1;
  if (from.kind === 'STRING' && isTime(type)) return isGiven(expression) ? 2 : undefined;
  if (from.kind === 'ARRAY' && type.kind === 'ARRAY' && expression.op === 'array') {
    return costOfAll(expression.elements, () => type.element);
  }
  if (isDynamicList(type)) return isList(from) && fitsDynamic(from) ? 1 : undefined;
  if (isDynamicList(from) && type.kind === 'ARRAY') return isReadable(type) ? 1 : undefined;
  if (from.kind === 'STRUCT' && type.kind === 'STRUCT') {
    if (from.fields.length !== type.fields.length) return undefined;
    return costOfAll(fieldsOf(expression, from), (index) => type.fields[index]!.type);
  }
  return undefined;
}

/**
 * The arithmetic of fields is that of NUMBER, where no FLOAT64 stands beside them: this is nearer to both than
 * INT64 and FLOAT64 are.
 */
const NUMBER_COSTS: ReadonlyMap<string, number> = new Map([
  ['DYNAMIC', 0.25],
  ['INT64', 0.25],
  ['FLOAT64', 2],
]);

/** The expression as a value of the type, the coercion written out; `undefined` if there is none. */
export function coerce(
  expression: Expression,
  type: SqlType,
  binding: Binding,
): Expression | undefined {
  if (coercionCost(expression, type) === undefined) return undefined;
  const from = expression.type;
  if (typesEqual(from, type)) return expression;
  const origin = binding.originOf(expression);
  const coerced = writeCoercion(expression, type, binding);
  return origin === undefined ? coerced : binding.at(coerced, origin.span, origin.text);
}

/** The slow half of `coerce`: the cost has shown that there is a way. */
function writeCoercion(expression: Expression, type: SqlType, binding: Binding): Expression {
  const from = expression.type;
  if (from.kind === 'NULL') return typedNull(expression, type);
  if (from.kind === 'DYNAMIC' && type.kind === 'JSON') {
    return { op: 'call', type, name: 'json_of', arguments: [expression] };
  }
  if (from.kind === 'DYNAMIC') return { op: 'read-as', type, input: expression };
  if (expression.op === 'literal') {
    if (expression.value === null) return nullOf(type);
    if (type.kind === 'FLOAT64') return { op: 'literal', type, value: Number(expression.value) };
    if (type.kind === 'NUMBER') return { ...expression, type };
    if (type.kind === 'DYNAMIC' && isScalar(from)) return { ...expression, type };
    if (from.kind === 'STRING' && isTime(type)) {
      return textLiteral(String(expression.value), type.kind, binding.originOf(expression)?.span);
    }
  }
  const inner = (input: Expression, wanted: SqlType) => coerce(input, wanted, binding)!;
  if (expression.op === 'array' && type.kind === 'ARRAY') {
    const elements = expression.elements.map((element) => inner(element, type.element));
    return { op: 'array', type, elements };
  }
  const isField = from.kind === 'NUMBER' && type.kind !== 'DYNAMIC';
  if (isField || (isDynamicList(from) && type.kind === 'ARRAY')) {
    return { op: 'read-as', type, input: expression };
  }
  if (expression.op === 'struct' && type.kind === 'STRUCT') {
    const fields = type.fields.map((field, index) =>
      inner(must(expression.fields[index]), field.type),
    );
    return { op: 'struct', type, fields };
  }
  if (from.kind === 'STRUCT' && type.kind === 'STRUCT') {
    // The names of fields are no part of a value.
    if (hasSameValues(from, type)) return { ...expression, type };
    const values = fieldsOf(expression, from);
    const span = binding.originOf(expression)?.span;
    const fields = values.map((field, index) => {
      if (span !== undefined) binding.spendCopy(expression, span);
      return inner(field, type.fields[index]!.type);
    });
    const isNull: Expression = {
      op: 'call',
      type: BOOL,
      name: 'is_null',
      arguments: [expression],
    };
    const branches = [{ when: isNull, then: nullOf(type) }];
    return { op: 'case', type, branches, otherwise: { op: 'struct', type, fields } };
  }
  const span = binding.originOf(expression)?.span;
  return { op: 'cast', type, input: expression, safe: false, span };
}

/**
 * The type that all can be brought to, as branches of a CASE must; `undefined` if there is none. What stands
 * beside DYNAMIC becomes DYNAMIC, and keeps its kind; in lists, too. But JSON holds values of any kind. What is all taken
 * out of lists stays so.
 */
export function commonType(expressions: readonly Expression[]): SqlType | undefined {
  const typed = expressions.filter(({ type }) => type.kind !== 'NULL' && type.kind !== 'DYNAMIC');
  const hasDynamic = expressions.some(({ type }) => type.kind === 'DYNAMIC');
  if (typed.length === 0) {
    const fields = expressions.filter(({ type }) => type.kind === 'DYNAMIC');
    return fields.find(({ type }) => !isElement(type))?.type ?? fields[0]?.type ?? NULL_TYPE;
  }
  const fits = typed.every(({ type }) => fitsDynamic(type));
  const types = typed.map(({ type }) => type);
  if (hasDynamic && types.every(({ kind }) => kind === 'JSON')) return JSON_TYPE;
  if (hasDynamic) return fits ? DYNAMIC : undefined;
  if (types.every(isNumber)) return commonNumber(types);
  if (types.every((type) => type.kind === 'STRUCT')) return commonStruct(typed, types);
  const candidates = new Map(types.map((type) => [typeName(type), type]));
  const list = types.find(isDynamicList);
  if (list !== undefined) return fits && types.every(isList) ? list : undefined;
  const common = [...candidates.values()].find((candidate) =>
    expressions.every((expression) => coercionCost(expression, candidate) !== undefined),
  );
  if (common !== undefined) return common;
  // The arithmetic of fields gives lists of NUMBER, which stand beside lists of other numbers as lists of fields do.
  const isOfFields = types.every(isNumberList) && types.some(hasNumbers);
  return isOfFields ? arrayOf(DYNAMIC) : undefined;
}

function commonNumber(types: readonly SqlType[]): SqlType {
  if (types.some(({ kind }) => kind === 'NUMBER')) return NUMBER;
  return types.every(({ kind }) => kind === 'INT64') ? INT64 : FLOAT64;
}

/** Field by field; the names are those of the first. */
function commonStruct(
  expressions: readonly Expression[],
  types: readonly (SqlType & { readonly kind: 'STRUCT' })[],
): SqlType | undefined {
  const [first] = types;
  if (first === undefined || types.some(({ fields }) => fields.length !== first.fields.length)) {
    return undefined;
  }
  const records = expressions.map((each, row) => fieldsOf(each, types[row]!));
  const fields = first.fields.map(({ name }, index) => {
    const type = commonType(records.map((values) => values[index]!));
    return type === undefined ? undefined : { name, type };
  });
  if (fields.some((field) => field === undefined)) return undefined;
  return { kind: 'STRUCT', fields: fields.flatMap((field) => field ?? []) };
}

/**
 * Operands of `=`, `<`, IN and the like, brought to where the run compares them; `undefined` when
 * they cannot be compared. INT64 beside FLOAT64 becomes FLOAT64, as in GoogleSQL; a field is read as
 * what stands beside it, and its number is compared exactly with each.
 */
export function comparable(
  expressions: readonly Expression[],
  binding: Binding,
): readonly Expression[] | undefined {
  const type = commonType(expressions.filter((each) => each.type.kind !== 'DYNAMIC'));
  if (type === undefined || !isScalar(type)) return undefined;
  const reading = readingBeside(type);
  const areExact = hasField(expressions) && isNumber(type);
  const operands = expressions.flatMap((each) => {
    if (areExact && isNumber(each.type)) return each;
    const wanted = each.type.kind === 'DYNAMIC' ? reading : type;
    return (wanted === undefined ? undefined : coerce(each, wanted, binding)) ?? [];
  });
  return operands.length === expressions.length ? operands : undefined;
}

/** Whether some operand is a field, which is compared with each of the others by itself. */
export function hasField(expressions: readonly Expression[]): boolean {
  return expressions.some(({ type }) => type.kind === 'DYNAMIC');
}

export function coerceAll(
  expressions: readonly Expression[],
  type: SqlType,
  binding: Binding,
): readonly Expression[] | undefined {
  const coerced = expressions.flatMap((each) => coerce(each, type, binding) ?? []);
  return coerced.length === expressions.length ? coerced : undefined;
}

/** A NULL as one of the type; a call that has no type has no value either, and is still to be made. */
function typedNull(expression: Expression, type: SqlType): Expression {
  if (expression.op !== 'call') return nullOf(type);
  return { op: 'cast', type, input: expression, safe: false };
}

export function nullOf(type: SqlType): Expression {
  return { op: 'literal', type, value: null };
}

function isList({ kind }: SqlType): boolean {
  return kind === 'ARRAY';
}

/** A list made of values of events, as ARRAY_AGG and ARRAY_REVERSE make it. */
function isDynamicList(type: SqlType): boolean {
  return type.kind === 'ARRAY' && type.element.kind === 'DYNAMIC';
}

function isNumberList(type: SqlType): boolean {
  return type.kind === 'ARRAY' && isNumber(type.element);
}

function hasNumbers(type: SqlType): boolean {
  return type.kind === 'ARRAY' && type.element.kind === 'NUMBER';
}

/** Whether a literal text is read as one. */
export function isTime(type: SqlType): type is { readonly kind: TimeKind } {
  return ['TIMESTAMP', 'DATETIME', 'DATE', 'TIME'].includes(type.kind);
}

/** Whether ORDER BY and comparisons take it. */
export function isScalar(type: SqlType): boolean {
  return type.kind !== 'ARRAY' && type.kind !== 'STRUCT' && type.kind !== 'JSON';
}

/** Whether GROUP BY and DISTINCT take it: of JSON GoogleSQL does not say when two values are equal. */
export function isGroupable(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return isGroupable(type.element);
  if (type.kind === 'STRUCT') return type.fields.every((field) => isGroupable(field.type));
  return type.kind !== 'JSON';
}

/** What to write where a JSON value cannot stand. */
export const JSON_HELP = 'of JSON take a text with JSON_VALUE or TO_JSON_STRING';

/** Refuses JSON, and lists and records of it, where rows are told apart by a value. */
export function checkGroupable(what: string, type: SqlType, span: Span): void {
  if (!isGroupable(type))
    refuse(`${what} takes no JSON; got ${typeName(type)}; ${JSON_HELP}`, span);
}

/** Whether the value stands in the text or in the call, and not in a row. */
function isGiven(expression: Expression): boolean {
  return expression.op === 'literal' || expression.op === 'parameter';
}

function isReadable(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return isReadable(type.element);
  return isScalar(type) && !isTime(type) && type.kind !== 'INTERVAL' && type.kind !== 'BYTES';
}

/** Whether they differ in names only, and in the types of fields that are always NULL. */
/** The values of a record, as they are written or as they are read from it. */
function fieldsOf(
  expression: Expression,
  { fields }: SqlType & { readonly kind: 'STRUCT' },
): readonly Expression[] {
  if (expression.op === 'struct') return expression.fields;
  return fields.map(({ type }, index) => ({
    op: 'struct-field',
    type,
    input: expression,
    index,
  }));
}

function hasSameValues(
  from: SqlType & { readonly kind: 'STRUCT' },
  wanted: SqlType & { readonly kind: 'STRUCT' },
): boolean {
  return from.fields.every(
    ({ type }, index) => type.kind === 'NULL' || typesEqual(type, wanted.fields[index]!.type),
  );
}

function costOfAll(
  expressions: readonly Expression[],
  typeOf: (index: number) => SqlType,
): number | undefined {
  let total = 0;
  for (const [index, expression] of expressions.entries()) {
    const cost = coercionCost(expression, typeOf(index));
    if (cost === undefined) return undefined;
    total = Math.max(total, cost);
  }
  return total;
}

const TYPES: ReadonlyMap<string, SqlType> = new Map(
  [
    ...[BOOL, INT64, FLOAT64, STRING, BYTES],
    ...[TIMESTAMP, DATETIME, DATE, TIME, INTERVAL, JSON_TYPE],
  ].map((type) => [type.kind, type]),
);

/** The type that stands before a constructor: `ARRAY<STRUCT<a INT64>>`. */
export function namedType(name: TypeName): SqlType {
  if (name.element !== undefined) {
    const element = namedType(name.element);
    if (element.kind === 'ARRAY') refuse('a list cannot hold lists', name.element.span);
    return arrayOf(element);
  }
  if (name.fields === undefined) return scalarType(name);
  const fields = name.fields.map((field) => ({
    name: field.name?.text,
    type: namedType(field.type),
  }));
  return { kind: 'STRUCT', fields };
}

/** The type a CAST names. */
export function scalarType(name: TypeName): SqlType {
  const type = TYPES.get(name.kind);
  if (type !== undefined) return type;
  if (name.kind === 'ARRAY' || name.kind === 'STRUCT') {
    refuse(`CAST to ${name.kind} is not supported`, name.span);
  }
  const known = [...TYPES.keys()];
  return refuse(
    `type ${name.kind} is not known; there are ${known.join(', ')}${hint(name.kind, known)}`,
    name.span,
  );
}

/**
 * CAST and SAFE_CAST; to the type a value has already it is nothing. Only a STRING in the text or
 * the call stays cast, for what has been cast is no literal any more and becomes no time.
 */
export function castTo(
  input: Expression,
  type: SqlType,
  at: { readonly safe: boolean; readonly span: Span },
): Expression {
  const isGiven = input.op === 'literal' || input.op === 'parameter';
  if (typesEqual(input.type, type) && !(isGiven && type.kind === 'STRING')) return input;
  if (input.type.kind === 'NULL' && type.kind !== 'STRING') return typedNull(input, type);
  if (!canCast(input.type, type)) {
    const help = helpWithJson(input.type, type);
    refuse(`CAST cannot make ${typeName(type)} of ${typeName(input.type)}${help}`, at.span);
  }
  return { op: 'cast', type, input, safe: at.safe, span: at.span };
}

/** GoogleSQL casts nothing to JSON, and JSON to nothing. */
function helpWithJson(from: SqlType, to: SqlType): string {
  if (to.kind === 'JSON') {
    return from.kind === 'STRING'
      ? '; write PARSE_JSON for a text of JSON, TO_JSON for a JSON string'
      : '; write TO_JSON';
  }
  if (from.kind !== 'JSON') return '';
  return `; write ${to.kind === 'STRING' ? 'JSON_VALUE or TO_JSON_STRING' : `LAX_${to.kind}`}`;
}

/** Reads a value written as text, by its type. */
const PARSERS: Readonly<Record<TimeKind | 'JSON', (text: string) => SqlValue>> = {
  TIMESTAMP: parseTimestamp,
  DATETIME: parseDatetime,
  DATE: parseDate,
  TIME: parseTimeOfDay,
  JSON: (text) => parseJson(text, 'a JSON literal'),
};

type TimeKind = 'TIMESTAMP' | 'DATETIME' | 'DATE' | 'TIME';

/** A time or JSON written as text; a text that is none is the query's mistake. */
export function textLiteral(
  text: string,
  kind: TimeKind | 'JSON',
  span: Span | undefined,
): Expression {
  try {
    return { op: 'literal', type: { kind }, value: PARSERS[kind](text) };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new QueryError('invalid_sql', error.message, span);
  }
}

/** The types of expressions, for messages: `STRING, INT64`. */
export function typesText(expressions: readonly Expression[]): string {
  return expressions.map((expression) => typeName(expression.type)).join(', ');
}
