import { type SqlType, typeName } from '../../../engine/columns.ts';
import type { FrameBound, WindowFrame } from '../../../engine/index.ts';
import type { Reduce } from './aggregate-sql.ts';
import { reduceLists } from './list-reduce.ts';
import { refuse } from './refusal.ts';
import { overText, WHOLE_PARTITION } from './relation-sql.ts';
import type { OrderKey } from './sort-sql.ts';
import { literal } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';
import type { RangeKey, WindowStages } from './window-sql.ts';

type RangeFrame = {
  readonly frame: WindowFrame;
  readonly key: RangeKey;
  readonly partition: readonly string[];
  /** The order of the window, in which rows may be peers, and one in which none are. */
  readonly order: readonly OrderKey[];
  readonly total: readonly OrderKey[];
  readonly stages: WindowStages;
  readonly parts: StatementParts;
};

/**
 * Functions over a frame of RANGE whose bounds are distances from the row's key. ClickHouse has none for keys that may be
 * NULL: the rows of a partition become a list beside each of them, and the function reads a part of it.
 */
export function rangeReduce(of: RangeFrame): Reduce {
  const { stages, partition, total } = of;
  const whole = overText({ partition, order: total, frame: WHOLE_PARTITION });
  const listOf = (name: string) => stages.reduced.add(`groupArray(tuple(${name}))${whole}`);
  const keys = listOf(of.key.name);
  const start = stages.located.add(edgeSql(of, keys, 'start'));
  const end = stages.located.add(edgeSql(of, keys, 'end'));
  const part = (name: string) =>
    stages.sliced.add(
      `arrayMap(e -> e.1, arraySlice(${listOf(name)}, ${start} + 1, greatest(0, ${end} - ${start})))`,
    );
  return reduceLists({ listOf: part, anyList: part(of.key.name) });
}

/** How many rows of the partition stand before the frame's start, or its end. */
function edgeSql(of: RangeFrame, keys: string, side: 'start' | 'end'): string {
  const { partition, order, stages, frame } = of;
  const peersBefore = stages.reduced.add(`toInt64(rank()${overText({ partition, order })}) - 1`);
  const peersEnd = stages.reduced.add(`toInt64(count()${overText({ partition, order })})`);
  const ofPeers = side === 'start' ? peersBefore : peersEnd;
  const bound = frame[side];
  switch (bound.kind) {
    case 'unbounded-preceding':
      return 'toInt64(0)';
    case 'unbounded-following':
      return `toInt64(length(${keys}))`;
    case 'current-row':
      return ofPeers;
    default: {
      const limit = limitSql(of, bound, side);
      const { name, descending, type } = of.key;
      const operator = `${descending ? '>' : '<'}${side === 'start' ? '' : '='}`;
      const row = stages.reduced.add(`row_number()${overText({ partition, order: of.total })}`);
      // All that are no ordinary numbers stand together on one side of those that are.
      const stands = `if(${isOrdinary('k.1', type)}, k.1 ${operator} l, i < ${row})`;
      const before = `arrayCount((k, i) -> ifNull(${stands}, 0), ${keys}, arrayEnumerate(${keys}))`;
      const counted = `arrayMap(l -> toInt64(${before}), [${limit}])[1]`;
      return `if(${isOrdinary(name, type)}, ${counted}, ${ofPeers})`;
    }
  }
}

function isOrdinary(value: string, { kind }: SqlType): string {
  return kind === 'FLOAT64' ? `ifNull(NOT isNaN(${value}), 0)` : `isNotNull(${value})`;
}

/** The key that a bound lies at. What finite numbers come to beyond a double does not reach the infinite keys. */
function limitSql(
  { key, parts }: RangeFrame,
  bound: Extract<FrameBound, { readonly amount: unknown }>,
  side: 'start' | 'end',
): string {
  const { name, type, descending } = key;
  if (bound.amount.op !== 'literal' || bound.amount.type.kind !== type.kind) {
    return refuse('this distance of a frame', undefined);
  }
  const amount = literal(bound.amount.value, type, { parts });
  const isLess = (bound.kind === 'preceding') !== descending;
  const sign = isLess ? '-' : '+';
  if (type.kind === 'INT64') return `toInt128(${name}) ${sign} toInt128(${amount})`;
  if (type.kind !== 'FLOAT64') {
    return refuse(`a frame with a distance of type ${typeName(type)}`, undefined);
  }
  const exact = `${name} ${sign} ${amount}`;
  const raised = parts.raise(`isNaN(${exact}) AND NOT isNaN(${name})`, {
    code: 'query_failed',
    message: 'a RANGE frame cannot reach an infinite amount from an infinite key',
    span: undefined,
  });
  const isOutward = (side === 'start') === (bound.kind === 'preceding');
  const isBeyond = isOutward
    ? `isInfinite(${exact}) AND isFinite(${name}) AND isFinite(${amount})`
    : '0';
  const greatest = `${isLess ? '-' : ''}1.7976931348623157e308`;
  return `multiIf(${raised} = 1, 0., ${isBeyond}, ${greatest}, ${exact})`;
}
