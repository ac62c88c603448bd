import { must } from '../../engine/assert.ts';
import type { Batch } from '../../engine/column/batch.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import type { SourceSchema } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { executeQuery } from '../../engine/plan/execute.ts';
import type { Column, Expression } from '../../engine/plan/expression.ts';
import type { BoundQuery, LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { rewriteExpressions } from '../../engine/plan/logical-plan.ts';
import { optimize, PASSES, type Pass } from '../../engine/plan/optimize/optimize.ts';
import { physicalPlanOf, scansOf } from '../../engine/plan/physical-plan.ts';
import { EVERYTHING, type Reach } from '../../engine/plan/reach.ts';
import { RowWriter } from '../../engine/plan/row-writer.ts';
import { QueryError } from '../../engine/query-error.ts';
import { admitEvents, refusalSentences } from '../../ingest/admission.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import type { Source } from '../../ingest/source.ts';
import { addColumnsStatements } from '../../src/clickhouse/fields/field-columns.ts';
import { fieldColumnOf, keyOf } from '../../src/clickhouse/fields/field-path.ts';
import { type FindField, fieldPathsOf } from '../../src/clickhouse/fields/field-plan.ts';
import { type Cell, rowJson } from '../../src/clickhouse/render/answer.ts';
import type { ScannedEvents } from '../../src/clickhouse/render/plan-sql.ts';
import { renderQuery } from '../../src/clickhouse/render/query-sql.ts';
import { findFailure } from '../../src/clickhouse/render/statement-parts.ts';
import { EVENTS_TABLE, eventsTableStatement } from '../../src/clickhouse/schema.ts';
import { ShipBatch } from '../../src/clickhouse/ship-batch.ts';
import { SHIPPED_COLUMNS } from '../../src/clickhouse/shipped-row.ts';
import { SHARD_SETTINGS } from '../../src/clickhouse/table-layout.ts';
import { canonicalText, parseExact } from '../support/exact-json.ts';
import { ChdbUnderTest, TWO_SHARDS } from './chdb.ts';

const RETENTION_US = 90 * 86_400_000_000;

/** Readers are kept by the segment's id, so none may come twice in a process. */
const SEGMENT_ID_MIN = 5_000_000;

/** An answer of one of the stores: its rows as canonical JSON, or the code of an error. */
export type StoreAnswer =
  | { readonly rows: readonly string[] }
  | { readonly error: string; readonly message: string };

/** The values that a call brings. */
export type Call = {
  readonly parameters: ReadonlyMap<string, SqlValue>;
  readonly nowUs: number;
  readonly rowsMax: number;
};

/** The same events in the embedded engine and in ClickHouse. */
export class BothStores {
  readonly sources: readonly SourceSchema[];
  readonly clickHouse: ChdbUnderTest;
  readonly #segments = new Map<string, OpenSegment>();
  #segmentCount = 0;
  readonly #pool = new MemoryPool();
  readonly #randomId = randomUuids();
  #postCount = 0;
  /** Posts whose events are twice in a table. */
  #twicePosts: number | undefined;
  readonly #columnNames = new Set<string>();

  constructor(sources: readonly SourceSchema[]) {
    this.sources = sources;
    this.clickHouse = ChdbUnderTest.start();
    this.clickHouse.run(eventsTableStatement());
    this.#openSegments();
  }

  /** Takes all events out. */
  clear(): void {
    this.clickHouse.run(`TRUNCATE TABLE ${EVENTS_TABLE}`);
    this.#openSegments();
  }

  #openSegments(): void {
    for (const { name } of this.sources) {
      const id = SEGMENT_ID_MIN + this.#segmentCount++;
      this.#segments.set(name, new OpenSegment({ id, arrivalBase: 0 }));
    }
  }

  /** Takes a post in as the service does: JSON objects in a list. */
  async post(source: Source, text: string, nowUs: number): Promise<void> {
    const memory = this.#pool.lend();
    const body = await decodeBody([Buffer.from(text)], 'json', memory);
    const options = { source, nowUs, retentionUs: RETENTION_US, randomId: this.#randomId };
    const { batch, refusals } = await admitEvents(body, options);
    const sentences = refusalSentences(refusals);
    if (sentences.length > 0) throw new Error(`events were refused: ${sentences.join('; ')}`);
    await this.add(source.name, batch);
    memory.end();
  }

  async add(source: string, batch: Batch): Promise<void> {
    const segment = must(this.#segments.get(source));
    segment.append(batch, 0, batch.rowCount);
    segment.publish();
    const shipped = new ShipBatch('test');
    const times = batch.timestampsUs.subarray(0, batch.rowCount);
    await shipped.add({
      ...{ source, sequence: this.#postCount++, receivedUs: 0, arrivalBase: 0 },
      ...{ rowCount: batch.rowCount, batch: () => batch },
      ...{ timestampUsMin: Math.min(...times), timestampUsMax: Math.max(...times) },
    });
    for (const { rows } of shipped.days()) {
      await this.clickHouse.insertAsIs({
        ...{ table: `weir.${EVENTS_TABLE}`, columns: [...SHIPPED_COLUMNS] },
        ...{ values: Buffer.from(rows), format: 'TabSeparated' },
      });
    }
  }

  optimized(query: BoundQuery, call: Call): LogicalPlan {
    return optimize(query, { ...call, sources: this.sources });
  }

  /** A plan whose constants are left for the store to compute: only parameters and the clock are put in. */
  unfolded(query: BoundQuery, call: Call): LogicalPlan {
    const settle: Pass = {
      name: 'settle',
      apply: (plan) => rewriteExpressions(plan, (expression) => settled(expression, call)),
    };
    const passes = PASSES.filter(({ name }) => !FOLDING.has(name));
    return optimize(query, { ...call, sources: this.sources }, [settle, ...passes]);
  }

  /** `checkpoint` is called between pieces of work; it may throw. */
  fromEngine(
    plan: LogicalPlan,
    output: readonly Column[],
    checkpoint: () => void = () => {},
    reach: Reach = EVERYTHING,
  ): StoreAnswer {
    return answerOf(() => {
      const physical = physicalPlanOf(plan, reach);
      const writer = new RowWriter(output, physical, new JsonBuffer());
      const segments = scansOf(physical).map(({ source, projectKey }) => [
        readSegment(must(this.#segments.get(source)).handle(projectKey)),
      ]);
      executeQuery(physical, { segments, checkpoint }, writer);
      const rows = parseExact(Buffer.from(writer.finish().json).toString());
      return (rows as readonly (typeof rows)[]).map(canonicalText);
    });
  }

  /** Throws the QueryError of what is refused. */
  fromClickHouse(
    plan: LogicalPlan,
    output: readonly Column[],
    scanned: Partial<ScannedEvents> = {},
    more: Readonly<Record<string, string | number>> = {},
  ): StoreAnswer {
    const within = { reach: EVERYTHING, ...scanned };
    const { sql, parameters, settings, failures } = renderQuery(plan, output, within);
    const list = Object.entries({ ...settings, ...more }).map(([name, value]) =>
      typeof value === 'number' ? `${name} = ${value}` : `${name} = '${value}'`,
    );
    return answerOf(() => {
      try {
        const cells = this.clickHouse.rows<readonly Cell[]>(
          `${sql} SETTINGS ${list.join(', ')}`,
          parameters,
        );
        return cells.map((row) => canonicalText(parseExact(rowJson(row, output))));
      } catch (error) {
        const failure = findFailure((error as Error).message, failures);
        if (failure !== undefined) throw new QueryError(failure.code, failure.message);
        throw error;
      }
    });
  }

  /**
   * The same of each event twice: in one table, and in a table over two shards that have all of them each.
   */
  fromTwice(plan: LogicalPlan, output: readonly Column[]): readonly [StoreAnswer, StoreAnswer] {
    this.#fillTwice();
    try {
      this.clickHouse.run('USE twice');
      const twice = this.fromClickHouse(plan, output);
      this.clickHouse.run('USE shards');
      return [twice, this.fromClickHouse(plan, output, {}, SHARD_SETTINGS)];
    } finally {
      this.clickHouse.run('USE weir');
    }
  }

  #fillTwice(): void {
    if (this.#twicePosts === this.#postCount) return;
    this.#twicePosts = this.#postCount;
    for (const sql of [
      'DROP DATABASE IF EXISTS shards',
      'CREATE DATABASE shards',
      `CREATE TABLE shards.${EVENTS_TABLE} AS weir.${EVENTS_TABLE}
        ENGINE = Distributed(${TWO_SHARDS}, weir, ${EVENTS_TABLE}, cityHash64(project))`,
      'DROP DATABASE IF EXISTS twice',
      'CREATE DATABASE twice',
      'USE twice',
      eventsTableStatement(),
      `INSERT INTO ${EVENTS_TABLE} SELECT * FROM shards.${EVENTS_TABLE}`,
      'USE weir',
    ]) {
      this.clickHouse.run(sql);
    }
  }

  /** Adds the columns that a service adds for the query of a plan; nothing if it needs none. */
  addFieldColumns(plan: LogicalPlan, output: readonly Column[]): FindField | undefined {
    const columns = fieldPathsOf(plan, output).map((path) => ({ path, ...fieldColumnOf(path) }));
    if (columns.length === 0) return undefined;
    const missing = columns.filter(({ name }) => !this.#columnNames.has(name));
    if (missing.length > 0) {
      for (const sql of addColumnsStatements(missing, { isFilled: false }))
        this.clickHouse.run(sql);
    }
    for (const { name } of missing) this.#columnNames.add(name);
    const names = new Map(columns.map(({ path, name }) => [keyOf(path), name]));
    return (path) => names.get(keyOf(path));
  }

  async close(): Promise<void> {
    await this.clickHouse.close();
  }
}

/** The passes that compute what needs no event. */
const FOLDING: ReadonlySet<string> = new Set([
  'fold',
  'constant relations',
  'fold what that made constant',
]);

function settled(expression: Expression, { parameters, nowUs }: Call): Expression {
  const { type } = expression;
  if (expression.op === 'now') return { op: 'literal', type, value: nowUs };
  if (expression.op !== 'parameter') return expression;
  return { op: 'literal', type, value: parameters.get(expression.name.toLowerCase()) ?? null };
}

function answerOf(rows: () => readonly string[]): StoreAnswer {
  try {
    return { rows: rows() };
  } catch (error) {
    if (error instanceof QueryError) return { error: error.code, message: error.message };
    throw error;
  }
}
