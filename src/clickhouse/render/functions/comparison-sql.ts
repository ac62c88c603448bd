import { DYNAMIC, type SqlType } from '../../../../engine/columns.ts';
import { intervalKey } from '../interval-sql.ts';
import { type Comparison, compareNumbers } from '../number-sql.ts';
import { sortablePart } from '../sort-sql.ts';
import { isNull, isScalar, nullOf } from '../sql-type.ts';
import { canRaise, type StatementParts } from '../statement-parts.ts';
import { type CallSql, constantOf, type FunctionSql, refuseTypes } from './function-sql.ts';
import { likeSql } from './like-sql.ts';

export const comparisonSql: Readonly<Record<string, FunctionSql>> = {
  '=': comparing('='),
  '!=': comparing('!='),
  '<': comparing('<'),
  '<=': comparing('<='),
  '>': comparing('>'),
  '>=': comparing('>='),
  is_distinct: isDistinct,
  in: isIn,
  like: (call) => likeSql(call, constantOf(call, 1)),
  nullif: nullIf,
  greatest: extreme('>'),
  least: extreme('<'),
  and: ({ arguments: values }) => `(${values.join(' AND ')})`,
  or: ({ arguments: values }) => `(${values.join(' OR ')})`,
  not: ({ arguments: [value] }) => `(NOT (${value}))`,
  is_true: ({ arguments: [value] }) => `ifNull(${value}, 0)`,
  is_false: ({ arguments: [value] }) => `(NOT ifNull(${value}, 1))`,
  is_null: ({ arguments: [value], types: [type], parts }) =>
    parts.once(value!, (name) => isNull(name, type!)),
};

function comparing(operator: Comparison): FunctionSql {
  return (call) => {
    const [left, right] = call.arguments as [string, string];
    return compare(operator, { left, right }, call);
  };
}

type Pair = { readonly left: string; readonly right: string };

function compare(operator: Comparison, { left, right }: Pair, call: CallSql): string {
  const [leftType, rightType] = call.types as [SqlType, SqlType];
  const types = [leftType, rightType];
  if (types.some(({ kind }) => kind === 'NUMBER')) {
    const operands = [
      { sql: left, type: leftType },
      { sql: right, type: rightType },
    ] as const;
    return compareNumbers(operator, ...operands, call.parts);
  }
  if (types.every(({ kind }) => kind === 'INTERVAL')) {
    const [one, other] = [left, right].map((value) => call.parts.once(value, intervalKey));
    return `(${one} ${operator} ${other})`;
  }
  const areDynamic = types.every(({ kind }) => kind === 'DYNAMIC');
  const isEquality = operator === '=' || operator === '!=';
  if (areDynamic && !isEquality) return compareFields(operator, { left, right }, call.parts);
  if (!types.every(isComparable)) return refuseTypes(call);
  const [one, other] = [
    computedBeside(left, right, leftType),
    computedBeside(right, left, rightType),
  ];
  return `(${one} ${operator} ${other})`;
}

/** ClickHouse computes nothing beside a constant NULL, not even what fails. */
function computedBeside(value: string, other: string, type: SqlType): string {
  return value === nullOf(type) && canRaise(other) ? `materialize(${value})` : value;
}

/** By kind and value, as ORDER BY has it. */
function compareFields(operator: Comparison, { left, right }: Pair, parts: StatementParts): string {
  return parts.once(left, (one) =>
    parts.once(right, (other) => {
      const [key, otherKey] = [one, other].map((name) => sortablePart(name, DYNAMIC));
      return `if(isNull(${one}) OR isNull(${other}), NULL, ${key} ${operator} ${otherKey})`;
    }),
  );
}

/** Whether ClickHouse compares values of a type by itself as the engine does. */
function isComparable(type: SqlType): boolean {
  return isScalar(type) && type.kind !== 'JSON' && type.kind !== 'INTERVAL';
}

function isDistinct(call: CallSql): string {
  const [left, right] = call.arguments as [string, string];
  if (!call.types.every(isComparable)) return refuseTypes(call);
  const { parts } = call;
  return parts.once(left, (one) =>
    parts.once(right, (other) => {
      const areFloats = call.types.some(({ kind }) => kind === 'FLOAT64');
      const areNaN = areFloats ? ` OR (isNaN(${one}) AND isNaN(${other}))` : '';
      const equal = `ifNull(${one} = ${other}${areNaN}, 0) OR (isNull(${one}) AND isNull(${other}))`;
      return `(NOT (${equal}))`;
    }),
  );
}

/** NULL where nothing equals and something may: as OR has it. */
function isIn(call: CallSql): string {
  const [value, ...list] = call.arguments as [string, ...string[]];
  const [type, ...types] = call.types as [SqlType, ...SqlType[]];
  return call.parts.once(value, (name) => {
    const tests = list.map((item, index) =>
      compare('=', { left: name, right: item }, { ...call, types: [type, types[index]!] }),
    );
    return `(${tests.join(' OR ')})`;
  });
}

function nullIf(call: CallSql): string {
  const [value, other] = call.arguments as [string, string];
  return call.parts.once(value, (name) => {
    const equal = compare('=', { left: name, right: other }, call);
    return `if(ifNull(${equal}, 0), ${nullOf(call.type)}, ${name})`;
  });
}

/** NULL where a value is NULL; NaN where one is NaN. */
function extreme(operator: '<' | '>'): FunctionSql {
  return (call) => {
    const [first, ...rest] = call.arguments as [string, ...string[]];
    const kind = call.types[0]!.kind;
    const isOrdered = (type: SqlType) =>
      isComparable(type) || type.kind === 'INTERVAL' || type.kind === 'NUMBER';
    if (!call.types.every((type) => isOrdered(type) && type.kind === kind))
      return refuseTypes(call);
    return rest.reduce((best, value) => better({ best, value, operator, kind }, call.parts), first);
  };
}

function better(
  of: {
    readonly best: string;
    readonly value: string;
    readonly operator: '<' | '>';
    readonly kind: string;
  },
  parts: StatementParts,
): string {
  return parts.once(of.best, (best) =>
    parts.once(of.value, (value) => {
      if (of.kind === 'INTERVAL') {
        const isBetter = `${intervalKey(value)} ${of.operator} ${intervalKey(best)}`;
        return `multiIf(empty(${best}) OR empty(${value}), [], ifNull(${isBetter}, 0), ${value}, ${best})`;
      }
      if (of.kind === 'NUMBER') return betterNumber({ ...of, best, value }, parts);
      if (of.kind === 'DYNAMIC') {
        const isBetter = compareFields(of.operator, { left: value, right: best }, parts);
        return `multiIf(isNull(${best}) OR isNull(${value}), NULL, ifNull(${isBetter}, 0), ${value}, ${best})`;
      }
      const tests =
        of.kind === 'FLOAT64' ? `isNaN(${best}), ${best}, isNaN(${value}), ${value}, ` : '';
      const isMissing = `isNull(${best}) OR isNull(${value})`;
      return `multiIf(${isMissing}, NULL, ${tests}${value} ${of.operator} ${best}, ${value}, ${best})`;
    }),
  );
}

const NUMBER: SqlType = { kind: 'NUMBER' };

function betterNumber(
  of: { readonly best: string; readonly value: string; readonly operator: '<' | '>' },
  parts: StatementParts,
): string {
  const { best, value } = of;
  const [sql, other] = [value, best].map((each) => ({ sql: each, type: NUMBER }));
  const isBetter = compareNumbers(of.operator, sql!, other!, parts);
  const isMissing = `${isNull(best, NUMBER)} OR ${isNull(value, NUMBER)}`;
  const isNoNumber = (name: string) => `ifNull(isNaN(${name}.2), 0)`;
  return `multiIf(${isMissing}, ${nullOf(NUMBER)}, ${isNoNumber(best)}, ${best}, ${isNoNumber(value)} OR ifNull(${isBetter}, 0), ${value}, ${best})`;
}
