import { arrayOf, elementTypeOf, type SqlType } from '../../../../engine/column/type.ts';
import { dynamicList } from '../dynamic-sql.ts';
import { isScalar, nullOf, storedType } from '../sql-type.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes } from './function-sql.ts';

export const arraySql: Readonly<Record<string, FunctionSql>> = {
  array_length: (call) =>
    call.parts.once(
      listOf(call, 0),
      (list) => `if(empty(${list}), NULL, toInt64(length(${list}[1])))`,
    ),
  array_offset: element({ base: 0, isSafe: false }),
  array_safe_offset: element({ base: 0, isSafe: true }),
  array_ordinal: element({ base: 1, isSafe: false }),
  array_safe_ordinal: element({ base: 1, isSafe: true }),
  in_array: isInArray,
  array_concat: concatArrays,
  array_reverse: (call) => {
    const list = call.parts.variable();
    return `arrayMap(${list} -> arrayReverse(${list}), ${listOf(call, 0)})`;
  },
};

/** An argument that is an ARRAY, or a field that is read as a list. */
function listOf(call: CallSql, index: number): string {
  const value = call.arguments[index]!;
  if (call.types[index]!.kind === 'NULL') return nullOf(arrayOf({ kind: 'INT64' }));
  return call.types[index]!.kind === 'DYNAMIC' ? dynamicList(value, call.parts) : value;
}

/** Beyond the ends an error, or NULL; of no array NULL. */
function element({
  base,
  isSafe,
}: {
  readonly base: 0 | 1;
  readonly isSafe: boolean;
}): FunctionSql {
  return (call) => {
    const { parts } = call;
    const type: SqlType = elementTypeOf(call.types[0]!);
    return parts.once(listOf(call, 0), (list) =>
      parts.once(`${call.arguments[1]} + ${1 - base}`, (position) => {
        const isThere = `${position} BETWEEN 1 AND length(${list}[1])`;
        const found = `${list}[1][if(ifNull(${isThere}, 0), assumeNotNull(${position}), 0)]`;
        const isMissing = `empty(${list}) OR isNull(${position})`;
        const isBad = `NOT (${isMissing}) AND NOT (${isThere})`;
        const value = isScalar(type)
          ? `if(${isMissing} OR NOT ${isThere}, NULL, ${found})`
          : `if(${isMissing}, ${nullOf(type)}, ${found})`;
        if (isSafe) return `if(${isBad}, ${nullOf(type)}, ${value})`;
        return checked({ ...call, type }, value, isBad, 'array index out of bounds');
      }),
    );
  };
}

/** NULL where nothing equals and something may; FALSE of an empty list, and of none. */
function isInArray(call: CallSql): string {
  const [type, list] = call.types as [SqlType, SqlType];
  const isPlain = isScalar(type) && type.kind !== 'FLOAT64' && type.kind !== 'JSON';
  if (list.kind !== 'ARRAY' || !isPlain || list.element.kind !== type.kind)
    return refuseTypes(call);
  const { parts } = call;
  return parts.once(call.arguments[0]!, (value) =>
    parts.once(`${call.arguments[1]}[1]`, (elements) => {
      const found = `has(${elements}, ${value})`;
      return `multiIf(empty(${elements}), 0, isNull(${value}), NULL, ${found}, 1, has(${elements}, NULL), NULL, 0)`;
    }),
  );
}

function concatArrays(call: CallSql): string {
  const { parts, type } = call;
  if (!call.types.every(({ kind }) => kind === 'ARRAY')) return refuseTypes(call);
  const lists = call.arguments;
  return parts.once(`tuple(${lists.join(', ')})`, (all) => {
    const isMissing = lists.map((_, index) => `empty(${all}.${index + 1})`).join(' OR ');
    const elements = lists.map((_, index) => `${all}.${index + 1}[1]`).join(', ');
    return `CAST(if(${isMissing}, [], [arrayConcat(${elements})]), '${storedType(type)}')`;
  });
}
