import type { Kind } from '../workload/workload.ts';
import type { AnswerRow } from './question.ts';
import { TABLES, type Table } from './table.ts';

/** How an engine is asked, at once or in its own time. */
type Asked = {
  /** What its tables' names begin with. */
  readonly prefix?: string;
  readonly has: (table: Table) => boolean | Promise<boolean>;
  readonly rows: (sql: string) => readonly AnswerRow[] | Promise<readonly AnswerRow[]>;
};

/** How many events each kind has that was loaded. */
export async function countTables({
  prefix = '',
  has,
  rows,
}: Asked): Promise<ReadonlyMap<Kind, number>> {
  const counts = new Map<Kind, number>();
  for (const table of TABLES) {
    if (!(await has(table))) continue;
    const [row] = await rows(`SELECT count(*) FROM ${prefix}${table.name}`);
    counts.set(table.kind, Number(row![0]));
  }
  return counts;
}
