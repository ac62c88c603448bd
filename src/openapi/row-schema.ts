import { elementTypeOf, isElement, type SqlType } from '../../engine/columns.ts';
import type { Column } from '../../engine/index.ts';
import type { Schema } from './operation-text.ts';
import { describeList, refTo } from './schemas.ts';

/** The schema of a row: exactly these columns. */
export function rowSchema(columns: readonly Pick<Column, 'name' | 'type'>[]): Schema {
  return recordSchema(columns.map(({ name, type }) => [name, valueSchema(type)]));
}

function recordSchema(members: readonly (readonly [string, Schema])[]): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(members),
    required: members.map(([name]) => name),
    additionalProperties: false,
  };
}

/** The schema of a value in an answer; see the table of types in docs/http-api.md. */
function valueSchema(type: SqlType): Schema {
  switch (type.kind) {
    case 'BOOL':
      return { type: ['boolean', 'null'] };
    case 'INT64':
      return refTo('Int64');
    case 'FLOAT64':
      return refTo('Float64');
    case 'NUMBER':
      return { anyOf: [refTo('Int64'), refTo('Float64')] };
    case 'TIMESTAMP':
      return refTo('Timestamp');
    case 'DATETIME':
      return refTo('Datetime');
    case 'STRING':
    case 'TIME':
    case 'INTERVAL':
      return { type: ['string', 'null'] };
    case 'DATE':
      return { type: ['string', 'null'], format: 'date' };
    case 'BYTES':
      return { type: ['string', 'null'], contentEncoding: 'base64' };
    case 'NULL':
      return { type: 'null' };
    case 'JSON':
      return { description: 'A JSON value, as it is' };
    case 'DYNAMIC':
      return {
        description: `As sent in the event; a record is ${isElement(type) ? 'an object' : 'a list of records'}`,
      };
    case 'ARRAY':
      return describeList(elementSchema(elementTypeOf(type)));
    case 'STRUCT':
      return { ...structSchema(type), type: ['object', 'null'] };
  }
}

/** List elements in answers are never NULL. */
function elementSchema(type: SqlType): Schema {
  return type.kind === 'STRUCT' ? structSchema(type) : valueSchema(type);
}

function structSchema({ fields }: SqlType & { readonly kind: 'STRUCT' }): Schema {
  return recordSchema(
    fields.map(({ name, type }, index) => [name ?? `_field_${index + 1}`, valueSchema(type)]),
  );
}
