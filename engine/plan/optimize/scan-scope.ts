import type { SourceSchema } from '../../column/snapshot.ts';
import type { ColumnId, Expression } from '../expression.ts';
import { conjunctionOf, conjunctsOf, substitute } from '../expression-walk.ts';
import type { LogicalPlan, Scan, TimeWindow } from '../logical-plan.ts';
import { inputsOf, outputIds, withInputs } from './plan-walk.ts';

/**
 * Tells each scan what its filters imply: a window of time, which replaces the comparisons it is
 * made of, and one project, by which segments and rows are skipped. The project's own condition
 * stays: rows of mixed projects need it.
 */
export function scopeScans(plan: LogicalPlan, sources: readonly SourceSchema[]): LogicalPlan {
  return scope(plan, { sources, terms: [], elements: new Map() });
}

type Context = {
  readonly sources: readonly SourceSchema[];
  /** Conditions every row of the plan has to meet. */
  readonly terms: readonly Expression[];
  /** What the columns made by unnesting on the way down stand for. */
  readonly elements: ReadonlyMap<ColumnId, Expression>;
};

function scope(plan: LogicalPlan, context: Context): LogicalPlan {
  switch (plan.op) {
    case 'filter': {
      const terms = conjunctsOf(plan.predicate);
      if (plan.input.op === 'scan') {
        return scopeFilteredScan(plan.input, terms, context);
      }
      const input = scope(plan.input, { ...context, terms: [...context.terms, ...terms] });
      return { ...plan, input };
    }
    case 'unnest': {
      const elements = new Map(context.elements).set(plan.element.id, plan.array);
      return { ...plan, input: scope(plan.input, { ...context, elements }) };
    }
    case 'sort':
      return { ...plan, input: scope(plan.input, context) };
    case 'project': {
      const expressions = new Map(plan.columns.map((item) => [item.column.id, item.expression]));
      const seen = (expression: Expression) => substitute(expression, expressions);
      const elements = new Map(
        Array.from(context.elements, ([id, array]) => [id, seen(array)] as const),
      );
      const terms = context.terms.map(seen);
      return { ...plan, input: scope(plan.input, { ...context, terms, elements }) };
    }
    case 'join': {
      if (plan.kind === 'left') return scopeInputs(plan, { ...context, terms: [] }, context);
      return scopeInputs(plan, context, context);
    }
    case 'scan':
      return withProject(plan, context);
    default:
      return withInputs(
        plan,
        inputsOf(plan).map((input) => scope(input, { ...context, terms: [] })),
      );
  }
}

function scopeInputs(
  plan: Extract<LogicalPlan, { op: 'join' }>,
  right: Context,
  left: Context,
): LogicalPlan {
  return { ...plan, left: scope(plan.left, left), right: scope(plan.right, right) };
}

function scopeFilteredScan(
  scan: Scan,
  terms: readonly Expression[],
  context: Context,
): LogicalPlan {
  const timestamp = scan.columns.find((item) => item.field === 'timestamp')?.column.id;
  let window = scan.window;
  const kept: Expression[] = [];
  for (const term of terms) {
    const bound = timestamp === undefined ? undefined : boundOf(term, timestamp);
    if (bound === undefined) kept.push(term);
    else window = narrow(window, bound);
  }
  const scoped = withProject(
    { ...scan, window },
    { ...context, terms: [...context.terms, ...kept] },
  );
  return kept.length === 0
    ? scoped
    : { op: 'filter', input: scoped, predicate: conjunctionOf(kept) };
}

/** `timestamp OP constant` as a half-open window in microseconds. */
function boundOf(term: Expression, timestamp: ColumnId): TimeWindow | undefined {
  if (term.op !== 'call' || term.arguments.length !== 2) return undefined;
  const [left, right] = term.arguments as readonly [Expression, Expression];
  const isFlipped = right.op === 'column' && right.id === timestamp;
  const column = isFlipped ? right : left;
  const constant = isFlipped ? left : right;
  if (column.op !== 'column' || column.id !== timestamp) return undefined;
  if (constant.op !== 'literal' || typeof constant.value !== 'number') return undefined;
  const value = constant.value;
  if (!Number.isSafeInteger(value) || !Number.isSafeInteger(value + 1)) return undefined;
  switch (isFlipped ? FLIPPED.get(term.name) : term.name) {
    case '>':
      return { startUs: value + 1, endUs: Infinity };
    case '>=':
      return { startUs: value, endUs: Infinity };
    case '<':
      return { startUs: -Infinity, endUs: value };
    case '<=':
      return { startUs: -Infinity, endUs: value + 1 };
    case '=':
      return { startUs: value, endUs: value + 1 };
    default:
      return undefined;
  }
}

const FLIPPED: ReadonlyMap<string, string> = new Map([
  ['>', '<'],
  ['>=', '<='],
  ['<', '>'],
  ['<=', '>='],
  ['=', '='],
]);

function narrow(window: TimeWindow, bound: TimeWindow): TimeWindow {
  return {
    startUs: Math.max(window.startUs, bound.startUs),
    endUs: Math.min(window.endUs, bound.endUs),
  };
}

function withProject(scan: Scan, context: Context): Scan {
  const schema = context.sources.find((source) => source.name === scan.source);
  if (schema === undefined || scan.projectKey !== undefined) return scan;
  const own = outputIds(scan);
  for (const term of context.terms) {
    const projectKey = projectOf(term, scan, schema, { ...context, own });
    if (projectKey !== undefined) return { ...scan, projectKey };
  }
  return scan;
}

/** The constant of `project = constant`, where `project` is what the source's rule says it is. */
function projectOf(
  term: Expression,
  scan: Scan,
  schema: SourceSchema,
  context: Context & { readonly own: ReadonlySet<ColumnId> },
): string | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [left, right] = term.arguments as readonly [Expression, Expression];
  const [tested, constant] = left.op === 'literal' ? [right, left] : [left, right];
  if (constant.op !== 'literal' || typeof constant.value !== 'string') return undefined;
  const path = pathOf(tested, scan, context);
  const isRule =
    path !== undefined &&
    path.length === schema.projectPath.length &&
    path.every((name, index) => name === schema.projectPath[index]);
  return isRule ? constant.value : undefined;
}

/** Where in the scan's events an expression reads, its unnested records followed to their lists. */
function pathOf(
  expression: Expression,
  scan: Scan,
  context: Context,
): readonly string[] | undefined {
  switch (expression.op) {
    case 'read-as':
      return expression.type.kind === 'STRING'
        ? pathOf(expression.input, scan, context)
        : undefined;
    case 'dynamic-field': {
      const path = pathOf(expression.input, scan, context);
      return path === undefined ? undefined : [...path, expression.name];
    }
    case 'column': {
      const item = scan.columns.find((candidate) => candidate.column.id === expression.id);
      if (item !== undefined) {
        if (item.field === 'root') return [];
        return item.field === 'project' ? ['project'] : undefined;
      }
      const array = context.elements.get(expression.id);
      return array === undefined ? undefined : pathOf(array, scan, context);
    }
    default:
      return undefined;
  }
}
