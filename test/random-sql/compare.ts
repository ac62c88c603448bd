import { parseArgs } from 'node:util';
import { Random } from '../../src/demo/traffic/random.ts';
import type { TestEvent } from '../column/batch-of.ts';
import {
  type GoogleAnswer,
  GoogleIsLate,
  GoogleSql,
  type GoogleTable,
} from '../conformance/google-sql.ts';
import type { GoogleInput } from '../conformance/google-value.ts';
import { type Answer, answerOfRows, areSame, withoutNullElements } from './answer.ts';
import { engineAnswer, segmentsOfEvents } from './engine-answer.ts';
import { logsColumns, randomEvents, rowOf } from './events.ts';
import { Failure, OutOfRange } from './failure.ts';
import { answerOf } from './interpreter.ts';
import {
  type Expression,
  type GroupKey,
  hasAggregate,
  hasWindow,
  type Item,
  isGrouped,
  isOrdered,
  isPath,
  type Query,
} from './query.ts';
import { randomQuery } from './random-query.ts';
import { render } from './render.ts';
import { type Case, shrink } from './shrink.ts';

/**
 * Compares random queries over random events with Google's own engine: both weir's answers and those
 * of the interpreter that stands in for Google's engine in the tests.
 *
 *   node --import tsx test/random-sql/compare.ts --queries 20000 --seed 1
 *
 * needs `npm ci --ignore-scripts` in test/conformance. Prints each difference, shrunk, in the form of
 * a file of test/fuzz/regressions, and exits 1 if there was one.
 */
const { values: options } = parseArgs({
  options: {
    queries: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
});
const QUERY_COUNT = Number(options.queries);
const SEED = Number(options.seed);

/** A catalogue is registered once for each set of events. */
const QUERIES_PER_DATA_SET = 40;
/** Beyond these, there is enough to do. */
const DIFFERENCES_MAX = 10;

/** A query takes some milliseconds; one that multiplies rows within rows may take hours. */
const CALL_MS_MAX = 3_000;

/** What Google's engine says of its own faults and bounds, and of what it knows by its schema. */
const NOT_SAID_OF_WEIR = new RegExp(
  [
    'ZETASQL_RET_CHECK',
    'arrays with more than \\d+ elements',
    // Of a field grouped by, where an aggregate orders by it, too.
    'neither grouped nor aggregated',
    // It takes no two records written alike for the same.
    'both DISTINCT and ORDER BY',
    // Of two lists of numbers of events: weir knows what such a number is by its value.
    'ARRAY_CONCAT for argument types: ARRAY<INT64>, ARRAY<FLOAT64>',
    'ARRAY_CONCAT for argument types: ARRAY<FLOAT64>, ARRAY<INT64>',
    'IN UNNEST for argument types: FLOAT64, ARRAY<INT64>',
  ].join('|'),
);

let google = await GoogleSql.start(CALL_MS_MAX);
const counts = { rows: 0, empty: 0, error: 0, skipped: 0 };
let differenceCount = 0;
try {
  await compareAll();
} finally {
  await google.stop();
}
process.stdout.write(`seed ${SEED}: ${QUERY_COUNT} queries ${JSON.stringify(counts)}, `);
process.stdout.write(`${differenceCount} differences\n`);
process.exitCode = differenceCount > 0 ? 1 : 0;

async function compareAll(): Promise<void> {
  const startMs = performance.now();
  for (let index = 0; index < QUERY_COUNT && differenceCount < DIFFERENCES_MAX; ) {
    const dataSeed = SEED * 1_000_003 + index;
    const random = new Random(dataSeed);
    const events = randomEvents(random, {
      count: random.pick([0, 1, 3, 6, 6, 6, 6, 6, 6, 12]),
      isMixed: false,
    });
    const tables = tablesOf(events);
    for (let left = QUERIES_PER_DATA_SET; left > 0 && index < QUERY_COUNT; left--, index++) {
      await compareOne({ query: randomQuery(random), events }, { dataSeed, tables });
    }
    if (process.stderr.isTTY) {
      const seconds = Math.round((performance.now() - startMs) / 1000);
      process.stderr.write(`\r${index} of ${QUERY_COUNT} queries, ${seconds} s `);
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
}

async function compareOne(
  one: Case,
  { dataSeed, tables }: { readonly dataSeed: number; readonly tables: readonly GoogleTable[] },
): Promise<void> {
  const difference = await comparisonOf(one, tables);
  count(difference);
  if (difference === undefined || difference.kind === '') return;
  differenceCount++;
  const small = await shrink(one, async (candidate) => {
    const other = await comparisonOf(candidate, tablesOf(candidate.events));
    return other?.kind === difference.kind;
  });
  const report = await comparisonOf(small, tablesOf(small.events));
  const sql = render(small.query);
  process.stdout.write(`\n-- data seed ${dataSeed}: ${difference.kind}\n`);
  process.stdout.write(`-- as found: ${render(one.query)}\n`);
  process.stdout.write(`-- Google ${difference.message ?? ''}\n`);
  const regression = {
    why: '',
    sql,
    isOrdered: isOrdered(small.query),
    events: small.events,
    expected: report?.google,
  };
  process.stdout.write(`${JSON.stringify(regression, undefined, 2)}\n`);
  process.stdout.write(`-- engine ${JSON.stringify(report?.engine)}\n`);
  process.stdout.write(`-- interpreter ${JSON.stringify(report?.interpreter)}\n`);
  process.stdout.write(`-- Google ${report?.message ?? ''}\n`);
}

function count(comparison: Comparison | undefined): void {
  if (comparison === undefined) counts.skipped++;
  else if (comparison.google === 'error') counts.error++;
  else counts[comparison.google.length === 0 ? 'empty' : 'rows']++;
}

type Comparison = {
  /** How the answers differ; empty when they do not. */
  readonly kind: string;
  readonly google: Answer;
  readonly engine: Answer;
  readonly interpreter: Answer;
  readonly message: string | undefined;
};

/** Nothing when one of the three cannot say. */
async function comparisonOf(
  { query, events }: Case,
  tables: readonly GoogleTable[],
): Promise<Comparison | undefined> {
  const interpreter = interpreterAnswer(query, events);
  if (interpreter === undefined) return undefined;
  const sql = render(query);
  const { answer, message } = await googleAnswer(render(withNamedKeys(query)), tables);
  if (answer === undefined) return undefined;
  // This engine of Google computes the aggregates and windows of branches that are not taken.
  if (answer === 'error' && interpreter !== 'error' && choosesComputed(query)) return undefined;
  const engine = weirAnswer(sql, events);
  if (engine === undefined) return undefined;
  if (typeof engine === 'object' && 'broke' in engine) {
    const kind = `engine breaks: ${engine.broke}`;
    return { kind, google: answer, engine: 'error', interpreter, message };
  }
  const inOrder = isOrdered(query);
  const wrong = [
    ...(areSame(engine, answer, inOrder) ? [] : [`engine ${kindOf(engine, answer, message)}`]),
    ...(areSame(interpreter, answer, inOrder)
      ? []
      : [`interpreter ${kindOf(interpreter, answer, message)}`]),
  ];
  return { kind: wrong.join(' and '), google: answer, engine, interpreter, message };
}

/** Whether an aggregate or a function over a window stands in a branch anywhere. */
function choosesComputed(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { op, operation, arguments: inputs } = part as Partial<Expression & { op: 'call' }>;
  const isChoice = op === 'call' && /^(?:IF|CASE|COALESCE|IFNULL)\b/.test(operation!);
  const isComputed = (input: Expression) => hasAggregate(input) || hasWindow(input);
  if (isChoice && inputs!.slice(1).some(isComputed)) return true;
  return Object.values(part).some(choosesComputed);
}

/** Errors of compiling are a kind of their own, so that shrinking does not drift to them. */
function kindOf(got: Answer, wanted: Answer, message: string | undefined): string {
  if (got === 'error') return 'fails';
  if (wanted !== 'error') return 'has other rows';
  if (message?.startsWith('compile') !== true) return 'does not fail';
  return `does not refuse: ${message.replace(/\d+/g, '')}`;
}

/**
 * Google's engine takes GROUP BY of an expression that is more than a path as another expression
 * than the equal one in the select list; there the item's name has to say which is meant.
 */
function withNamedKeys<T>(part: T): T {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(withNamedKeys) as T;
  const entries = Object.entries(part).map(([name, inner]) => [
    name,
    withNamedKeys<unknown>(inner),
  ]);
  const copy = Object.fromEntries(entries) as T & Partial<Query>;
  if (copy.op !== 'query') return copy;
  const { items, groupBy, orderBy } = copy as Query;
  const isClear = ({ expression }: Item) =>
    isPath(expression) || hasAggregate(expression) || !isGrouped({ items, groupBy });
  const clear = new Set(items.filter(isClear).map((item) => item.name));
  const named = <Key extends GroupKey>(key: Key): Key =>
    key.form === 'expression' && !clear.has(key.name) ? { ...key, form: 'alias' } : key;
  return { ...copy, groupBy: groupBy.map(named), orderBy: orderBy.map(named) };
}

async function googleAnswer(
  sql: string,
  tables: readonly GoogleTable[],
): Promise<{ readonly answer: Answer | undefined; readonly message?: string }> {
  let answer: GoogleAnswer;
  try {
    answer = await google.evaluate(sql, { tables });
  } catch (error) {
    if (!(error instanceof GoogleIsLate)) throw error;
    await google.stop();
    google = await GoogleSql.start(CALL_MS_MAX);
    return { answer: undefined };
  }
  if (answer.error === undefined) return { answer: withoutNullElements(answer.rows) };
  const { phase, message } = answer.error;
  if (message === '' || NOT_SAID_OF_WEIR.test(message)) return { answer: undefined };
  return { answer: phase === 'unsupported' ? undefined : 'error', message: `${phase}: ${message}` };
}

/** Nothing when the query is too much work; what is wrong with weir when it breaks. */
function weirAnswer(
  sql: string,
  events: readonly TestEvent[],
): Answer | undefined | { readonly broke: string } {
  try {
    const segments = segmentsOfEvents(events, events.length >> 1);
    // A list of an event is written as it is, NULLs and all.
    return withoutNullElements(engineAnswer(sql, segments, 'optimized'));
  } catch (error) {
    if (error instanceof OutOfRange) return undefined;
    return { broke: String(error) };
  }
}

/** Nothing when the interpreter cannot say. */
function interpreterAnswer(query: Query, events: readonly TestEvent[]): Answer | undefined {
  try {
    return answerOfRows(answerOf(query, events.map(rowOf)), query);
  } catch (error) {
    if (error instanceof OutOfRange) return undefined;
    if (error instanceof Failure) return 'error';
    // A shrunken query may name what is gone: whoever runs it will refuse it.
    return 'error';
  }
}

function tablesOf(events: readonly TestEvent[]): readonly GoogleTable[] {
  const rows = events.map(({ timestampUs, ...event }) => ({
    ...(event as Readonly<Record<string, GoogleInput>>),
    timestamp: timestampUs,
  }));
  return [{ name: 'logs', columns: logsColumns(), rows }];
}
