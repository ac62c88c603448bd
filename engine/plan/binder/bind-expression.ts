import { unreachable } from '../../assert.ts';
import { BOOL, BYTES, FLOAT64, type SqlType, STRING, typeName } from '../../column/type.ts';
import type { Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { bindField, bindName, bindSubscript } from './bind-access.ts';
import { bindCall } from './bind-call.ts';
import {
  bindBetween,
  bindDistinctFrom,
  bindIn,
  bindIs,
  bindLike,
  bindLikeList,
} from './bind-comparison.ts';
import { bindArray, bindCase, bindCast } from './bind-conditional.ts';
import { bindBinary, bindUnary, integerLiteral } from './bind-operator.ts';
import { bindStruct } from './bind-struct.ts';
import { bindSubquery } from './bind-subquery.ts';
import { bindExtract, bindInterval } from './bind-time.ts';
import type { Binding } from './binding.ts';
import { coerce } from './coercion.ts';
import type { CommonTables } from './common-tables.ts';
import type { ExpressionContext, Place } from './context.ts';
import { refuse } from './refusal.ts';
import { textLiteral } from './text-literal.ts';

/** Gives expressions of the syntax tree their meaning at one place of the query. */
export class ExpressionBinder implements ExpressionContext {
  readonly binding: Binding;
  readonly place: Place;
  readonly tables: CommonTables;

  constructor(binding: Binding, place: Place, tables: CommonTables) {
    this.binding = binding;
    this.place = place;
    this.tables = tables;
  }

  bind(syntax: Syntax): Expression {
    return this.binding.nested(syntax.span, () => {
      this.binding.spend(1, syntax.span);
      const bound = bindSyntax(syntax, this);
      if (this.binding.originOf(bound) !== undefined) return bound;
      return this.binding.at(bound, syntax.span, syntax.kind);
    });
  }

  bindAs(syntax: Syntax, type: SqlType, what: string): Expression {
    const bound = this.bind(syntax);
    const coerced = coerce(bound, type, this.binding);
    if (coerced !== undefined) return coerced;
    return refuse(`${what} takes ${typeName(type)}; got ${typeName(bound.type)}`, syntax.span);
  }

  in(place: Place): ExpressionContext {
    return new ExpressionBinder(this.binding, place, this.tables);
  }
}

function bindSyntax(syntax: Syntax, context: ExpressionContext): Expression {
  switch (syntax.kind) {
    case 'null':
      return { op: 'literal', type: { kind: 'NULL' }, value: null };
    case 'boolean':
      return { op: 'literal', type: BOOL, value: syntax.value };
    case 'integer':
      return integerLiteral(syntax.value, syntax.span);
    case 'float':
      return { op: 'literal', type: FLOAT64, value: syntax.value };
    case 'string':
      return { op: 'literal', type: STRING, value: syntax.value };
    case 'typed-literal':
      return textLiteral(syntax.text, syntax.type, syntax.span);
    case 'interval':
      return bindInterval(syntax, context);
    case 'parameter':
      return context.binding.parameter(syntax.name, syntax.span);
    case 'name':
      return bindName(syntax, context);
    case 'field':
      return bindField(syntax, context);
    case 'subscript':
      return bindSubscript(syntax, context);
    case 'unary':
      return bindUnary(syntax, context);
    case 'binary':
      return bindBinary(syntax, context);
    case 'is':
      return bindIs(syntax, context);
    case 'between':
      return bindBetween(syntax, context);
    case 'in':
      return bindIn(syntax, context);
    case 'like':
      return bindLike(syntax, context);
    case 'like-list':
      return bindLikeList(syntax, context);
    case 'case':
      return bindCase(syntax, context);
    case 'cast':
      return bindCast(syntax, context);
    case 'extract':
      return bindExtract(syntax, context);
    case 'array':
      return bindArray(syntax, context);
    case 'call':
      return bindCall(syntax, context);
    case 'bytes':
      return { op: 'literal', type: BYTES, value: syntax.value };
    case 'distinct-from':
      return bindDistinctFrom(syntax, context);
    case 'subquery':
      return bindSubquery(syntax, context);
    case 'struct':
      return bindStruct(syntax, context);
    default:
      return unreachable(syntax);
  }
}
