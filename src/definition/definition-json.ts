import { z } from 'zod';
import { echo, echoValue, formatChoices } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { PARAMETER_TYPES, type ParameterDefinition } from './definition.ts';
import { definitionFileText } from './definition-text.ts';
import type { Endpoint } from './endpoint.ts';

/** A definition in requests and answers: the keys of its file as JSON. */
export type DefinitionResource = z.infer<typeof SCHEMA>;

/** A text that is one word of a header line and cannot start another line. */
const WORD = z.string('must be a string').regex(/^\S+$/, 'must be one word');

/** A word that may be part of a comma-separated list. */
const LISTED = WORD.regex(/^[^,"()]+$/, 'must be a word without commas, quotes and parentheses');

const TEXT = z.string('must be a string');

const PARAMETER = z.strictObject(
  {
    name: WORD,
    type: z.enum(PARAMETER_TYPES, `must be ${formatChoices(PARAMETER_TYPES)}`),
    required: z.boolean('must be true or false').optional(),
    // A text for each type, as in a file.
    default: z.string('must be a string, such as "1"').optional(),
    enum: z.array(TEXT, 'must be a list').min(1, 'must not be empty').optional(),
    from: z.array(LISTED, 'must be a list').optional(),
  },
  'must be a map',
);

const SWITCH = z.enum(['enabled', 'disabled'], 'must be disabled or enabled');

/** Members that callers may write. The parser of definition files checks their values. */
const WRITABLE = {
  id: WORD.optional(),
  name: WORD,
  alias: z.array(LISTED, 'must be a list').optional(),
  description: TEXT.regex(/^[^\n\r\u2028\u2029]*$/, 'must be one line').optional(),
  parameters: z.array(PARAMETER, 'must be a list').optional(),
  max_rows: z.int('must be a whole number').optional(),
  cache: WORD.optional(),
  warm: WORD.optional(),
  sandbox: SWITCH.optional(),
  extends: WORD.optional(),
  query: TEXT,
} as const;

/** Members that only the service sets. Callers may send them back unchanged. */
const TOLD = ['origin', 'version', 'selects_from', 'inherited_parameters'] as const;

const SCHEMA = z.strictObject(WRITABLE, 'must be a map');

const KEYS = Object.keys(WRITABLE);

/** Describes a definition with the keys of its file. */
export function describeEndpoint({ definition, origin, declared, query }: Endpoint) {
  const { cacheS, warmS, parameters } = definition;
  return {
    id: definition.id,
    name: definition.name,
    alias: definition.aliases,
    description: definition.description,
    parameters: parameters.map(describeParameter),
    max_rows: definition.rowsMax,
    cache: cacheS === undefined ? 'disabled' : `${cacheS}s`,
    warm: warmS === undefined ? 'disabled' : `${warmS}s`,
    sandbox: definition.isSandboxed ? 'enabled' : 'disabled',
    extends: definition.extended,
    query: definition.text,
    origin,
    version: definition.version,
    selects_from: query.bound.views,
    inherited_parameters: declared.slice(parameters.length).map(describeParameter),
  };
}

/** What a caller needs to know of the definition, in the same words. */
export function describeCallable({ definition, declared }: Endpoint) {
  return {
    id: definition.id,
    name: definition.name,
    alias: definition.aliases,
    sandbox: definition.isSandboxed ? 'enabled' : 'disabled',
    parameters: declared.map(describeParameter),
  };
}

function describeParameter(parameter: ParameterDefinition) {
  return {
    name: parameter.name,
    type: parameter.type,
    required: parameter.required,
    default: parameter.default,
    enum: parameter.values,
    from: parameter.from.length === 0 ? undefined : parameter.from,
  };
}

/**
 * Parses a JSON value as a definition. Members that only the service sets must be absent or equal
 * to those of `current`.
 *
 * @throws ServiceError with all problems.
 */
export function parseResource(value: unknown, current: Endpoint | undefined): DefinitionResource {
  const parsed = SCHEMA.safeParse(withoutTold(value, current));
  if (parsed.success) {
    checkWellFormed(parsed.data);
    return parsed.data;
  }
  const reasons = parsed.error.issues.map((issue) => formatReason(issue, value));
  throw new ServiceError('invalid_definition', reasons.join('; '));
}

/** Formats the equivalent file. Its parser makes the final checks. */
export function resourceText(resource: DefinitionResource, id: string): string {
  const {
    alias = [],
    description = '',
    max_rows: rowsMax,
    cache,
    warm,
    sandbox,
    extends: extended,
  } = resource;
  const header: (readonly [string, string | undefined])[] = [
    ['id', id],
    ['name', resource.name],
    ['alias', alias.length === 0 ? undefined : alias.join(', ')],
    ['description', description.trim() === '' ? undefined : description],
    ['max_rows', rowsMax === undefined ? undefined : String(rowsMax)],
    ['cache', cache],
    ['warm', warm],
    ['sandbox', sandbox],
    ['extends', extended],
  ];
  const parameters = (resource.parameters ?? []).map(
    ({ name, type, required = false, default: given, enum: values, from = [] }) => {
      return { name, type, required, default: given, values, from };
    },
  );
  return definitionFileText(header, parameters, resource.query);
}

/** Applies a merge patch (RFC 7396 §2). */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result = new Map(isMap(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/**
 * Removes the members that only the service sets.
 *
 * @throws ServiceError when one differs from the current value.
 */
function withoutTold(value: unknown, current: Endpoint | undefined): unknown {
  if (!isMap(value) || current === undefined) return value;
  const told: Readonly<Record<string, unknown>> = describeEndpoint(current);
  const rest = { ...value };
  for (const key of TOLD) {
    const [got, is] = [JSON.stringify(value[key]), JSON.stringify(told[key])];
    if (got !== undefined && got !== is) {
      const message = `${key} is read-only; it is ${is}, got ${echoValue(value[key])}`;
      throw new ServiceError('invalid_definition', message);
    }
    delete rest[key];
  }
  return rest;
}

/** Refuses lone surrogates, which UTF-8 cannot represent. */
function checkWellFormed({ query, description = '' }: DefinitionResource): void {
  for (const [key, text] of [
    ['query', query],
    ['description', description],
  ]) {
    if (!/\p{Surrogate}/u.test(text!)) continue;
    throw new ServiceError(
      'invalid_definition',
      `${key} must be valid Unicode; got a lone surrogate`,
    );
  }
}

function formatReason(issue: z.core.$ZodIssue, value: unknown): string {
  const path = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : String(step)));
  const place = path.length === 0 ? 'a definition' : path.join('.').replaceAll('.[', '[');
  if (issue.code === 'unrecognized_keys') {
    const allowed = path.length === 0 ? KEYS : Object.keys(PARAMETER.shape);
    return `${place} may have the keys ${allowed.join(', ')}; got ${issue.keys.map(echo).join(', ')}`;
  }
  let got: unknown = value;
  for (const step of issue.path)
    got = isMap(got) || Array.isArray(got) ? Reflect.get(got, step) : undefined;
  return `${place} ${issue.message}; got ${echoValue(got)}`;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
