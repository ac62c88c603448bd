import {
  arrayOf,
  elementTypeOf,
  MADE_TEXT_LENGTH_MAX,
  type SqlType,
} from '../../../../engine/columns.ts';
import { dynamicList } from '../dynamic-sql.ts';
import { isScalar, nullOf, storedType } from '../sql-type.ts';
import { checkedSize, lengthOf } from './fill-sql.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes, strict } from './function-sql.ts';

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
  array_first: endElement(1),
  array_last: endElement(-1),
  array_slice: slice,
  array_includes: includes,
  array_to_string: joinTexts,
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
      parts.once(positionOf(call.arguments[1]!, base), (position) => {
        const constant = CONSTANT.exec(position)?.[1];
        if (constant !== undefined && constant !== '0') {
          // Beyond the end of an Array, and of none, there is the default, which is NULL.
          const value = `${list}[1][${constant}]`;
          const isThere = Number(constant) <= (call.facts[0]?.elementCount ?? 0);
          if (isSafe || isThere) return value;
          const isBad = `notEmpty(${list}) AND length(${list}[1]) < ${constant}`;
          return checked({ ...call, type }, value, isBad, 'array index out of bounds');
        }
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

const CONSTANT = /^toInt64\((\d{1,15})\)$/;

/** A place from 1 on. ClickHouse takes long to analyse what binds a variable, and a constant needs none. */
function positionOf(index: string, base: 0 | 1): string {
  const constant = CONSTANT.exec(index)?.[1];
  if (constant === undefined) return `${index} + ${1 - base}`;
  return `toInt64(${Number(constant) + 1 - base})`;
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

/** The first or last one; an error of an empty array. */
function endElement(position: 1 | -1): FunctionSql {
  return (call) => {
    const { parts, type } = call;
    return parts.once(listOf(call, 0), (list) => {
      const isBad = `NOT empty(${list}) AND empty(${list}[1])`;
      const message = `${call.name.toUpperCase()} takes an array with elements`;
      const found = `${list}[1][${position}]`;
      const value = isScalar(type) ? `if(empty(${list}), NULL, ${found})` : found;
      return checked(call, value, isBad, message);
    });
  };
}

/** From one position to another, both inclusive, from 0 or, if negative, from the end. */
function slice(call: CallSql): string {
  const { parts } = call;
  const [, start, end] = call.arguments as [string, string, string];
  return parts.once(listOf(call, 0), (list) =>
    parts.once(start, (from) =>
      parts.once(end, (to) => {
        const size = `toInt64(length(${list}[1]))`;
        const [first, last] = [from, to].map(
          (place) => `if(${place} < 0, ${size} + ${place}, ${place})`,
        );
        const begin = `greatest(${first}, toInt64(0))`;
        const count = `greatest(least(${last}, ${size} - 1) - ${begin} + 1, toInt64(0))`;
        const isMissing = `empty(${list}) OR isNull(${from}) OR isNull(${to})`;
        const part = `arraySlice(${list}[1], assumeNotNull(${begin}) + 1, assumeNotNull(${count}))`;
        return `CAST(if(${isMissing}, [], [${part}]), '${storedType(call.type)}')`;
      }),
    ),
  );
}

/** NULL elements equal nothing. */
function includes(call: CallSql): string {
  const [list, type] = call.types as [SqlType, SqlType];
  const isPlain = isScalar(type) && type.kind !== 'FLOAT64' && type.kind !== 'JSON';
  if (list.kind === 'NULL') return nullOf(call.type);
  if (list.kind !== 'ARRAY' || !isPlain || list.element.kind !== type.kind)
    return refuseTypes(call);
  return strict(call, (elements, wanted) => `has(${elements}, ${wanted})`);
}

/** NULLs are left out, or written as the third argument says. */
function joinTexts(call: CallSql): string {
  const { parts, types } = call;
  const each = parts.variable();
  const ofText = { ...call, types: types.slice(1) };
  return strict(call, (list, separator, nullText) => {
    const known = `arrayMap(${each} -> assumeNotNull(${each}), arrayFilter(${each} -> isNotNull(${each}), ${list}))`;
    const texts =
      nullText === undefined ? known : `arrayMap(${each} -> ifNull(${each}, ${nullText}), ${list})`;
    // ClickHouse itself takes a constant between them only.
    const joined = `substring(arrayStringConcat(arrayMap(${each} -> concat(${separator}, ${each}), ${texts})), length(${separator}) + 1)`;
    return parts.once(joined, (text) => {
      const given = `arraySum(arrayMap(${each} -> ${lengthOf(ofText, each)}, ${known}))`;
      const growth = `if(length(${text}) > ${MADE_TEXT_LENGTH_MAX}, toInt64(${lengthOf(ofText, text)}) - toInt64(${given}), 0)`;
      return checkedSize(call, text, growth);
    });
  });
}

/** Arrays to one; NULL where one is. */
export function concatArrays(call: CallSql): string {
  const { parts, type } = call;
  if (!call.types.every(({ kind }) => kind === 'ARRAY')) return refuseTypes(call);
  const lists = call.arguments;
  return parts.once(`tuple(${lists.join(', ')})`, (all) => {
    const isMissing = lists.map((_, index) => `empty(${all}.${index + 1})`).join(' OR ');
    const elements = lists.map((_, index) => `${all}.${index + 1}[1]`).join(', ');
    return `CAST(if(${isMissing}, [], [arrayConcat(${elements})]), '${storedType(type)}')`;
  });
}
