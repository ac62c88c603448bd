import type { ParameterDefinition, ParameterType } from '../definition/definition.ts';
import { parseParameterText } from '../definition/parameter-value.ts';
import type { Schema } from './operation-text.ts';

/** What stands in a query string: there every value is a text, and the schema says of what. */
const TEXT_SCHEMAS: Readonly<Record<ParameterType, Schema>> = {
  string: { type: 'string' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bool: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
};

/** In a JSON body a whole number that JSON would not hold is written as a text. */
const INT64_IN_JSON: Schema = {
  anyOf: [
    { type: 'integer', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: '^[+-]?[0-9]{1,18}$' },
  ],
};

/** The values that a call may give a parameter in its query string. */
export function textSchema(parameter: ParameterDefinition): Schema {
  return { ...valueSchema(parameter, TEXT_SCHEMAS[parameter.type]), ...defaultOf(parameter) };
}

/** … and in a JSON body, where null is no value. */
export function jsonSchema(parameter: ParameterDefinition): Schema {
  const { type } = parameter;
  const schema = valueSchema(parameter, type === 'int64' ? INT64_IN_JSON : TEXT_SCHEMAS[type]);
  if (parameter.required) return schema;
  return { anyOf: [schema, { type: 'null' }], ...defaultOf(parameter) };
}

/** Listed values are compared as texts, so texts they are. */
function valueSchema({ values }: ParameterDefinition, schema: Schema): Schema {
  return values === undefined ? schema : { type: 'string', enum: values };
}

function defaultOf({ type, values, default: text }: ParameterDefinition): Schema {
  if (text === undefined || text === '') return {};
  if (values !== undefined || type === 'string' || type === 'timestamp') return { default: text };
  const value = parseParameterText(type, text);
  // JSON has no number for those beyond 2^53.
  return typeof value === 'bigint' ? {} : { default: value };
}
