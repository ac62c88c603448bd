import { unreachable } from '../assert.ts';
import type { Column, Expression } from './expression.ts';
import { type ExpressionText, neededTexts, quoted, windowText } from './expression-text.ts';
import { columnReference, conjunctsOf } from './expression-walk.ts';
import type { AggregateCall, LogicalPlan, UnionColumn } from './logical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';

/** An operator in words: on one line, and in parts for when that is too long. */
export type OperatorText = { readonly line: string; readonly parts: readonly string[] };

/** One operator of a logical plan, not its inputs. */
export function logicalOperatorText(plan: LogicalPlan, text: ExpressionText): OperatorText {
  switch (plan.op) {
    case 'scan': {
      const project = plan.projectKey === undefined ? '' : ` project ${quoted(plan.projectKey)}`;
      const columns = plan.columns.map(({ column }) => text.column(column));
      const texts = plan.texts === undefined ? '' : ` with ${neededTexts(plan.texts)}`;
      const head = `scan \`${plan.source}\`${windowText(plan.window)}${project}${texts}:`;
      return listed(head, columns);
    }
    case 'filter': {
      const line = `filter ${text.of(plan.predicate)}`;
      return { line, parts: filterParts(conjunctsOf(plan.predicate), text) };
    }
    case 'join':
      if (plan.on === undefined) return oneLine(`${plan.kind} join`);
      return {
        line: `${plan.kind} join on ${text.of(plan.on)}`,
        parts: [`${plan.kind} join on`, ...conjunctsOf(plan.on).map((term) => text.of(term))],
      };
    case 'limit': {
      const count = plan.count === undefined ? '' : ` ${text.of(plan.count)}`;
      const offset = plan.offset === undefined ? '' : ` offset ${text.of(plan.offset)}`;
      const per = plan.per === undefined ? '' : ` for each ${text.column(plan.per)}`;
      return oneLine(`limit${count}${offset}${per}`);
    }
    default:
      return sharedOperatorText(plan, text);
  }
}

/** One operator of a physical plan, not its inputs. The facts of a scan say what it does. */
export function physicalOperatorText(plan: PhysicalPlan, text: ExpressionText): OperatorText {
  switch (plan.op) {
    case 'scan':
      return oneLine(`scan \`${plan.source}\``);
    case 'filter': {
      const terms = plan.conjuncts.map((term, index) => {
        const isImplied = plan.impliedByProject.includes(index);
        return `${text.of(term)}${isImplied ? ' unless known from the scan' : ''}`;
      });
      return { line: `filter ${terms.join(' and ')}`, parts: ['filter', ...terms] };
    }
    case 'join': {
      const equalities = plan.equalities.map(
        ({ left, right }) => `${text.of(left)} = ${text.of(right)}`,
      );
      const residual = plan.residual === undefined ? [] : [text.of(plan.residual)];
      const conditions = [...equalities, ...residual];
      const on = conditions.length === 0 ? [] : [`on ${conditions.join(' and ')}`];
      const hash = plan.equalities.length === 0 ? '' : 'hash ';
      return listed(`${plan.kind} ${hash}join, the right side in a table`, on);
    }
    case 'top':
      return listed(
        `top ${plan.count} by`,
        plan.keys.map((key) => text.sortKey(key)),
      );
    case 'limit': {
      const count = plan.count === Infinity ? '' : ` ${plan.count}`;
      const per = plan.per === undefined ? '' : ' for each row outside';
      return oneLine(`limit${count}${plan.offset === 0 ? '' : ` offset ${plan.offset}`}${per}`);
    }
    default:
      return sharedOperatorText(plan, text);
  }
}

/** The operators that are the same in both kinds of plan, but for their inputs. */
type SharedOperator =
  | { readonly op: 'one-row' }
  | { readonly op: 'outer'; readonly columns: readonly { readonly column: Column }[] }
  | { readonly op: 'rows'; readonly columns: readonly Column[]; readonly rows: readonly unknown[] }
  | { readonly op: 'project'; readonly columns: readonly Computed[] }
  | {
      readonly op: 'unnest';
      readonly array: Expression;
      readonly element: Column;
      readonly offset?: Column | undefined;
      readonly outer: boolean;
      readonly on?: Expression | undefined;
    }
  | {
      readonly op: 'aggregate';
      readonly keys: readonly Computed[];
      readonly aggregates: readonly { readonly column: Column; readonly call: AggregateCall }[];
    }
  | { readonly op: 'union'; readonly columns: readonly UnionColumn[] }
  | Pick<Extract<LogicalPlan, { op: 'window' }>, WindowParts>
  | { readonly op: 'sort'; readonly keys: Extract<LogicalPlan, { op: 'sort' }>['keys'] };

type WindowParts = 'op' | 'partitionBy' | 'orderBy' | 'ties' | 'calls';

type Computed = { readonly column: Column; readonly expression: Expression };

function sharedOperatorText(plan: SharedOperator, text: ExpressionText): OperatorText {
  switch (plan.op) {
    case 'one-row':
      return oneLine('one-row');
    case 'outer':
      return listed(
        'rows outside:',
        plan.columns.map(({ column }) => text.column(column)),
      );
    case 'rows':
      return listed(
        `rows ${plan.rows.length}:`,
        plan.columns.map((each) => text.column(each)),
      );
    case 'project':
      return listed(
        'project',
        plan.columns.map((each) => text.definition(each)),
      );
    case 'unnest': {
      const offset = plan.offset === undefined ? '' : ` with offset ${text.column(plan.offset)}`;
      const on = plan.on === undefined ? '' : ` on ${text.of(plan.on)}`;
      const outer = plan.outer ? 'outer ' : '';
      return oneLine(
        `${outer}unnest ${text.of(plan.array)} as ${text.column(plan.element)}${offset}${on}`,
      );
    }
    case 'union':
      return listed(
        'union',
        plan.columns.map(({ column, from }) => {
          const names = from.map((id) => text.of(columnReference({ ...column, id })));
          return `${text.column(column)} of ${names.join(' | ')}`;
        }),
      );
    case 'aggregate': {
      const keys = plan.keys.map((key) => text.definition(key));
      const calls = plan.aggregates.map((each) => text.aggregate(each));
      const by = keys.length === 0 ? '' : ` by ${keys.join(', ')}`;
      const compute = calls.length === 0 ? '' : ` compute ${calls.join(', ')}`;
      return { line: `aggregate${by}${compute}`, parts: [`aggregate${by}`, ...calls] };
    }
    case 'window': {
      const calls = plan.calls.map((each) => text.windowCall(each));
      const by = plan.partitionBy.map((key) => text.of(key));
      const order = [...plan.orderBy, ...(plan.ties ?? [])].map((key) => text.sortKey(key));
      const partition = by.length === 0 ? '' : ` by ${by.join(', ')}`;
      const head = `window${partition}${order.length === 0 ? '' : ` order ${order.join(', ')}`}`;
      return { line: `${head} compute ${calls.join(', ')}`, parts: [head, ...calls] };
    }
    case 'sort':
      return listed(
        'sort',
        plan.keys.map((key) => text.sortKey(key)),
      );
    default:
      return unreachable(plan);
  }
}

function filterParts(conjuncts: readonly Expression[], text: ExpressionText): readonly string[] {
  return ['filter', ...conjuncts.map((term) => text.of(term))];
}

function oneLine(line: string): OperatorText {
  return { line, parts: [line] };
}

function listed(head: string, items: readonly string[]): OperatorText {
  return {
    line: items.length === 0 ? head : `${head} ${items.join(', ')}`,
    parts: [head, ...items],
  };
}
