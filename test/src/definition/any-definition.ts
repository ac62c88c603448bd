import fc from 'fast-check';
import type { Definition, ParameterDefinition } from '../../../src/definition/definition.ts';
import { anyCodePoint } from '../../support/code-point.ts';

const WORD = fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/);

/** Names that are neither reserved nor shaped like an id. */
const NAME = fc
  .array(WORD, { minLength: 1, maxLength: 3 })
  .map((words) => words.join('.'))
  .filter((name) => name !== 'query');

/** Texts whose quotes, escapes, commas or newlines could be lost. */
const TEXT = fc.oneof(
  fc.string({ unit: anyCodePoint, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'a ",()\\=\n\r\t\u2028\u00a0\ufeff\ud800'), maxLength: 8 }),
);

const PARAMETER_NAME = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);

type Options = Pick<ParameterDefinition, 'required' | 'default' | 'values'>;

const STRING_OPTIONS: fc.Arbitrary<Options> = fc
  .tuple(
    fc.boolean(),
    fc.option(fc.uniqueArray(TEXT, { minLength: 1, maxLength: 4 }), { nil: undefined }),
    fc.option(TEXT, { nil: undefined }),
    fc.nat(),
  )
  .map(([required, values, text, pick]) => {
    const given = values === undefined ? text : text && values[pick % values.length];
    return { required, values, default: required ? undefined : given };
  });

const PARAMETER: fc.Arbitrary<ParameterDefinition> = fc
  .tuple(
    PARAMETER_NAME,
    fc.uniqueArray(PARAMETER_NAME, { maxLength: 2 }),
    fc.oneof(
      STRING_OPTIONS.map((options) => ({ type: 'string' as const, ...options })),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({
        ...{ type: 'int64' as const, required: false, default: String(value), values: undefined },
      })),
      fc.constantFrom('float64', 'bool', 'timestamp').map((type) => ({
        ...{ type, required: true, default: undefined, values: undefined },
      })),
    ),
  )
  .map(([name, from, options]) => ({
    name,
    from: from.filter((other) => other !== name),
    ...options,
  }));

/** A trimmed line. */
const DESCRIPTION = TEXT.map((text) =>
  text.replaceAll(/[\n\r\u2028\u2029\p{Surrogate}]/gu, '').trim(),
);

/** A statement begins and ends with a non-empty line. */
const STATEMENT = fc
  .tuple(fc.constantFrom('SELECT', '-- said: so\nSELECT', '  SELECT\r\n\n'), TEXT)
  .map(([start, rest]) => `${start} ${rest.replaceAll(/\p{Surrogate}/gu, '')}`.trimEnd());

/** Any definition that a file can hold. */
export const DEFINITION: fc.Arbitrary<Definition> = fc
  .record({
    id: fc.uuid(),
    names: fc.uniqueArray(NAME, { minLength: 1, maxLength: 3 }),
    description: DESCRIPTION,
    parameters: fc.uniqueArray(PARAMETER, {
      maxLength: 4,
      selector: ({ name }) => name.toLowerCase(),
    }),
    rowsMax: fc.integer({ min: 1, max: 100_000 }),
    cacheS: fc.option(fc.integer({ min: 2, max: 604_800 }), { nil: undefined }),
    isWarm: fc.boolean(),
    isSandboxed: fc.boolean(),
    extended: fc.option(NAME, { nil: undefined }),
    version: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    text: STATEMENT,
  })
  .map(({ names, isWarm, ...rest }) => ({
    ...rest,
    name: names[0]!,
    aliases: names.slice(1),
    warmS: isWarm && rest.cacheS !== undefined ? Math.ceil(rest.cacheS / 2) : undefined,
  }));
