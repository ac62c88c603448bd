import assert from 'node:assert/strict';
import { BOOL, INT64, STRING, TIMESTAMP, typeName } from '../../engine/column/type.ts';
import type { BindEnvironment } from '../../engine/plan/binder/binding.ts';
import type { BoundQuery, LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';

const ENVIRONMENT = {
  sources: [
    { name: 'logs', projectPath: ['project'] },
    { name: 'edge.logs', projectPath: ['project'] },
    { name: 'deno-relay-logs', projectPath: ['metadata', 'project_ref'] },
  ],
  parameters: [
    { name: 'project', type: STRING },
    { name: 'n', type: INT64 },
    { name: 'flag', type: BOOL },
    { name: 'since', type: TIMESTAMP },
  ],
};

export function bind(sql: string, more: Partial<BindEnvironment> = {}): BoundQuery {
  return bindQuery(parseQuery(sql), { ...ENVIRONMENT, ...more });
}

/** Expects the plan, line by line; scans are written as the name of their source only. */
export function expectPlan(sql: string, ...lines: readonly string[]): void {
  const bound = bind(sql);
  assert.deepEqual(structuredClone(bound), bound, 'the bound query is a plain value');
  const got = planText(bound.plan)
    .split('\n')
    .map((line) => line.replace(/scan `(.*)`: .*$/, 'scan $1'));
  assert.deepEqual(got, lines);
}

/**
 * Expects how one expression over `logs` is written out. There `id` is id#1, `timestamp` is
 * timestamp#2, and `m` is m#7, the elements of metadata.
 */
export function expectExpression(sql: string, text: string, type?: string): void {
  const bound = bind(`SELECT ${sql} AS x FROM logs, UNNEST(metadata) AS m`);
  const line = planText(bound.plan).split('\n')[0]!;
  assert.equal(line.replace(/^project (?:x#\d+ := )?/, ''), text);
  if (type !== undefined) assert.equal(typeName(bound.output[0]!.type), type);
}

/** Expects the names and types of the output: `id STRING, f0_ INT64`. */
export function expectOutput(sql: string, text: string): void {
  const columns = bind(sql).output.map(({ name, type }) => `${name} ${typeName(type)}`);
  assert.equal(columns.join(', '), text);
}

/**
 * Expects that the text is refused where the mark `^` stands in it (the mark is taken out), with a
 * message that holds `part`.
 */
export function expectRefusal(marked: string, part: string): void {
  const offset = marked.indexOf('^');
  const sql = marked.replace('^', '');
  const before = marked.slice(0, offset).split('\n');
  assert.throws(
    () => bind(sql),
    (error: unknown) => {
      assert.ok(error instanceof QueryError, String(error));
      assert.equal(error.code, 'invalid_sql', error.message);
      assert.ok(error.message.includes(part), `"${error.message}" holds "${part}"`);
      const at = { line: before.length, column: before.at(-1)!.length + 1 };
      assert.deepEqual({ line: error.span?.line, column: error.span?.column }, at);
      return true;
    },
  );
}

export function expectLimit(sql: string, part: string): void {
  assert.throws(
    () => bind(sql),
    (error: unknown) =>
      error instanceof QueryError && error.code === 'query_limit' && error.message.includes(part),
  );
}

/** Every operator of a plan, the top one first. */
export function operatorsOf(plan: LogicalPlan): readonly LogicalPlan[] {
  if (plan.op === 'join') {
    return [plan, ...operatorsOf(plan.left), ...operatorsOf(plan.right)];
  }
  return 'input' in plan ? [plan, ...operatorsOf(plan.input)] : [plan];
}
