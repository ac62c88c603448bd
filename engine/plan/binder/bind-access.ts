import { must } from '../../assert.ts';
import {
  BOOL,
  elementTypeOf,
  INT64,
  JSON_TYPE,
  type SqlType,
  STRING,
  typeName,
} from '../../column/type.ts';
import { hint } from '../../nearest-name.ts';
import { refuse, type Span } from '../../query-error.ts';
import type { Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import type { ExpressionContext } from './binding.ts';
import { coerce, namedType, nullOf } from './coercion.ts';
import { dynamicField, fieldOfVariable, indicesNamed, structField } from './scope.ts';

type NameSyntax = Syntax & { readonly kind: 'name' };
type FieldSyntax = Syntax & { readonly kind: 'field' };
type SubscriptSyntax = Syntax & { readonly kind: 'subscript' };
type StructType = SqlType & { readonly kind: 'STRUCT' };

export function bindName(syntax: NameSyntax, context: ExpressionContext): Expression {
  const { binding, place } = context;
  const value = place.scope.value(syntax.name, binding);
  // A whole row holds every column of its table.
  if (value.op === 'struct') binding.spendCopy(value, syntax.span);
  // A copy of its own for each use, so that each remembers where it stands.
  return binding.at({ ...value }, syntax.span, syntax.name.text);
}

/** `t.id`, `m.request.path`: a column of a table, or a field of a record. */
export function bindField(syntax: FieldSyntax, context: ExpressionContext): Expression {
  const { binding } = context;
  const { span, field } = syntax;
  const text = pathText(syntax);
  if (syntax.input.kind === 'name') {
    const variable = context.place.scope.findVariable(syntax.input.name.text);
    const column = variable === undefined ? undefined : fieldOfVariable(variable, field);
    if (column !== undefined) return binding.at({ ...column }, span, text);
  }
  const input = context.bind(syntax.input);
  const { type } = input;
  if (type.kind === 'DYNAMIC') return binding.at(dynamicField(input, field.text), span, text);
  if (type.kind === 'JSON') {
    const name: Expression = { op: 'literal', type: STRING, value: field.text };
    return binding.at(jsonField(input, name, span), span, text);
  }
  if (type.kind === 'STRUCT') {
    const index = fieldIndex(type, field.text, syntax);
    return binding.at({ ...structField(input, type.fields[index]!.type, index) }, span, text);
  }
  if (type.kind === 'ARRAY') {
    const list = pathText(syntax.input);
    refuse(
      `${list} is a list and has no field ${field.text}; name its elements first: ` +
        `CROSS JOIN UNNEST(${list}) AS element, then element.${field.text}`,
      field.span,
    );
  }
  return refuse(
    `${pathText(syntax.input)} is of type ${typeName(type)} and has no field ${field.text}`,
    field.span,
  );
}

function fieldIndex(type: StructType, name: string, syntax: FieldSyntax): number {
  const matches = indicesNamed(type.fields, name);
  if (matches.length === 1) return matches[0]!;
  const text = pathText(syntax.input);
  if (matches.length > 1) refuse(`field ${name} of ${text} is ambiguous`, syntax.field.span);
  const names = type.fields.flatMap((field) => field.name ?? []);
  return refuse(`${text} has no field ${name}${hint(name, names)}`, syntax.field.span);
}

/** `x[0]` and its kin: an element of a list, or a field of a row by position. */
export function bindSubscript(syntax: SubscriptSyntax, context: ExpressionContext): Expression {
  const input = context.bind(syntax.input);
  const { type } = input;
  if (type.kind === 'STRUCT') return fieldAt(syntax, input, type, context);
  if (type.kind === 'JSON') return jsonAt(syntax, input, context);
  if (type.kind !== 'ARRAY' && type.kind !== 'DYNAMIC') {
    refuse(
      `${pathText(syntax.input)} is of type ${typeName(type)} and has no elements`,
      syntax.span,
    );
  }
  if (syntax.index.kind === 'string') {
    refuse(
      `an element is named by its position, as in [0]; for a field write .${syntax.index.value}`,
      syntax.index.span,
    );
  }
  const index = context.bindAs(syntax.index, INT64, 'the position of an element');
  const mode = syntax.mode === 'plain' ? 'offset' : syntax.mode;
  return {
    op: 'call',
    name: `array_${mode}`,
    type: elementTypeOf(type),
    arguments: [input, index],
    span: syntax.span,
  };
}

/** `json['name']` and `json[0]`. */
function jsonAt(
  syntax: SubscriptSyntax,
  input: Expression,
  context: ExpressionContext,
): Expression {
  if (syntax.mode !== 'plain') {
    refuse(
      `${syntax.mode.toUpperCase()} is for lists; an element of JSON is written [0], a member ['name']`,
      syntax.index.span,
    );
  }
  const step = context.bind(syntax.index);
  if (step.type.kind === 'STRING') return jsonField(input, step, syntax.span);
  const position = coerce(step, INT64, context.binding);
  if (position !== undefined) return jsonField(input, position, syntax.span);
  return refuse(
    `JSON is read by the position of an element or the name of a member; got ${typeName(step.type)}`,
    syntax.index.span,
  );
}

function jsonField(input: Expression, step: Expression, span: Span): Expression {
  return { op: 'call', type: JSON_TYPE, name: 'json_field', arguments: [input, step], span };
}

/** A row is taken apart before the run, so its position must be known by then. */
function fieldAt(
  syntax: SubscriptSyntax,
  input: Expression,
  type: StructType,
  context: ExpressionContext,
): Expression {
  const position = context.bindAs(syntax.index, INT64, 'the position of a field');
  if (position.op !== 'literal' || position.value === null) {
    refuse('the position of a field in a row must be a whole number', syntax.index.span);
  }
  const base = syntax.mode === 'ordinal' || syntax.mode === 'safe_ordinal' ? 1 : 0;
  const index = Number(position.value) - base;
  const field = type.fields[index];
  if (field !== undefined) return { ...structField(input, field.type, index) };
  if (syntax.mode.startsWith('safe_')) return nullOf({ kind: 'NULL' });
  const last = type.fields.length - 1 + base;
  return refuse(
    `${pathText(syntax.input)} has fields ${base} to ${last}; got ${position.value}`,
    syntax.index.span,
  );
}

/** How a path reads in the text; `the expression` for anything else. */
export function pathText(syntax: Syntax): string {
  const words: string[] = [];
  let at = syntax;
  for (; at.kind === 'field'; at = at.input) words.unshift(at.field.text);
  if (at.kind !== 'name') return words.length === 0 ? 'the expression' : `….${words.join('.')}`;
  return [at.name.text, ...words].join('.');
}

type StructSyntax = Syntax & { readonly kind: 'struct' };

/** `STRUCT(…)`, with a type or without, and rows such as `(1, 'x')`. */
export function bindStruct(syntax: StructSyntax, context: ExpressionContext): Expression {
  const bound = syntax.fields.map(({ name, expression }) => ({
    name: name?.text,
    value: context.bind(expression),
  }));
  const values = bound.map(({ value }) => value);
  if (syntax.type !== undefined) return structOf(namedType(syntax.type), values, syntax, context);
  const fields = bound.map(({ name, value }) => ({ name, type: value.type }));
  return { op: 'struct', type: { kind: 'STRUCT', fields }, fields: values };
}

function structOf(
  type: SqlType,
  values: readonly Expression[],
  syntax: StructSyntax,
  context: ExpressionContext,
): Expression {
  if (type.kind !== 'STRUCT') return refuse(`${typeName(type)} has no fields`, syntax.span);
  if (type.fields.length !== values.length) {
    const wanted = `${typeName(type)} has ${type.fields.length} fields`;
    refuse(`${wanted}; got ${values.length} values`, syntax.span);
  }
  const fields = type.fields.map(({ type: wanted }, index) => {
    const value = must(values[index]);
    const coerced = coerce(value, wanted, context.binding);
    if (coerced !== undefined) return coerced;
    const sentence = `field ${index + 1} is ${typeName(wanted)}; got ${typeName(value.type)}`;
    return refuse(sentence, syntax.fields[index]?.expression.span);
  });
  return { op: 'struct', type, fields };
}

/** A column of records for the columns of a select list: SELECT AS STRUCT. */
export function structOfColumns(
  columns: readonly { readonly name: string | undefined; readonly expression: Expression }[],
): Expression {
  const fields = columns.map(({ name, expression }) => ({ name, type: expression.type }));
  return {
    op: 'struct',
    type: { kind: 'STRUCT', fields },
    fields: columns.map(({ expression }) => expression),
  };
}

/** The conjunction, or the disjunction, of at least one condition. */
export function combined(name: 'and' | 'or', terms: readonly Expression[], span: Span): Expression {
  const [first, second] = terms;
  if (first !== undefined && second === undefined) return first;
  return { op: 'call', type: BOOL, name, arguments: terms, span };
}
