import type { SqlType } from '../../../../engine/columns.ts';
import type { Expression } from '../../../../engine/index.ts';
import { asFloat, asNumber, numberOfFloat, numberOfInteger } from '../number-sql.ts';
import { isNull, nullOf, storedType } from '../sql-type.ts';
import type { StatementParts } from '../statement-parts.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes } from './function-sql.ts';
import { negatedInterval, timeArithmetic } from './interval-functions-sql.ts';

export const arithmeticSql: Readonly<Record<string, FunctionSql>> = {
  '+': binary('+'),
  '-': binary('-'),
  '*': binary('*'),
  '/': divide,
  safe_divide: (call) => divide({ ...call, isSafe: true }),
  safe_add: (call) => binary('+')({ ...call, isSafe: true }),
  safe_subtract: (call) => binary('-')({ ...call, isSafe: true }),
  safe_multiply: (call) => binary('*')({ ...call, isSafe: true }),
  neg: negate,
  safe_negate: (call) => negate({ ...call, isSafe: true }),
  abs: unary((value) => `abs(${value})`),
  sign: unary((value, parts) => parts.once(value, signOrNaN), false),
  div: divideIntegers,
  mod: remainder,
  sqrt: squareRoot,
  is_nan: ({ arguments: [value] }) => `isNaN(${value})`,
  is_inf: ({ arguments: [value] }) => `isInfinite(${value})`,
  ceil: (call) => wholeOf(call, 'ceil'),
  ceiling: (call) => wholeOf(call, 'ceil'),
  floor: (call) => wholeOf(call, 'floor'),
};

const NUMERIC: ReadonlySet<string> = new Set(['INT64', 'FLOAT64', 'NUMBER']);
const INT64_MAX = '9223372036854775807';
const INT64_MIN = "toInt64('-9223372036854775808')";

type Operator = '+' | '-' | '*';

function binary(operator: Operator): FunctionSql {
  return (call) => {
    const [left, right] = call.arguments as [string, string];
    const [leftType, rightType] = call.types as [SqlType, SqlType];
    if (!call.types.every(({ kind }) => NUMERIC.has(kind))) return timeArithmetic(operator, call);
    switch (call.type.kind) {
      case 'INT64':
        return integers(operator, left, right, call);
      case 'FLOAT64': {
        const [one, other] = [
          asFloat(left, leftType, call.parts),
          asFloat(right, rightType, call.parts),
        ];
        return floats(operator, one, other, call);
      }
      case 'NUMBER': {
        const { parts } = call;
        // Texts add 0 to have a field read as a number.
        if (operator !== '*' && leftType.kind === 'NUMBER' && isZero(call.expressions[1])) {
          return left;
        }
        const [one, other] = [asNumber(left, leftType, parts), asNumber(right, rightType, parts)];
        return numbers(operator, one, other, call);
      }
      default:
        return refuseTypes(call);
    }
  };
}

function isZero(expression: Expression | undefined): boolean {
  return expression?.op === 'literal' && expression.value === 0;
}

/** In 128 bits, which hold each result. */
function integers(operator: Operator, left: string, right: string, call: CallSql): string {
  return call.parts.once(`toInt128(${left}) ${operator} toInt128(${right})`, (exact) => {
    const fits = `${exact} BETWEEN ${INT64_MIN} AND ${INT64_MAX}`;
    const value = `toInt64(${exact})`;
    return checked(
      { ...call, type: { kind: 'INT64' } },
      value,
      `NOT (${fits})`,
      `integer overflow in ${operator}`,
    );
  });
}

/** A finite result is wanted of finite operands. */
function floats(operator: Operator | '/', left: string, right: string, call: CallSql): string {
  const { parts } = call;
  return parts.once(left, (one) =>
    parts.once(right, (other) =>
      parts.once(`${one} ${operator} ${other}`, (result) => {
        const isBad = `NOT isFinite(${result}) AND isFinite(${one}) AND isFinite(${other})`;
        const type: SqlType = { kind: 'FLOAT64' };
        return checked({ ...call, type }, result, isBad, `floating point overflow in ${operator}`);
      }),
    ),
  );
}

/** Exact where both are whole. */
function numbers(operator: Operator, left: string, right: string, call: CallSql): string {
  const { parts } = call;
  const type: SqlType = { kind: 'NUMBER' };
  return parts.once(left, (one) =>
    parts.once(right, (other) => {
      const whole = numberOfInteger(integers(operator, `${one}.1`, `${other}.1`, call));
      const [first, second] = [asFloat(one, type, parts), asFloat(other, type, parts)];
      const fraction = numberOfFloat(floats(operator, first, second, call), parts);
      const areWhole = `isNotNull(${one}.1) AND isNotNull(${other}.1)`;
      const isMissing = `${isNull(one, type)} OR ${isNull(other, type)}`;
      return `multiIf(${isMissing}, ${nullOf(type)}, ${areWhole}, ${whole}, ${fraction})`;
    }),
  );
}

function divide(call: CallSql): string {
  const [leftType, rightType] = call.types as [SqlType, SqlType];
  if (!call.types.every(({ kind }) => NUMERIC.has(kind))) return timeArithmetic('/', call);
  const { parts } = call;
  const [left, right] = call.arguments as [string, string];
  return parts.once(asFloat(left, leftType, parts), (one) =>
    parts.once(asFloat(right, rightType, parts), (other) => {
      const divisor = checked(
        { ...call, type: { kind: 'FLOAT64' } },
        other,
        `isNotNull(${one}) AND ${other} = 0`,
        'division by zero',
      );
      return floats('/', one, divisor, call);
    }),
  );
}

/** `overflows`: whether the least INT64 has no answer. */
function signOrNaN(number: string): string {
  return `if(isNaN(${number}), ${number}, sign(${number}))`;
}

function unary(
  render: (value: string, parts: StatementParts) => string,
  overflows = true,
): FunctionSql {
  return (call) => {
    const [value] = call.arguments as [string];
    const { parts } = call;
    const apply = (operand: string): string => render(operand, parts);
    const whole = (integer: string, of: CallSql) =>
      overflows ? wholeUnary(integer, apply, of) : `toInt64(${apply(integer)})`;
    switch (call.type.kind) {
      case 'INT64':
        return whole(value, call);
      case 'FLOAT64':
        return apply(value);
      case 'NUMBER':
        return parts.once(value, (number) => {
          const integer = whole(`${number}.1`, { ...call, type: { kind: 'INT64' } });
          return `CAST(tuple(${integer}, ${apply(`${number}.2`)}), '${storedType(call.type)}')`;
        });
      default:
        return refuseTypes(call);
    }
  };
}

/** The least INT64 has no opposite. */
function wholeUnary(value: string, apply: (value: string) => string, call: CallSql): string {
  return call.parts.once(value, (whole) =>
    checked(call, `toInt64(${apply(whole)})`, `${whole} = ${INT64_MIN}`, 'integer overflow'),
  );
}

function negate(call: CallSql): string {
  if (call.type.kind === 'INTERVAL') return negatedInterval(call);
  return unary((value) => `(-${value})`)(call);
}

function divideIntegers(call: CallSql): string {
  const [left, right] = call.arguments as [string, string];
  const { parts } = call;
  return parts.once(left, (dividend) =>
    parts.once(right, (divisor) => {
      const isZero = `isNotNull(${dividend}) AND ${divisor} = 0`;
      const isOver = `${dividend} = ${INT64_MIN} AND ${divisor} = -1`;
      const isBad = `(${isZero}) OR (${isOver})`;
      // ClickHouse divides where the dividend is NULL, too.
      const quotient = `intDiv(${dividend}, if(${divisor} = 0 OR (${isOver}), 1, ${divisor}))`;
      return checked(call, quotient, isBad, 'DIV by zero, or integer overflow');
    }),
  );
}

/** With the sign of the first number. Of the least INT64 and -1 it is 0. */
function remainder(call: CallSql): string {
  const [left, right] = call.arguments as [string, string];
  const { parts } = call;
  return parts.once(left, (dividend) =>
    parts.once(right, (divisor) => {
      const isBad = `isNotNull(${dividend}) AND ${divisor} = 0`;
      const value = `toInt64(${dividend} % if(${divisor} IN (0, -1), 1, ${divisor}))`;
      return checked(call, value, isBad, 'MOD by zero');
    }),
  );
}

function wholeOf(call: CallSql, name: string): string {
  if (call.arguments.length !== 1) return refuseTypes(call);
  const [type] = call.types as [SqlType];
  return `${name}(${asFloat(call.arguments[0]!, type, call.parts)})`;
}

function squareRoot(call: CallSql): string {
  const [type] = call.types as [SqlType];
  return call.parts.once(asFloat(call.arguments[0]!, type, call.parts), (value) =>
    checked(call, `sqrt(${value})`, `${value} < 0`, 'SQRT of a negative number'),
  );
}
