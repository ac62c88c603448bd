import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import {
  PARAMETER_TYPES,
  type ParameterDefinition,
  type ParameterType,
} from '../../../src/definition/definition.ts';
import { ParameterSchema } from '../../../src/definition/parameters.ts';
import { ServiceError } from '../../../src/errors.ts';
import { jsonSchema, textSchema } from '../../../src/openapi/parameter-schema.ts';

const ajv = new Ajv2020({ strict: true, strictTypes: false });
addFormats.default(ajv);

function parameterOf(
  type: ParameterType,
  options: Partial<ParameterDefinition> = {},
): ParameterDefinition {
  return {
    name: 'p',
    type,
    required: false,
    default: undefined,
    values: undefined,
    from: [],
    ...options,
  };
}

function isTaken(parameter: ParameterDefinition, text: string): boolean {
  try {
    new ParameterSchema([parameter]).parse(new Map([['p', [text]]]));
    return true;
  } catch (error) {
    ok(error instanceof ServiceError, String(error));
    return false;
  }
}

const DIGITS = '0123456789';

/** JSON values near the limits of each type, inside and outside. */
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.string(),
  fc.string({ unit: fc.constantFrom(...DIGITS, '+', '-', '.', 'e'), maxLength: 22 }),
  fc
    .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc
    .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 0, max: 13 }), fc.nat(32))
    .map(([year, month, day]) => {
      const pad = (value: number, length: number): string => String(value).padStart(length, '0');
      return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T12:00:00+01:30`;
    }),
  fc.constantFrom('true', 'TRUE', 'null', '', '2026-01-15', '2026-01-15T12:00Z', 'low', '1', '01'),
);

for (const type of PARAMETER_TYPES) {
  const kinds: readonly ParameterDefinition[] = [
    parameterOf(type),
    parameterOf(type, { required: true }),
    ...(type === 'string' ? [parameterOf(type, { values: ['low', 'high', '1'] })] : []),
    ...(type === 'int64' ? [parameterOf(type, { values: ['1', '01'] })] : []),
  ];

  test(`whatever the schemas of ${type} accept, the parser accepts`, () => {
    let takenCount = 0;
    for (const parameter of kinds) {
      const isText = ajv.compile(textSchema(parameter));
      const isJson = ajv.compile(jsonSchema(parameter));
      fc.assert(
        fc.property(anyValue, (value) => {
          // The validator's `int64` accepts any whole number.
          if (type === 'int64' && Math.abs(Number(value)) >= 2 ** 63) return;
          const text = String(value);
          // An empty text in a query string counts as absent, whatever the schema.
          if (isText(value) && text !== '') ok(isTaken(parameter, text), `${text} in a URL`);
          if (isJson(value) && text !== '') ok(isTaken(parameter, text), `${text} in a body`);
          if (isText(value)) takenCount += 1;
        }),
        { numRuns: 500 },
      );
    }
    ok(takenCount > 20, `${takenCount} values were taken`);
  });

  test(`what a schema of ${type} refuses and the parser accepts is another spelling of an accepted value`, () => {
    for (const parameter of kinds) {
      const isText = ajv.compile(textSchema(parameter));
      fc.assert(
        fc.property(anyValue, (value) => {
          const text = String(value);
          if (text === '' || !isTaken(parameter, text)) return;
          const values = new ParameterSchema([parameter]).parse(new Map([['p', [text]]]));
          const known = values.get('p');
          const written =
            type === 'timestamp'
              ? new Date(Number(known) / 1000).toISOString()
              : parameter.values === undefined
                ? known
                : text;
          // JavaScript numbers are not exact beyond 2^53.
          if (typeof written !== 'bigint') ok(isText(written), `${text} as ${String(written)}`);
        }),
        { numRuns: 500 },
      );
    }
  });
}

test('a default appears in the schema as a value of its type', () => {
  equal(textSchema(parameterOf('int64', { default: '5' }))['default'], 5);
  equal(textSchema(parameterOf('bool', { default: 'true' }))['default'], true);
  equal(textSchema(parameterOf('string', { default: '5' }))['default'], '5');
  const large = parameterOf('int64', { default: '9223372036854775807' });
  equal('default' in textSchema(large), false);
});
