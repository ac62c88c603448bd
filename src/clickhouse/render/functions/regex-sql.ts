import { compileRegex } from '../../../../engine/function/text/regular-expression.ts';
import { QueryError } from '../../../../engine/query-error.ts';
import { refuse } from '../refusal.ts';
import { nullOf, storedType } from '../sql-type.ts';
import { type CallSql, constantOf, type FunctionSql, refuseTypes } from './function-sql.ts';

/** RE2 patterns that are constants. ClickHouse uses RE2 itself, with `.` for line breaks, too, unless a flag says otherwise. */
export const regexSql: Readonly<Record<string, FunctionSql>> = {
  regexp_contains: (call) => {
    const pattern = patternOf(call);
    if (pattern === undefined) return nullOf(call.type);
    return `match(${call.arguments[0]}, ${call.parts.text(`(?-s)${pattern}`, call.span)})`;
  },
  regexp_extract: extract,
  regexp_substr: extract,
  regexp_extract_all: extractAll,
  regexp_replace: replace,
};

/** `undefined` where it is NULL. */
function patternOf(call: CallSql): string | undefined {
  if (call.types[0]!.kind !== 'STRING') return refuseTypes(call);
  const pattern = constantOf(call, 1);
  if (pattern === null) return undefined;
  compile(String(pattern), call);
  return String(pattern);
}

function compile(pattern: string, { span }: CallSql): ReturnType<typeof compileRegex> {
  try {
    return compileRegex(pattern);
  } catch (error) {
    if (error instanceof QueryError) return refuse(`this pattern: ${error.message}`, span);
    throw error;
  }
}

/**
 * A pattern each of whose matches has a character: where empty ones lie, the engine and ClickHouse say differently.
 * `undefined` where it is NULL.
 */
function fullPatternOf(call: CallSql): string | undefined {
  const pattern = patternOf(call);
  if (pattern === undefined) return undefined;
  const { program } = compile(pattern, call);
  if (program.matcher('').find() || /\\[bB]/.test(pattern)) {
    return refuse(
      `${call.name.toUpperCase()} with a pattern that matches an empty text`,
      call.span,
    );
  }
  return pattern;
}

function extract(call: CallSql): string {
  const { parts, span, type } = call;
  if (call.arguments.length > 2) return refuseTypes(call);
  const pattern = fullPatternOf(call);
  if (pattern === undefined) return nullOf(type);
  const groups = compile(pattern, call).program.groupCount();
  // ClickHouse does not tell a group that took no part from an empty one.
  if (groups > 1 || (groups === 1 && !isGroupNeeded(pattern))) {
    return refuse(`${call.name.toUpperCase()} with this pattern`, span);
  }
  const bound = parts.text(`(?-s)${pattern}`, span);
  return parts.once(
    call.arguments[0]!,
    (text) => `if(match(${text}, ${bound}), extract(${text}, ${bound}), NULL)`,
  );
}

/** Whether the only group of a pattern takes part in each match, as far as that is easily seen. */
function isGroupNeeded(pattern: string): boolean {
  const plain = pattern.replaceAll(/\\./gs, 'x').replaceAll(/\[\^?\]?[^\]]*\]/g, 'x');
  // No alternatives, no repetition of groups, no flags.
  return !/\||\)[?*{]|\(\?/.test(plain);
}

function extractAll(call: CallSql): string {
  const { parts, span, type } = call;
  const pattern = fullPatternOf(call);
  if (pattern === undefined) return nullOf(type);
  const groups = compile(pattern, call).program.groupCount();
  if (groups > 1) return refuse('REGEXP_EXTRACT_ALL with this pattern', span);
  return parts.once(call.arguments[0]!, (text) => {
    const found = `extractAll(assumeNotNull(${text}), ${parts.text(`(?-s)${pattern}`, span)})`;
    return `CAST(if(isNull(${text}), [], [${found}]), '${storedType(type)}')`;
  });
}

function replace(call: CallSql): string {
  const { parts, span, type } = call;
  const pattern = fullPatternOf(call);
  const replacement = constantOf(call, 2);
  if (pattern === undefined || replacement === null) return nullOf(type);
  const text = String(replacement);
  const groups = compile(pattern, call).program.groupCount();
  const rest = text.replaceAll(/\\[0-9]/g, (group) => (Number(group[1]) > groups ? '\\' : ''));
  if (rest.includes('\\')) return refuse('REGEXP_REPLACE with this replacement', span);
  const bound = parts.text(`(?-s)${pattern}`, span);
  return `replaceRegexpAll(${call.arguments[0]}, ${bound}, ${parts.text(text, span)})`;
}
