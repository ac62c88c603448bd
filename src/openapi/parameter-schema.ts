import type { ParameterDefinition, ParameterType } from '../definition/definition.ts';
import { parseParameterText } from '../definition/parameter-value.ts';
import type { Schema } from './operation-text.ts';

/** Schemas of values in a query string, where every value is a text. */
const TEXT_SCHEMAS: Readonly<Record<ParameterType, Schema>> = {
  string: { type: 'string' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bool: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
};

/** In a JSON body, an integer outside of the safe range is a string. */
const INT64_IN_JSON: Schema = {
  anyOf: [
    { type: 'integer', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: '^[+-]?[0-9]{1,18}$' },
  ],
};

/** The schema of a parameter in the query string. */
export function textSchema(parameter: ParameterDefinition): Schema {
  return { ...valueSchema(parameter, TEXT_SCHEMAS[parameter.type]), ...describeDefault(parameter) };
}

/** The schema of a parameter in a JSON body, where null counts as no value. */
export function jsonSchema(parameter: ParameterDefinition): Schema {
  const { type } = parameter;
  const schema = valueSchema(parameter, type === 'int64' ? INT64_IN_JSON : TEXT_SCHEMAS[type]);
  if (parameter.required) return schema;
  return { anyOf: [schema, { type: 'null' }], ...describeDefault(parameter) };
}

/** Listed values are compared as texts, so they are strings. */
function valueSchema({ values }: ParameterDefinition, schema: Schema): Schema {
  return values === undefined ? schema : { type: 'string', enum: values };
}

function describeDefault({ type, values, default: text }: ParameterDefinition): Schema {
  if (text === undefined || text === '') return {};
  if (values !== undefined || type === 'string' || type === 'timestamp') return { default: text };
  const value = parseParameterText(type, text);
  // JSON has no exact number beyond 2^53.
  return typeof value === 'bigint' ? {} : { default: value };
}
