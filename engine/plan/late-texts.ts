import { findOnce } from '../column/caches.ts';
import type { NeededText } from '../column/segment.ts';
import { GRAM_SIZE } from '../column/text-signature.ts';
import type { SqlValue } from '../column/value.ts';
import { compileRegex, literalOf } from '../function/text/regular-expression.ts';
import { WorkBudget } from '../function/work-meter.ts';
import { FOLDING_STEPS_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { type Call, factsOf } from './call-facts.ts';
import { childrenOf, columnsOf, type Expression, rewrite } from './expression.ts';
import {
  expressionsOf,
  type LogicalPlan,
  plansWithin,
  subqueriesOf,
  type TimeWindow,
} from './logical-plan.ts';
import type { PhysicalPlan, PhysicalScan } from './physical-plan.ts';
import { type Reach, withinReach } from './reach.ts';

/**
 * *Late texts* are parameters that a plan leaves open, so that calls share it that differ in them: STRINGs that
 * rows are compared with, or searched for, and nothing else. Here are their values in one call; a plain value.
 */
export type LateTexts = {
  /** By the parameters' names, in lower case. */
  readonly values: ReadonlyMap<string, string>;
  /** Names of those that are regular expressions with operators. */
  readonly patterns: ReadonlySet<string>;
  /** A text that only the same values under the same names have. */
  readonly key: string;
};

/** A plan, and what a call puts in where calls share it. */
export type CalledPlan = {
  readonly plan: PhysicalPlan;
  readonly template?: { readonly texts: LateTexts } | undefined;
};

const NO_NAMES: ReadonlySet<string> = new Set();

export const NO_TEXTS: LateTexts = lateTexts(new Map());

export function lateTexts(
  values: ReadonlyMap<string, string>,
  patterns: ReadonlySet<string> = NO_NAMES,
): LateTexts {
  const entries = [...values];
  if (entries.length > 1) entries.sort();
  let key = '';
  // With its length before it a text ends where it says, whatever it holds.
  for (const [name, text] of entries) key += `${name.length}:${name}${text.length}:${text}`;
  return { values, patterns, key };
}

/** What a scan takes of late texts. */
export type LateScan = {
  /** The parameter whose value is its project. */
  readonly project?: string;
  /** What its `texts` are made of: all of them, where some depend on a parameter. */
  readonly texts?: readonly WantedText[];
};

export type WantedText =
  | NeededText
  | {
      readonly path: NeededText['path'];
      readonly parameter: string;
      /** Whether it is what matches of the parameter need, not the parameter itself. */
      readonly isPattern?: true | undefined;
    };

/** What one call says of a scan. */
export type ScanBounds = Pick<PhysicalScan, 'window' | 'projectKey' | 'reach' | 'texts'>;

/** How a parameter that may be a late text is used: compared only, or as a regular expression, too. */
export type LateTextUse = 'text' | 'pattern';

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
      else if (uses.get(name) !== 'pattern') uses.set(name, use);
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
  if (above.name === '=') return 'text';
  return second === parameter && testsRegex(above) ? 'pattern' : undefined;
}

/**
 * What a value is as a late text where its parameter is used so: one that is found as it is, or a pattern with
 * operators. `undefined`: it may not be late. A pattern that comes to another text is planned as that text is, and of a
 * wrong one the plan of the call will tell.
 */
export function lateTextKind(value: SqlValue, use: LateTextUse): LateTextUse | undefined {
  if (typeof value !== 'string') return undefined;
  if (use === 'text') return 'text';
  const literal = literalOf(value);
  if (literal !== undefined) return literal === value ? 'text' : undefined;
  return isPattern(value) ? 'pattern' : undefined;
}

function isPattern(text: string): boolean {
  try {
    new WorkBudget(FOLDING_STEPS_MAX).run(() => compileRegex(text));
    return true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
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

export const readsTexts: (expression: Expression) => boolean = findOnce(
  (expression) => isLateText(expression) || childrenOf(expression).some(readsTexts),
);

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
    for (const text of 'text' in item ? [item] : neededOf(item, values.get(item.parameter)!)) {
      if (isOfUse([text.text, ...(text.or ?? [])], projectKey)) needed.push(text);
    }
  }
  return needed.length === 0 ? undefined : needed;
}

function neededOf(
  { path, isPattern }: Exclude<WantedText, NeededText>,
  value: string,
): readonly NeededText[] {
  if (isPattern !== true) return [{ path, text: value }];
  return compileRegex(value).needed.map((texts) => neededText(path, texts));
}

/** At least one of some texts. */
export function neededText(path: NeededText['path'], texts: readonly string[]): NeededText {
  const [text, ...or] = texts as readonly [string, ...string[]];
  return or.length === 0 ? { path, text } : { path, text, or };
}

/** Whether blocks without any of some texts can be told: of the project's own rows all have it. */
export function isOfUse(texts: readonly string[], projectKey: string | undefined): boolean {
  if (projectKey !== undefined && texts.includes(projectKey)) return false;
  return texts.every((text) => Buffer.byteLength(text) >= GRAM_SIZE);
}

/** A string, and the parameter that it is compared with or searched for. */
export type LateTest = { readonly input: Expression; readonly parameter: string };

/**
 * The late text that is somewhere in `input` whenever a condition holds: it is used in two ways, to be equal, or as a
 * pattern that is found as it is.
 */
export function lateTest(term: Expression): LateTest | undefined {
  if (term.op !== 'call') return undefined;
  const [left, right] = term.arguments;
  if (left === undefined || right === undefined) return undefined;
  const isEqual = term.name === '=';
  if (isEqual && isLateText(left)) return { input: right, parameter: left.name.toLowerCase() };
  if (!isLateText(right) || left.type.kind !== 'STRING') return undefined;
  if (!isEqual && (right.isPattern === true || !testsRegex(term))) return undefined;
  return { input: left, parameter: right.name.toLowerCase() };
}

function testsRegex(call: Call): boolean {
  return factsOf(call).regex === 'tested';
}

/** The late text that is a pattern with operators and is looked for in `input`. */
export function latePatternTest(term: Expression): LateTest | undefined {
  if (term.op !== 'call') return undefined;
  const [input, pattern] = term.arguments;
  if (input?.type.kind !== 'STRING' || pattern === undefined) return undefined;
  if (!isLateText(pattern) || pattern.isPattern !== true || !testsRegex(term)) return undefined;
  return { input, parameter: pattern.name.toLowerCase() };
}
