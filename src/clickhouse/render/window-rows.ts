import type { SqlType } from '../../../engine/columns.ts';
import type { Window } from '../../../engine/index.ts';
import type { RenderContext } from './aggregate-rows.ts';
import {
  ComputedColumns,
  named,
  nameOf,
  type RelationSql,
  SqlColumns,
  select,
} from './relation-sql.ts';
import { passedOn } from './select-sql.ts';
import { groupKeyOf } from './sort-sql.ts';
import { asColumn } from './sql-type.ts';
import { deferredOverWindow, type WindowStages, windowSql } from './window-sql.ts';

/** The rows with a column for each call, in the order that they have. */
export function windowRows(
  { partitionBy, orderBy, ties, calls }: Pick<Window, 'partitionBy' | 'orderBy' | 'ties' | 'calls'>,
  below: RelationSql,
  { parts, plans }: RenderContext,
): RelationSql {
  const computed = new ComputedColumns(below, parts, plans);
  const stages: WindowStages = {
    prepared: new SqlColumns(parts),
    reduced: new SqlColumns(parts),
    located: new SqlColumns(parts),
    sliced: new SqlColumns(parts),
  };
  const partition = partitionBy.map((key) => groupKeyOf(computed.addValues(key), key.type));
  const order = orderBy.flatMap((key) => computed.orderKeys(key));
  const tied = [...(ties ?? []).flatMap((key) => computed.orderKeys(key)), ...below.order];
  const [first] = orderBy;
  const columns = new Map([...below.columns, ...named(calls.map(({ column }) => column))]);
  const answers = calls.map(({ column, call }) => {
    const { isDeferred, arguments: values } = call.function;
    // What may fail is computed where the answer is read.
    const inputs = isDeferred ? [] : values.map((argument) => computed.addValues(argument));
    const isDistance = [call.frame?.start, call.frame?.end].some(
      (bound) => bound !== undefined && 'amount' in bound,
    );
    const rangeKey =
      call.frame?.unit === 'range' && isDistance && first !== undefined
        ? { ...first, name: computed.addValues(first.expression), type: first.expression.type }
        : undefined;
    const type: SqlType = column.type;
    const of = { call, type, inputs, partition, order, ties: tied, rangeKey, stages, parts };
    const name = nameOf(column);
    if (!isDeferred) return { name, sql: asColumn(windowSql(of), type) };
    const { sql, answer } = deferredOverWindow(of, {
      below,
      addColumn: (name) => computed.add(name),
      plans,
    });
    if (answer !== undefined) columns.set(column.id, { sql: name, answer });
    return { name, sql };
  });
  const passed = Array.from(below.columns.values(), ({ sql }) => passedOn(sql));
  const rows = [stages.prepared, stages.reduced, stages.located, stages.sliced].reduce(
    (sql, stage) => stage.beside(sql),
    select([...passed, ...computed.items], below).sql,
  );
  return {
    // As a whole: conditions over it must not leave out rows of its windows.
    sql: select([...passed, ...answers], { sql: rows, order: below.order }).sql,
    columns,
    order: below.order,
  };
}
