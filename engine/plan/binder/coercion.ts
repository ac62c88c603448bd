import {
  arrayOf,
  DYNAMIC,
  FLOAT64,
  INT64,
  NULL_TYPE,
  type SqlType,
  typeName,
  typesEqual,
} from '../../column/type.ts';
import type { Expression } from '../expression.ts';
import type { Binding } from './binding.ts';
import { type TimeKind, timeLiteral } from './time-literal.ts';

/**
 * How far a type is from another, for choosing among overloads: 0 is the same, `undefined` that
 * GoogleSQL does not coerce it. Literals and parameters of type STRING become times; DYNAMIC is
 * read as what is wanted, times and BYTES excepted, for these are never found inside an event.
 */
export function coercionCost(expression: Expression, type: SqlType): number | undefined {
  const from = expression.type;
  if (typesEqual(from, type)) return 0;
  // A bare NULL among numbers is an INT64, as in GoogleSQL: half a step keeps it from FLOAT64.
  if (from.kind === 'NULL') return type.kind === 'FLOAT64' ? 0.5 : 0;
  if (from.kind === 'DYNAMIC') return isReadable(type) ? 1 : undefined;
  if (from.kind === 'INT64' && type.kind === 'FLOAT64') return 1;
  if (from.kind === 'DATE' && type.kind === 'DATETIME') return 1;
  if (from.kind === 'STRING' && isTime(type)) return isGiven(expression) ? 2 : undefined;
  if (from.kind === 'ARRAY' && type.kind === 'ARRAY' && expression.op === 'array') {
    return costOfAll(expression.elements, () => type.element);
  }
  if (isDynamicList(from) && type.kind === 'ARRAY') return isReadable(type) ? 1 : undefined;
  if (from.kind === 'STRUCT' && type.kind === 'STRUCT') {
    if (from.fields.length !== type.fields.length) return undefined;
    if (expression.op !== 'struct') return differInNamesOnly(from, type) ? 1 : undefined;
    return costOfAll(expression.fields, (index) => type.fields[index]!.type);
  }
  return undefined;
}

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
  if (from.kind === 'DYNAMIC') return { op: 'read-as', type, input: expression };
  if (expression.op === 'literal') {
    if (expression.value === null) return nullOf(type);
    if (type.kind === 'FLOAT64') return { op: 'literal', type, value: Number(expression.value) };
    if (from.kind === 'STRING' && isTime(type)) {
      return timeLiteral(String(expression.value), type.kind, binding.originOf(expression)?.span);
    }
  }
  const inner = (input: Expression, wanted: SqlType) => coerce(input, wanted, binding)!;
  if (expression.op === 'array' && type.kind === 'ARRAY') {
    const elements = expression.elements.map((element) => inner(element, type.element));
    return { op: 'array', type, elements };
  }
  if (isDynamicList(from)) return { op: 'read-as', type, input: expression };
  if (expression.op === 'struct' && type.kind === 'STRUCT') {
    const fields = expression.fields.map((field, index) => inner(field, type.fields[index]!.type));
    return { op: 'struct', type, fields };
  }
  // The names of fields are no part of a value.
  if (from.kind === 'STRUCT') return { ...expression, type };
  const span = binding.originOf(expression)?.span;
  return { op: 'cast', type, input: expression, safe: false, span };
}

/**
 * The type that all can be brought to, as branches of a CASE must; `undefined` if there is none. All
 * DYNAMIC stays DYNAMIC. An INT64 beside DYNAMIC counts as FLOAT64, so that numbers of an event with
 * a fraction are not lost; in lists, too.
 */
export function commonType(expressions: readonly Expression[]): SqlType | undefined {
  const typed = expressions.filter(({ type }) => type.kind !== 'NULL' && type.kind !== 'DYNAMIC');
  const hasDynamic = expressions.some(({ type }) => type.kind === 'DYNAMIC');
  if (typed.length === 0) return hasDynamic ? DYNAMIC : NULL_TYPE;
  if (typed.every(({ type }) => isNumber(type))) {
    const isWhole = typed.every(({ type }) => type.kind === 'INT64');
    return isWhole && !hasDynamic ? INT64 : FLOAT64;
  }
  const structs = typed.map(({ type }) => type);
  if (!hasDynamic && structs.every((type) => type.kind === 'STRUCT')) {
    return commonStruct(typed, structs);
  }
  const candidates = new Map(typed.map(({ type }) => [typeName(type), type]));
  const whole = typeName(arrayOf(INT64));
  if (candidates.has(whole) && typed.some(({ type }) => isDynamicList(type))) {
    candidates.set(whole, arrayOf(FLOAT64));
  }
  return [...candidates.values()].find((candidate) =>
    expressions.every((expression) => coercionCost(expression, candidate) !== undefined),
  );
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
  const fields = first.fields.map(({ name }, index) => {
    const values = expressions.map((expression, row): Expression => {
      const { type } = types[row]!.fields[index]!;
      if (expression.op === 'struct') return expression.fields[index]!;
      return { op: 'struct-field', type, input: expression, index };
    });
    const type = commonType(values);
    return type === undefined ? undefined : { name, type };
  });
  if (fields.some((field) => field === undefined)) return undefined;
  return { kind: 'STRUCT', fields: fields.flatMap((field) => field ?? []) };
}

/**
 * Operands of `=`, `<`, IN and the like, brought to where the run compares them; `undefined` when
 * they cannot be compared. INT64 beside FLOAT64 becomes FLOAT64, as in GoogleSQL; a number of an
 * event stays as it was sent, and is compared exactly.
 */
export function comparable(
  expressions: readonly Expression[],
  binding: Binding,
): readonly Expression[] | undefined {
  const typed = expressions.filter(({ type }) => type.kind !== 'NULL' && type.kind !== 'DYNAMIC');
  if (typed.length > 0 && typed.every(({ type }) => isNumber(type))) {
    const isWhole = typed.every(({ type }) => type.kind === 'INT64');
    return expressions.map((expression) =>
      isWhole && expression.type.kind === 'INT64'
        ? expression
        : coerce(expression, FLOAT64, binding)!,
    );
  }
  const type = commonType(expressions);
  if (type === undefined || type.kind === 'ARRAY' || type.kind === 'STRUCT') return undefined;
  return coerceAll(expressions, type, binding);
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
export function typedNull(expression: Expression, type: SqlType): Expression {
  if (expression.op !== 'call') return nullOf(type);
  return { op: 'cast', type, input: expression, safe: false };
}

export function nullOf(type: SqlType): Expression {
  return { op: 'literal', type, value: null };
}

export function isNumber(type: SqlType): boolean {
  return type.kind === 'INT64' || type.kind === 'FLOAT64';
}

/** A list made of values of events, as ARRAY_AGG and ARRAY_REVERSE make it. */
function isDynamicList(type: SqlType): boolean {
  return type.kind === 'ARRAY' && type.element.kind === 'DYNAMIC';
}

/** Whether a literal text is read as one. */
export function isTime(type: SqlType): type is { readonly kind: TimeKind } {
  return ['TIMESTAMP', 'DATETIME', 'DATE', 'TIME'].includes(type.kind);
}

/** Whether GROUP BY, ORDER BY and comparisons take it. */
export function isScalar(type: SqlType): boolean {
  return type.kind !== 'ARRAY' && type.kind !== 'STRUCT';
}

/** Whether the value stands in the text or in the call, and not in a row. */
function isGiven(expression: Expression): boolean {
  return expression.op === 'literal' || expression.op === 'parameter';
}

function isReadable(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return isReadable(type.element);
  return isScalar(type) && !isTime(type) && type.kind !== 'INTERVAL' && type.kind !== 'BYTES';
}

function differInNamesOnly(
  left: SqlType & { readonly kind: 'STRUCT' },
  right: SqlType & { readonly kind: 'STRUCT' },
): boolean {
  return left.fields.every(({ type }, index) => typesEqual(type, right.fields[index]!.type));
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
