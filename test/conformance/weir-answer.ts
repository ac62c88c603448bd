import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { typeName } from '../../engine/column/type.ts';
import { executeQuery } from '../../engine/plan/execute.ts';
import type { BoundQuery, LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { foldPlan } from '../../engine/plan/optimize/fold.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { type PhysicalScan, physicalPlanOf, scansOf } from '../../engine/plan/physical-plan.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { batchOf } from '../column/batch-of.ts';
import { budgetOf } from '../support/budget.ts';
import type { CaseParameter } from './case-file.ts';
import type { DataTable } from './data-tables.ts';
import { type GoogleValue, googleJson } from './google-value.ts';

export type WeirAnswer =
  | {
      readonly columns: readonly { readonly name: string; readonly type: string }[];
      /** Each row as the JSON text of a list of its values. */
      readonly rows: readonly string[];
      readonly isOrdered: boolean;
      readonly readsEvents: boolean;
      readonly error?: undefined;
    }
  | { readonly error: QueryError };

/** How a query is run: as it is bound, or optimised; over open segments, or over sealed ones. */
export type WeirWay = { readonly optimized: boolean; readonly sealed: boolean };

export const WEIR_WAYS: readonly WeirWay[] = [
  { optimized: false, sealed: false },
  { optimized: true, sealed: false },
  { optimized: true, sealed: true },
];

/** In how many of the ways each query is run; in `npm test` in one, which is the next way for the next query. */
const WAYS_PER_QUERY = budgetOf('WEIR_CONFORMANCE_WAYS', { fast: 1, all: WEIR_WAYS.length });

/** The ways in which the query with this number is run. */
export function waysOf(number: number): readonly WeirWay[] {
  return Array.from(
    { length: WAYS_PER_QUERY },
    (_, index) => WEIR_WAYS[(number + index) % WEIR_WAYS.length]!,
  );
}

const ROWS_MAX = 100_000;
const PARTITION_US = 86_400_000_000;

/** Readers are kept by the segment's id, so none may come twice in a process: other tests have lower ones. */
let segmentCount = 1_000_000;

/** weir's engine over some tables, from text to JSON, without threads. */
export class WeirUnderTest {
  readonly #sources: readonly { readonly name: string; readonly projectPath: readonly string[] }[];
  readonly #open = new Map<string, OpenSegment>();
  readonly #sealed = new Map<string, readonly Segment[]>();

  constructor(tables: readonly DataTable[]) {
    this.#sources = tables.map(({ name }) => ({ name, projectPath: ['project'] }));
    for (const { name, events } of tables) {
      const segment = new OpenSegment({ id: segmentCount++, arrivalBase: 0 });
      segment.append(batchOf(events), 0, events.length);
      segment.publish();
      this.#open.set(name, segment);
      const buffers = sealSegment(segment.handle(), { partitionUs: PARTITION_US });
      const handles = buffers.map((buffer) => ({
        kind: 'sealed' as const,
        id: segmentCount++,
        buffer,
      }));
      this.#sealed.set(name, handles.map(readSegment));
    }
  }

  /** The bound plan of a text; throws a QueryError. */
  bind(sql: string, parameters: readonly CaseParameter[]): BoundQuery {
    return bindQuery(parseQuery(sql), { sources: this.#sources, parameters });
  }

  answer(
    query: {
      readonly sql: string;
      readonly parameters: readonly CaseParameter[];
      readonly nowUs: number;
    },
    way: WeirWay,
  ): WeirAnswer {
    try {
      const syntax = parseQuery(query.sql);
      const bound = bindQuery(syntax, { sources: this.#sources, parameters: query.parameters });
      const call = {
        parameters: new Map(
          query.parameters.map(({ name, value }) => [name.toLowerCase(), value] as const),
        ),
        nowUs: query.nowUs,
      };
      const plan = way.optimized
        ? optimize(bound, { ...call, sources: this.#sources, rowsMax: ROWS_MAX })
        : foldPlan(bound.plan, call);
      const columns = bound.output.map(({ name, type }) => ({ name, type: typeName(type) }));
      const rows = this.#run(plan, bound, way.sealed);
      const readsEvents =
        scansOf(physicalPlanOf(foldPlan(bound.plan, call), EVERYTHING)).length > 0;
      return { columns, rows, isOrdered: syntax.orderBy.length > 0, readsEvents };
    } catch (error) {
      if (error instanceof QueryError) return { error };
      throw error;
    }
  }

  #run(plan: LogicalPlan, bound: BoundQuery, sealed: boolean): readonly string[] {
    const physical = physicalPlanOf(plan, EVERYTHING);
    const writer = new RowWriter(bound.output, physical, new JsonBuffer());
    const segments = scansOf(physical).map((scan) => this.#segmentsOf(scan, sealed));
    executeQuery(physical, { segments, checkpoint: () => {} }, writer);
    const json = Buffer.from(writer.finish().json).toString();
    const rows = JSON.parse(json) as readonly { readonly [column: string]: GoogleValue }[];
    return rows.map((row) => googleJson(bound.output.map(({ name }) => row[name]!)));
  }

  #segmentsOf(scan: PhysicalScan, sealed: boolean): readonly Segment[] {
    if (sealed) return this.#sealed.get(scan.source)!;
    return [readSegment(this.#open.get(scan.source)!.handle(scan.projectKey))];
  }
}
