import {
  arrayOf,
  BOOL,
  BYTES,
  DATE,
  DATETIME,
  FLOAT64,
  INT64,
  INTERVAL,
  JSON_TYPE,
  type SqlType,
  STRING,
  TIME,
  TIMESTAMP,
  typeName,
  typesEqual,
} from '../../column/type.ts';
import { canCast } from '../../function/cast.ts';
import type { Span } from '../../query-error.ts';
import type { TypeName } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { typedNull } from './coercion.ts';
import { hint } from './nearest-name.ts';
import { refuse } from './refusal.ts';

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
