import { z } from 'zod';
import { must, nearestName, PLUS_HINT, type SqlValue } from '../../engine/columns.ts';
import { echo, formatChoices } from '../echo.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { KNOWN_TEXT_LENGTH_MAX, KNOWN_TEXTS_MAX } from '../limits.ts';
import type { ParameterDefinition, ParameterValues } from './definition.ts';
import { parseParameterText, wantedBy } from './parameter-value.ts';

/**
 * The texts of a call by the caller's names, in order: those of the query string, then those of the
 * body.
 */
export type ParameterTexts = ReadonlyMap<string, readonly string[]>;

/** Parses the parameters of a call as one definition declares them. */
export class ParameterSchema {
  readonly #declared: readonly DeclaredParameter[];

  constructor(definitions: readonly ParameterDefinition[]) {
    this.#declared = definitions.map((definition) => ({
      definition,
      keys: [definition.name, ...definition.from],
      value: valueSchema(definition),
      known: new Map(),
    }));
  }

  /** Whether a parameter of this name is used: a declared one, or a fallback. */
  reads(name: string): boolean {
    return this.#declared.some(
      ({ definition }) => definition.name === name || definition.from.includes(name),
    );
  }

  /**
   * Parses the value of every declared parameter; NULL if it is absent. Other names are ignored. An
   * empty text counts as absent, except for the names in `emptyNames`: for these, it is the value
   * of a parameter that allows any text and has a default.
   *
   * @throws ServiceError for parameters that are missing, repeated or not of their type. It names
   * the first; the message describes all.
   */
  parse(texts: ParameterTexts, emptyNames: ReadonlySet<string> = NO_NAMES): ParameterValues {
    const values = new Map<string, SqlValue>();
    const problems: { code: ErrorCode; parameter: string; message: string }[] = [];
    for (const declared of this.#declared) {
      const { definition, keys } = declared;
      const { name } = definition;
      const repeated = keys.find((key) => (texts.get(key)?.length ?? 0) > 1);
      if (repeated !== undefined) {
        problems.push({
          code: 'repeated_parameter',
          parameter: repeated,
          message: `${repeated} must be given once, in the query string or in the body; got ${texts.get(repeated)!.length} of it`,
        });
        continue;
      }
      const text = mayBeEmpty(definition, emptyNames) ? '' : findText(definition, texts);
      const result = readText(declared, text);
      if (result.success) {
        values.set(name, result.data);
        continue;
      }
      problems.push({
        code: text === undefined ? 'missing_parameter' : 'invalid_parameter',
        parameter: name,
        message:
          must(result.error.issues[0], 'a value is refused for a reason').message +
          (text === undefined ? this.#misspelt(name, texts) : ''),
      });
    }
    const [first] = problems;
    if (first === undefined) return values;
    throw new ServiceError(first.code, problems.map(({ message }) => message).join('; '), {
      parameter: first.parameter,
    });
  }

  /**
   * The end of a sentence about a missing parameter: names a similar parameter of the call that is
   * not used.
   */
  #misspelt(name: string, texts: ParameterTexts): string {
    const unread = Array.from(texts.keys()).filter((key) => !this.reads(key));
    const nearest = nearestName(name, unread);
    return nearest === undefined ? '' : `; did you mean ${name} by ${echo(nearest)}?`;
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

type DeclaredParameter = {
  readonly definition: ParameterDefinition;
  /** The names under which it may be given. */
  readonly keys: readonly string[];
  readonly value: z.ZodType<SqlValue, string | undefined>;
  /** Parsed values by text. Most parameters repeat few values. */
  readonly known: Map<string | undefined, SqlValue>;
};

function readText(
  { value, known }: DeclaredParameter,
  text: string | undefined,
): { readonly success: true; readonly data: SqlValue } | z.ZodSafeParseError<unknown> {
  const data = known.get(text);
  if (data !== undefined) return { success: true, data };
  const result = value.safeParse(text);
  if (result.success && (text?.length ?? 0) <= KNOWN_TEXT_LENGTH_MAX) {
    if (known.size === KNOWN_TEXTS_MAX) known.clear();
    known.set(text, result.data);
  }
  return result;
}

function mayBeEmpty(definition: ParameterDefinition, emptyNames: ReadonlySet<string>): boolean {
  return (
    emptyNames.has(definition.name) && definition.default !== undefined && isAnyText(definition)
  );
}

/**
 * Whether the empty text is a valid value: the type is STRING and no list of values restricts it.
 */
function isAnyText({ type, values }: ParameterDefinition): boolean {
  return type === 'string' && values === undefined;
}

/** Finds the first non-empty text among the names, else the default. */
function findText(definition: ParameterDefinition, texts: ParameterTexts): string | undefined {
  for (const key of [definition.name, ...definition.from]) {
    const text = texts.get(key)?.[0];
    if (text !== undefined && text !== '') return text;
  }
  if (definition.required) return undefined;
  if (definition.default !== undefined) return definition.default;
  return isAnyText(definition) ? texts.get(definition.name)?.[0] : undefined;
}

function valueSchema(definition: ParameterDefinition): z.ZodType<SqlValue, string | undefined> {
  const { name, type, required, values } = definition;
  const wanted = values === undefined ? wantedBy(type) : formatChoices(values);
  return z
    .string()
    .optional()
    .transform((text, context): SqlValue => {
      if (text === undefined || (text === '' && type !== 'string')) {
        if (!required) return null;
        context.addIssue({ code: 'custom', message: `${name} must be ${wanted}; got nothing` });
        return z.NEVER;
      }
      const isAllowed = values === undefined || values.includes(text);
      const value = isAllowed ? parseParameterText(type, text) : undefined;
      if (value !== undefined) return value;
      const isLost = type === 'timestamp' && hasLostPlus(text);
      context.addIssue({
        code: 'custom',
        message: `${name} must be ${wanted}; got ${echo(text)}${isLost ? PLUS_HINT : ''}`,
      });
      return z.NEVER;
    });
}

/** Whether a plus sign was probably decoded to a space, which callers rarely suspect. */
function hasLostPlus(text: string): boolean {
  return (
    / \d{2}:?\d{2}$/.test(text) &&
    parseParameterText('timestamp', text.replace(/ (?=\S*$)/, '+')) !== undefined
  );
}
