import { aggregateFunctionNames } from '../../aggregate/registry.ts';
import { isOperator, scalarFunctionNames } from '../../function/registry.ts';
import type { FunctionDoc } from '../../function/scalar-function.ts';
import { windowFunctionNames } from '../../operator/window-functions.ts';

/** A form that reads like a function but that the parser or the binder handles, so that no registry has it. */
export type SpecialForm = {
  /** Lower case. */
  readonly name: string;
  /** How it is written. */
  readonly signature: string;
  readonly doc: FunctionDoc;
};

/** Those that are written as calls, for the binder. */
export const SPECIAL_CALLS: readonly SpecialForm[] = [
  {
    name: 'if',
    signature: 'IF(BOOL, T, T)',
    doc: [
      'The second argument if the condition is TRUE, else the third, also for NULL. The other is not evaluated, so it cannot fail.',
      "IF(1 > 2, 'yes', 'no')",
      "'no'",
    ],
  },
  {
    name: 'coalesce',
    signature: 'COALESCE(T[, …])',
    doc: [
      'The first argument that is not NULL; NULL if there is none. Later arguments are not evaluated, so they cannot fail.',
      "COALESCE(NULL, 'a', 'b')",
      "'a'",
    ],
  },
  {
    name: 'ifnull',
    signature: 'IFNULL(T, T)',
    doc: ['Like `COALESCE` with two arguments.', 'IFNULL(NULL, 0)', '0'],
  },
  {
    name: 'current_timestamp',
    signature: 'CURRENT_TIMESTAMP() → TIMESTAMP',
    doc: [
      'The time of the call, constant within a query.',
      'CURRENT_TIMESTAMP()',
      "TIMESTAMP '2026-01-15 12:00:00+00'",
    ],
  },
  {
    name: 'current_datetime',
    signature: 'CURRENT_DATETIME([STRING]) → DATETIME',
    doc: [
      'The DATETIME of the call, in UTC or the given time zone.',
      "CURRENT_DATETIME('Europe/Berlin')",
      "DATETIME '2026-01-15 13:00:00'",
    ],
  },
  {
    name: 'current_date',
    signature: 'CURRENT_DATE([STRING]) → DATE',
    doc: [
      'The day of the call, in UTC or the given time zone.',
      'CURRENT_DATE()',
      "DATE '2026-01-15'",
    ],
  },
  {
    name: 'current_time',
    signature: 'CURRENT_TIME([STRING]) → TIME',
    doc: [
      'The time of day of the call, in UTC or the given time zone.',
      'CURRENT_TIME()',
      "TIME '12:00:00'",
    ],
  },
];

/** Those with a syntax of their own, for the parser. */
export const SYNTAX_FORMS: readonly SpecialForm[] = [
  {
    name: 'case',
    signature: 'CASE [T] WHEN … THEN … [ELSE …] END',
    doc: [
      'The result of the first `WHEN` whose condition is TRUE or, after `CASE x`, whose value equals `x`; otherwise the result of `ELSE`, or NULL.',
      "CASE 404 WHEN 200 THEN 'ok' ELSE 'failed' END",
      "'failed'",
    ],
  },
  {
    name: 'cast',
    signature: 'CAST(T AS type [FORMAT STRING [AT TIME ZONE STRING]])',
    doc: [
      'Converts a value to another type; an error if that is impossible. A FLOAT64 is rounded to an INT64, halves away from 0.',
      "CAST('42' AS INT64)",
      '42',
    ],
  },
  {
    name: 'safe_cast',
    signature: 'SAFE_CAST(T AS type [FORMAT STRING [AT TIME ZONE STRING]])',
    doc: ['Like `CAST`, but NULL instead of an error.', "SAFE_CAST('n/a' AS INT64)", 'NULL'],
  },
];

/** Every name a call may bear, for hints. */
export function functionNames(): readonly string[] {
  return [
    ...SPECIAL_CALLS.map(({ name }) => name),
    ...aggregateFunctionNames(),
    ...windowFunctionNames(),
    ...scalarFunctionNames().filter((name) => !isOperator(name)),
  ];
}

const RANDOM = 'the same data gives the same answer, so nothing is random';

/**
 * Functions of GoogleSQL that a text may not call here, or of PostgreSQL that have another name, and why.
 * They are known so that nobody looks for a slip of the pen.
 */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['rand', RANDOM],
  ['generate_uuid', RANDOM],
  ['now', 'the time of the query is CURRENT_TIMESTAMP()'],
  ['session_user', 'a query runs for a token, and no token is a user'],
  ['net.reg_domain', 'there is no list of public suffixes; REGEXP_EXTRACT may do'],
  ['net.public_suffix', 'there is no list of public suffixes; REGEXP_EXTRACT may do'],
]);

/** The reason why a call of that name, in lower case, is refused; `undefined` for other names. */
export function whyRefused(name: string): string | undefined {
  return REFUSED.get(name);
}
