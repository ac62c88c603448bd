import { typeName } from '../../../engine/columns.ts';
import type { AggregateSqlCall } from './aggregate-sql.ts';
import { refuse } from './refusal.ts';
import { sortablePart } from './sort-sql.ts';
import { storedType } from './sql-type.ts';

/** Values that a call may ask for; the embedded engine has the same bound. */
const TOP_VALUES_MAX = 10_000;

/** APPROX_TOP_COUNT and APPROX_TOP_SUM, which are exact: the values of a group by their weights, equals by value. */
export const topValuesSql = {
  approx_top_count: (of: AggregateSqlCall) =>
    topValues(of, {
      row: `tuple(${keyOf(of)}, ${of.arguments[0]})`,
      weigh: (rows) => `toNullable(toInt64(length(${rows})))`,
    }),
  approx_top_sum: topSum,
};

function topSum(of: AggregateSqlCall): string {
  const [value, weight] = of.arguments as [string, string];
  const type = of.types[1]!;
  if (type.kind !== 'INT64') return refuse(`APPROX_TOP_SUM of ${typeName(type)}`, undefined);
  const { parts } = of;
  const badCount = of.reduce('count', [], `ifNull(${weight} < 0, 0)`);
  const negative = parts.raise(`${badCount} > 0`, {
    code: 'query_failed',
    message: 'the weights of APPROX_TOP_SUM must be from 0',
    span: undefined,
  });
  const sums = topValues(of, {
    row: `tuple(${keyOf(of)}, ${value}, ${weight})`,
    weigh: (rows) =>
      parts.once(`arrayReduce('sum', arrayMap(r -> toInt128(r.3), ${rows}))`, (sum) => {
        const raised = parts.raise(`${sum} > 9223372036854775807`, {
          code: 'query_failed',
          message: 'integer overflow in SUM',
          span: undefined,
        });
        return `if(${raised} = 0, toNullable(toInt64(${sum})), NULL)`;
      }),
  });
  return `if(${negative} = 0, ${sums}, [])`;
}

function keyOf({ arguments: [value], types: [type] }: AggregateSqlCall): string {
  return sortablePart(value!, type!);
}

/** Rows begin with a key, equal where values are, and the value. */
function topValues(
  of: AggregateSqlCall,
  { row, weigh }: { readonly row: string; readonly weigh: (rows: string) => string },
): string {
  const { parts, type } = of;
  const [number] = of.call.constants;
  const count = number?.op === 'literal' ? Number(number.value ?? 0) : 0;
  if (!(count >= 1 && count <= TOP_VALUES_MAX)) {
    return refuse(
      `the top of a number of values that is not from 1 to ${TOP_VALUES_MAX}`,
      undefined,
    );
  }
  const sorted = `arraySort(r -> r.1, ${of.reduce('groupArray', [row])})`;
  return parts.once(sorted, (rows) => {
    const isNext = `arrayMap((r, i) -> i > 1 AND ${rows}[i - 1].1 != r.1, ${rows}, arrayEnumerate(${rows}))`;
    const group = parts.variable();
    const entry = `tuple(${weigh(group)}, ${group}[1].2)`;
    const entries = `arrayMap(${group} -> ${entry}, arraySplit((r, i) -> i, ${rows}, ${isNext}))`;
    return parts.once(entries, (list) => {
      const key = 'tuple(isNull(r.1), -ifNull(r.1, 0), i)';
      const ranked = `arraySort((r, i) -> ${key}, ${list}, arrayEnumerate(${list}))`;
      const top = `arrayMap(r -> [tuple(r.2, r.1)], arraySlice(${ranked}, 1, ${count}))`;
      const stored = storedType(type);
      return `if(empty(${rows}), CAST([], '${stored}'), CAST([${top}], '${stored}'))`;
    });
  });
}
