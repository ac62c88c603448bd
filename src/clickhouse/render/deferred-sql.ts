import { must, type SqlType } from '../../../engine/columns.ts';
import {
  type AggregateCall,
  type ColumnId,
  columnsOf,
  type Expression,
} from '../../../engine/index.ts';
import { aggregateSql, takesFirsts } from './aggregate-sql.ts';
import { type ColumnSql, ExpressionSql } from './expression-sql.ts';
import { reduceLists } from './list-reduce.ts';
import { refuse } from './refusal.ts';
import type { Plans, RelationSql } from './relation-sql.ts';
import { groupKeyOf } from './sort-sql.ts';
import { asColumn } from './sql-type.ts';
import { needing, type StatementParts } from './statement-parts.ts';

export type DeferredCall = {
  readonly call: AggregateCall;
  /** Of the column of the call: the value is its first field. */
  readonly type: SqlType;
  readonly below: RelationSql;
  /** Adds a column of the relation to those that the rows are made of, and gives its name. */
  readonly addColumn: (name: string) => string;
  /** The column that numbers the rows, where their order counts. */
  readonly position: string | undefined;
  readonly parts: StatementParts;
  readonly plans: Plans;
};

/** An aggregate whose errors count only where it is read: until then there is a list of the rows that it is computed of. */
export type DeferredSql = {
  /** What the list has of each row. */
  readonly row: string;
  /** The value, given the list. */
  readonly answer: (list: string) => string;
};

export function deferredSql(of: DeferredCall): DeferredSql {
  const { call, below, position } = of;
  if (call.having !== undefined) {
    return refuse(`${call.name.toUpperCase()} with HAVING in a branch`, undefined);
  }
  const ids = [...new Set(call.arguments.flatMap((argument) => [...columnsOf(argument)]))];
  const names = ids.map((id) =>
    of.addColumn(must(below.columns.get(id), 'a column is given below').sql),
  );
  return {
    row: `tuple(${[position ?? '0', ...names].join(', ')})`,
    answer: (list) => of.parts.once(list, (rows) => answerOf(of, rows, ids)),
  };
}

function answerOf(
  { call, type, position, parts, plans }: DeferredCall,
  rows: string,
  ids: readonly ColumnId[],
): string {
  const row = parts.variable();
  const columns = new Map(
    ids.map((id, index): [ColumnId, ColumnSql] => [id, { sql: `${row}.${index + 2}` }]),
  );
  const expressions = new ExpressionSql({ columns }, parts, plans);
  const place = parts.variable();
  const lists = new Map([[place, `arrayMap(${row} -> ${row}.1, ${rows})`]]);
  const value = (argument: Expression) => {
    const name = parts.variable();
    // Else ClickHouse computes what no row is needed for, and fails, also where there is none.
    const sql = needing(row, asColumn(expressions.of(argument), argument.type));
    lists.set(name, `arrayMap(${row} -> ${sql}, ${rows})`);
    return name;
  };
  const inputs = call.arguments.map(value);
  let isFirst: string | undefined;
  if (takesFirsts(call)) {
    const [first] = inputs as [string];
    const keys = `arrayMap(${first} -> ${groupKeyOf(first, call.arguments[0]!.type)}, ${lists.get(first)})`;
    isFirst = parts.variable();
    lists.set(isFirst, `arrayMap(${row} -> toUInt8(${row} = 1), arrayEnumerateUniq(${keys}))`);
  }
  return aggregateSql({
    call,
    type: type.kind === 'STRUCT' ? type.fields[0]!.type : type,
    arguments: inputs,
    types: call.arguments.map((argument) => argument.type),
    position: position === undefined ? undefined : place,
    isFirst,
    reduce: reduceLists({ listOf: (name) => must(lists.get(name)), anyList: rows }),
    parts,
  });
}
