/**
 * The types of GoogleSQL that weir knows, and two of its own, which no text names: `DYNAMIC`, the type of a value
 * inside `metadata` (or under a further top-level key of an event), whose kind only the data knows, and `NUMBER`,
 * the type of what is computed of such values: an INT64 or a FLOAT64, as the value says.
 */
export type ScalarKind =
  | 'BOOL'
  | 'INT64'
  | 'FLOAT64'
  | 'STRING'
  | 'BYTES'
  | 'TIMESTAMP'
  | 'DATETIME'
  | 'DATE'
  | 'TIME'
  | 'INTERVAL'
  | 'JSON';

export type StructField = { readonly name?: string | undefined; readonly type: SqlType };

export type SqlType =
  | { readonly kind: ScalarKind }
  /** A bare NULL: it takes the type of what it stands beside. */
  | { readonly kind: 'NULL' }
  /**
   * A string, number, boolean, NULL, record or list, as the event was sent. `isElement`: taken out of a
   * list. An answer shows a record so taken as an object, and any other record as a list of one.
   */
  | { readonly kind: 'DYNAMIC'; readonly isElement?: true }
  | { readonly kind: 'NUMBER' }
  | { readonly kind: 'ARRAY'; readonly element: SqlType }
  | { readonly kind: 'STRUCT'; readonly fields: readonly StructField[] };

export const BOOL: SqlType = { kind: 'BOOL' };
export const INT64: SqlType = { kind: 'INT64' };
export const FLOAT64: SqlType = { kind: 'FLOAT64' };
export const STRING: SqlType = { kind: 'STRING' };
export const TIMESTAMP: SqlType = { kind: 'TIMESTAMP' };
export const DATETIME: SqlType = { kind: 'DATETIME' };
export const DATE: SqlType = { kind: 'DATE' };
export const TIME: SqlType = { kind: 'TIME' };
export const INTERVAL: SqlType = { kind: 'INTERVAL' };
export const BYTES: SqlType = { kind: 'BYTES' };
export const JSON_TYPE: SqlType = { kind: 'JSON' };
export const NULL_TYPE: SqlType = { kind: 'NULL' };
export const DYNAMIC: SqlType = { kind: 'DYNAMIC' };
export const NUMBER: SqlType = { kind: 'NUMBER' };
const DYNAMIC_ELEMENT: SqlType = { kind: 'DYNAMIC', isElement: true };

export function arrayOf(element: SqlType): SqlType {
  return { kind: 'ARRAY', element };
}

/** Of what is taken out of an ARRAY, or out of a DYNAMIC value that is a list. */
export function elementTypeOf(type: SqlType): SqlType {
  const element = type.kind === 'ARRAY' ? type.element : type;
  return element.kind === 'DYNAMIC' ? DYNAMIC_ELEMENT : element;
}

export function isNumber({ kind }: SqlType): boolean {
  return kind === 'INT64' || kind === 'FLOAT64' || kind === 'NUMBER';
}

export function isElement(type: SqlType): boolean {
  return type.kind === 'DYNAMIC' && type.isElement === true;
}

/** Structural equality; field names of structs compare without case, as GoogleSQL's do. */
export function typesEqual(left: SqlType, right: SqlType): boolean {
  if (left.kind === 'ARRAY' && right.kind === 'ARRAY') {
    return typesEqual(left.element, right.element);
  }
  if (left.kind === 'STRUCT' && right.kind === 'STRUCT') {
    return (
      left.fields.length === right.fields.length &&
      left.fields.every((field, index) => {
        const other = right.fields[index]!;
        return (
          field.name?.toLowerCase() === other.name?.toLowerCase() &&
          typesEqual(field.type, other.type)
        );
      })
    );
  }
  return left.kind === right.kind;
}

/** The type as GoogleSQL writes it: `ARRAY<STRUCT<name STRING>>`. */
export function typeName(type: SqlType): string {
  if (type.kind === 'ARRAY') return `ARRAY<${typeName(type.element)}>`;
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map(
      (field) => (field.name === undefined ? '' : `${field.name} `) + typeName(field.type),
    );
    return `STRUCT<${fields.join(', ')}>`;
  }
  return type.kind;
}
