import type { NeededText } from '../column/segment.ts';
import { GRAM_SIZE } from '../column/text-signature.ts';
import type { SqlValue } from '../column/value.ts';
import { literalOf } from '../function/text/regular-expression.ts';
import type { Expression } from './expression.ts';
import { childrenOf, columnsOf, rewrite } from './expression-walk.ts';
import type { LogicalPlan, TimeWindow } from './logical-plan.ts';
import { expressionsOf, plansWithin, subqueriesOf } from './optimize/plan-walk.ts';
import type { PhysicalScan } from './physical-plan.ts';
import { type Reach, withinReach } from './reach.ts';

/**
 * *Late texts* are parameters that a plan leaves open, so that calls share it that differ in them: STRINGs that
 * rows are compared with, or searched for, and nothing else. Here are their values in one call; a plain value.
 */
export type LateTexts = {
  /** By the parameters' names, in lower case. */
  readonly values: ReadonlyMap<string, string>;
  /** A text that only the same values under the same names have. */
  readonly key: string;
};

export const NO_TEXTS: LateTexts = lateTexts(new Map());

export function lateTexts(values: ReadonlyMap<string, string>): LateTexts {
  const entries = [...values];
  if (entries.length > 1) entries.sort();
  let key = '';
  // With its length before it a text ends where it says, whatever it holds.
  for (const [name, text] of entries) key += `${name.length}:${name}${text.length}:${text}`;
  return { values, key };
}

/** What a scan takes of late texts. */
export type LateScan = {
  /** The parameter whose value is its project. */
  readonly project?: string | undefined;
  /** What its `texts` are made of: all of them, where some depend on a parameter. */
  readonly texts?: readonly WantedText[] | undefined;
};

export type WantedText =
  | NeededText
  | { readonly path: NeededText['path']; readonly parameter: string };

/** What one call says of a scan. */
export type ScanBounds = Pick<PhysicalScan, 'window' | 'projectKey' | 'reach' | 'texts'>;

/** How values of a parameter may be late: any text, or those only that as a pattern are found as they are. */
export type LateTextUse = 'any' | 'plain';

/**
 * The parameters of a bound plan that may be late texts, by name in lower case. None of one with subqueries, of
 * which those are run apart that nothing outside decides on.
 */
export function lateTextUses(plan: LogicalPlan): ReadonlyMap<string, LateTextUse> {
  const uses = new Map<string, LateTextUse>();
  const others = new Set<string>();
  const look = (node: Expression): void => {
    for (const child of childrenOf(node)) {
      const name = child.op === 'parameter' ? child.name.toLowerCase() : undefined;
      const use = name === undefined ? undefined : useOf(child, node);
      if (name === undefined) look(child);
      else if (use === undefined) others.add(name);
      else if (uses.get(name) !== 'plain') uses.set(name, use);
    }
  };
  for (const node of plansWithin(plan)) {
    if (subqueriesOf(node).length > 0) return new Map();
    for (const expression of expressionsOf(node)) {
      if (expression.op === 'parameter') others.add(expression.name.toLowerCase());
      look(expression);
    }
  }
  return new Map([...uses].filter(([name]) => !others.has(name)));
}

/** Nothing can be computed of a text, before there are rows, that is only compared with what columns come to. */
function useOf(parameter: Expression, above: Expression): LateTextUse | undefined {
  if (above.op !== 'call' || parameter.type.kind !== 'STRING') return undefined;
  const [first, second] = above.arguments;
  const other = first === parameter ? second : first;
  if (other === undefined || other === parameter || columnsOf(other).size === 0) return undefined;
  if (above.name === '=') return 'any';
  return above.name === 'regexp_contains' && second === parameter ? 'plain' : undefined;
}

/** Whether a value may be late where its parameter is used so. */
export function mayBeLate(value: SqlValue, use: LateTextUse): value is string {
  if (typeof value !== 'string') return false;
  return use === 'any' || literalOf(value) === value;
}

/** A parameter that the optimiser meets is a late one, and a STRING among these a late text. */
export function isLateText(expression: Expression): expression is Expression & { op: 'parameter' } {
  return expression.op === 'parameter' && expression.type.kind === 'STRING';
}

/** An expression with the texts put in. */
export function withTexts(expression: Expression, { values }: LateTexts): Expression {
  return rewrite(expression, (node) => {
    if (!isLateText(node)) return node;
    return { op: 'literal', type: node.type, value: values.get(node.name.toLowerCase()) ?? null };
  });
}

export function readsTexts(expression: Expression): boolean {
  let reads = reading.get(expression);
  if (reads === undefined) {
    reads = isLateText(expression) || childrenOf(expression).some(readsTexts);
    reading.set(expression, reads);
  }
  return reads;
}

/** Of plans that are run again and again. */
const reading = new WeakMap<Expression, boolean>();

/** What a call with these texts says of a scan whose window it has. */
export function boundsOf(
  { projectKey, late, texts }: Pick<PhysicalScan, 'projectKey' | 'late' | 'texts'>,
  call: { readonly window: TimeWindow; readonly texts: LateTexts; readonly reach: Reach },
): ScanBounds {
  const own = late?.project === undefined ? projectKey : call.texts.values.get(late.project);
  const { projectKey: only, reach } = withinReach(own, call.reach);
  const needed = late?.texts === undefined ? texts : neededTexts(late.texts, call.texts, own);
  return { window: call.window, projectKey: only, reach, texts: needed };
}

function neededTexts(
  wanted: readonly WantedText[],
  { values }: LateTexts,
  projectKey: string | undefined,
): readonly NeededText[] | undefined {
  const needed: NeededText[] = [];
  for (const item of wanted) {
    const text = 'text' in item ? item : { path: item.path, text: values.get(item.parameter)! };
    if (isOfUse([text.text, ...(text.or ?? [])], projectKey)) needed.push(text);
  }
  return needed.length === 0 ? undefined : needed;
}

/** Whether blocks without any of some texts can be told: of the project's own rows all have it. */
export function isOfUse(texts: readonly string[], projectKey: string | undefined): boolean {
  if (projectKey !== undefined && texts.includes(projectKey)) return false;
  return texts.every((text) => Buffer.byteLength(text) >= GRAM_SIZE);
}

/**
 * The late text that is somewhere in `input` whenever a condition holds: it is used in two ways, to be equal, or as a
 * pattern that is found as it is.
 */
export function lateTest(
  term: Expression,
): { readonly input: Expression; readonly parameter: string } | undefined {
  if (term.op !== 'call') return undefined;
  const [left, right] = term.arguments;
  if (left === undefined || right === undefined) return undefined;
  const isEqual = term.name === '=';
  if (!isEqual && term.name !== 'regexp_contains') return undefined;
  if (isEqual && isLateText(left)) return { input: right, parameter: left.name.toLowerCase() };
  if (!isLateText(right) || left.type.kind !== 'STRING') return undefined;
  return { input: left, parameter: right.name.toLowerCase() };
}
