import { SAFE_PREFIX } from '../../../../engine/index.ts';
import { refuse } from '../refusal.ts';
import { arithmeticSql } from './arithmetic-sql.ts';
import { arraySql } from './array-sql.ts';
import { bitSql } from './bit-sql.ts';
import { byteSql } from './byte-sql.ts';
import { codePointSql } from './code-point-sql.ts';
import { comparisonSql } from './comparison-sql.ts';
import { errorSql } from './error-sql.ts';
import { fillSql } from './fill-sql.ts';
import { formatSql } from './format-sql.ts';
import type { CallSql, FunctionSql } from './function-sql.ts';
import { intervalSql } from './interval-functions-sql.ts';
import { jsonKindSql } from './json-kind-sql.ts';
import { jsonSql } from './json-sql.ts';
import { letterSql } from './letter-sql.ts';
import { mathSql } from './math-sql.ts';
import { netSql } from './net-sql.ts';
import { regexSql } from './regex-sql.ts';
import { roundingSql } from './rounding-sql.ts';
import { seriesSql } from './series-sql.ts';
import { textSql } from './text-sql.ts';
import { timeConversionSql } from './time-conversion-sql.ts';
import { timeFormatSql } from './time-format-sql.ts';
import { timeParseSql } from './time-parse-sql.ts';
import { timeShiftSql } from './time-shift-sql.ts';

/** The functions that ClickHouse computes exactly, by their names in the registry of the engine. */
const FUNCTIONS: ReadonlyMap<string, FunctionSql> = new Map(
  Object.entries({
    ...comparisonSql,
    ...arithmeticSql,
    ...textSql,
    ...regexSql,
    ...timeShiftSql,
    ...timeConversionSql,
    ...timeFormatSql,
    ...timeParseSql,
    ...intervalSql,
    ...seriesSql,
    ...roundingSql,
    ...mathSql,
    ...bitSql,
    ...byteSql,
    ...codePointSql,
    ...fillSql,
    ...letterSql,
    ...jsonKindSql,
    ...netSql,
    ...formatSql,
    ...errorSql,
    ...arraySql,
    ...jsonSql,
  }),
);

/** Refuses a function, or types of arguments, that ClickHouse has no exact form of. */
export function functionSql(call: Omit<CallSql, 'isSafe'>): string {
  const isSafe = call.name.startsWith(SAFE_PREFIX);
  const name = isSafe ? call.name.slice(SAFE_PREFIX.length) : call.name;
  const render = FUNCTIONS.get(name);
  if (render === undefined) return refuse(`the function ${call.name.toUpperCase()}`, call.span);
  return render({ ...call, name, isSafe });
}

/** The names of the functions that are rendered, for some types of arguments at least. */
export function renderedFunctionNames(): readonly string[] {
  return [...FUNCTIONS.keys()];
}
