import { BOOL, type SqlType, typeName } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import type { Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { namedType } from './cast-type.ts';
import { coerce } from './coercion.ts';
import type { ExpressionContext } from './context.ts';
import { refuse } from './refusal.ts';

type StructSyntax = Syntax & { readonly kind: 'struct' };

/** `STRUCT(…)`, with a type or without, and rows such as `(1, 'x')`. */
export function bindStruct(syntax: StructSyntax, context: ExpressionContext): Expression {
  const values = syntax.fields.map(({ expression }) => context.bind(expression));
  if (syntax.type !== undefined) return structOf(namedType(syntax.type), values, syntax, context);
  const fields = values.map(({ type }, index) => ({
    name: syntax.fields[index]!.name?.text,
    type,
  }));
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
  const fields = values.map((value, index) => {
    const wanted = type.fields[index]!.type;
    const coerced = coerce(value, wanted, context.binding);
    if (coerced !== undefined) return coerced;
    const sentence = `field ${index + 1} is ${typeName(wanted)}; got ${typeName(value.type)}`;
    return refuse(sentence, syntax.fields[index]!.expression.span);
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
  if (terms.length === 1) return terms[0]!;
  return { op: 'call', type: BOOL, name, arguments: terms, span };
}
