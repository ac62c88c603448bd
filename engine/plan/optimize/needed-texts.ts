import type { NeededText } from '../../column/segment.ts';
import type { Call } from '../call-facts.ts';
import { knownTest, matcherOf } from '../evaluator/text-test.ts';
import type { ColumnId, Expression } from '../expression.ts';
import { childrenOf, conjunctsOf } from '../expression-walk.ts';
import {
  isOfUse,
  type LateTest,
  latePatternTest,
  lateTest,
  neededText,
  type WantedText,
} from '../late-texts.ts';
import type { LogicalPlan, Scan } from '../logical-plan.ts';
import { canFail } from './can-fail.ts';
import { eventPathOf } from './event-path.ts';
import { inputsOf, withInputs } from './plan-walk.ts';

/**
 * Tells each scan which texts a value of its events must hold for any of their rows to pass the
 * filters above, so that whole blocks of rows are skipped. The conditions stay: blocks only may hold
 * a text.
 *
 * A row that is skipped is not evaluated by what stands before its condition either. So that an
 * answer does not hang on how rows lie in blocks, nothing that can fail may stand there. A condition that
 * needs a text is false without it, and fails for none: a pattern may be refused for a long text that
 * holds what it needs.
 */
export function needTexts(plan: LogicalPlan): LogicalPlan {
  return need(plan, NOTHING_NEEDED);
}

/**
 * A string, and the texts of which it has to hold at least one, or the parameter that is the only one, or that as a
 * pattern tells which.
 */
type Need =
  | { readonly input: Expression; readonly texts: readonly string[] }
  | (LateTest & { readonly isPattern?: true });

type Context = {
  /** What every row of the plan has to hold. */
  readonly tests: readonly Need[];
  /** The arrays of the elements made by unnesting on the way down. */
  readonly elements: ReadonlyMap<ColumnId, Expression>;
};

const NOTHING_NEEDED: Context = { tests: [], elements: new Map() };

function need(plan: LogicalPlan, context: Context): LogicalPlan {
  switch (plan.op) {
    case 'filter': {
      const conjuncts = conjunctsOf(plan.predicate);
      const failing = conjuncts.findIndex(canFail);
      const own = conjuncts
        .slice(0, failing < 0 ? undefined : failing + 1)
        .filter((conjunct) => !childrenOf(conjunct).some(canFail))
        .flatMap(needsOf);
      const tests = failing < 0 ? [...context.tests, ...own] : own;
      return { ...plan, input: need(plan.input, { ...context, tests }) };
    }
    case 'unnest': {
      const isSure = !plan.outer && !canFail(plan.array);
      const elements = new Map(context.elements).set(plan.element.id, plan.array);
      const tests = isSure ? context.tests : [];
      return { ...plan, input: need(plan.input, { tests, elements }) };
    }
    case 'scan':
      return withTexts(plan, context);
    default:
      return withInputs(
        plan,
        inputsOf(plan).map((input) => need(input, NOTHING_NEEDED)),
      );
  }
}

function withTexts(scan: Scan, context: Context): Scan {
  const { late, projectKey } = scan;
  const wanted: WantedText[] = [];
  for (const need of context.tests) {
    if ('parameter' in need && need.isPattern !== true && need.parameter === late?.project)
      continue;
    if ('texts' in need && !isOfUse(need.texts, projectKey)) continue;
    const path = eventPathOf(need.input, scan, context.elements, false);
    if (path === undefined || path.length === 0) continue;
    if ('texts' in need) wanted.push(neededText(path, need.texts));
    else wanted.push({ path, parameter: need.parameter, isPattern: need.isPattern });
  }
  if (wanted.length === 0) return scan;
  const areLate = late?.project !== undefined || wanted.some((item) => 'parameter' in item);
  if (areLate) return { ...scan, late: { ...late, texts: wanted } };
  return { ...scan, texts: wanted as readonly NeededText[] };
}

/** What is somewhere in a string whenever a condition holds; a string without it does not make it fail. */
function needsOf(term: Expression): readonly Need[] {
  if (term.op !== 'call') return [];
  const late = lateTest(term);
  if (late !== undefined) return canFail(term) ? [] : [late];
  const pattern = latePatternTest(term);
  if (pattern !== undefined) return [{ ...pattern, isPattern: true }];
  const known = knownTest(term);
  if (known === undefined) return equalTexts(term);
  const { input, test } = known;
  if (test.kind !== 'general') return canFail(term) ? [] : [{ input, texts: [test.text] }];
  return matcherOf(test)?.needed.map((texts) => ({ input, texts })) ?? [];
}

/** Of `input = 'text'`. */
function equalTexts({ name, arguments: [left, right] }: Call): readonly Need[] {
  if (name !== '=' || left === undefined || right === undefined) return [];
  const [input, text] = left.op === 'literal' ? [right, left] : [left, right];
  if (text.op !== 'literal' || typeof text.value !== 'string') return [];
  return canFail(input) ? [] : [{ input, texts: [text.value] }];
}
