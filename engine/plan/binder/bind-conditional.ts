import { arrayOf, BOOL, INT64, NULL_TYPE, type SqlType, typeName } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import type { Expression as Syntax, TypeName } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { equalities } from './bind-comparison.ts';
import { castTo, namedType, scalarType } from './cast-type.ts';
import { coerce, coerceAll, commonType, hasField, nullOf } from './coercion.ts';
import type { ExpressionContext } from './context.ts';
import { refuse } from './refusal.ts';
import { typesText } from './types-text.ts';

type CaseSyntax = Syntax & { readonly kind: 'case' };
type CastSyntax = Syntax & { readonly kind: 'cast' };
type ArraySyntax = Syntax & { readonly kind: 'array' };

/** Both forms of CASE; the one with an operand compares it with each WHEN. */
export function bindCase(syntax: CaseSyntax, context: ExpressionContext): Expression {
  const conditions = bindConditions(syntax, context);
  const results = syntax.branches.map((branch) => context.bind(branch.then));
  const otherwise =
    syntax.otherwise === undefined ? nullOf(NULL_TYPE) : context.bind(syntax.otherwise);
  return caseOf({ what: 'CASE', conditions, results, otherwise, span: syntax.span }, context);
}

function bindConditions(syntax: CaseSyntax, context: ExpressionContext): readonly Expression[] {
  if (syntax.operand === undefined) {
    return syntax.branches.map((branch) => context.bindAs(branch.when, BOOL, 'WHEN'));
  }
  const operand = context.bind(syntax.operand);
  const values = syntax.branches.map((branch) => {
    context.binding.spendCopy(operand, branch.when.span);
    return context.bind(branch.when);
  });
  return equalities(operand, values, syntax.span, context.binding);
}

/** IF(condition, then, otherwise). */
export function bindIf(
  syntaxes: readonly Syntax[],
  span: Span,
  context: ExpressionContext,
): Expression {
  if (syntaxes.length !== 3) {
    refuse(`IF takes (BOOL, one type, one type); got ${syntaxes.length} arguments`, span);
  }
  const condition = context.bindAs(syntaxes[0]!, BOOL, 'the condition of IF');
  const result = context.bind(syntaxes[1]!);
  const otherwise = context.bind(syntaxes[2]!);
  return caseOf(
    { what: 'IF', conditions: [condition], results: [result], otherwise, span },
    context,
  );
}

function caseOf(
  parts: {
    readonly what: string;
    readonly conditions: readonly Expression[];
    readonly results: readonly Expression[];
    readonly otherwise: Expression;
    readonly span: Span;
  },
  context: ExpressionContext,
): Expression {
  const { type, values } = unify(parts.what, [...parts.results, parts.otherwise], parts, context);
  const branches = parts.conditions.map((when, index) => ({ when, then: values[index]! }));
  return { op: 'case', type, branches, otherwise: values.at(-1)! };
}

/** COALESCE, and IFNULL with exactly two arguments. */
export function bindCoalesce(
  name: 'COALESCE' | 'IFNULL',
  syntaxes: readonly Syntax[],
  span: Span,
  context: ExpressionContext,
): Expression {
  if (name === 'IFNULL' ? syntaxes.length !== 2 : syntaxes.length === 0) {
    const wanted = name === 'IFNULL' ? 'two arguments' : 'at least one argument';
    refuse(`${name} takes ${wanted} of one type; got ${syntaxes.length}`, span);
  }
  const inputs = syntaxes.map((syntax) => context.bind(syntax));
  const { type, values } = unify(name, inputs, { span }, context);
  return { op: 'coalesce', type, arguments: values };
}

/**
 * NULLIF of a field and what it is compared with, by the rules of `=`, which are those of IN: the field as it is,
 * or NULL. `undefined` where no field stands beside another type.
 */
export function bindNullIf(
  syntaxes: readonly Syntax[],
  span: Span,
  context: ExpressionContext,
): Expression | undefined {
  if (syntaxes.length !== 2) return undefined;
  const { binding } = context;
  const [value, other] = syntaxes.map((syntax) => context.bind(syntax)) as [Expression, Expression];
  if (!hasField([value, other]) || value.type.kind === other.type.kind) return undefined;
  const [when] = equalities(value, [other], span, binding);
  binding.spendCopy(value, span);
  const { type, values } = unify('NULLIF', [value, nullOf(NULL_TYPE), other], { span }, context);
  const [kept, otherwise] = values as [Expression, Expression, Expression];
  return { op: 'case', type, branches: [{ when: when!, then: otherwise }], otherwise: kept };
}

/** `[a, b]`: elements of one type; of INT64 where nothing tells their type, as in GoogleSQL. */
export function bindArray(syntax: ArraySyntax, context: ExpressionContext): Expression {
  const elements = syntax.elements.map((element) => context.bind(element));
  if (syntax.type !== undefined) return arrayOfType(syntax, syntax.type, elements, context);
  if (elements.some(({ type }) => type.kind === 'ARRAY')) {
    refuse('a list cannot hold lists; got ARRAY as an element', syntax.span);
  }
  const isOpen = elements.every(({ type }) => type.kind === 'NULL');
  const { type, values } = isOpen
    ? { type: INT64, values: elements.map(() => nullOf(INT64)) }
    : unify('a list', elements, syntax, context);
  return { op: 'array', type: arrayOf(type), elements: values };
}

function arrayOfType(
  syntax: ArraySyntax,
  name: TypeName,
  values: readonly Expression[],
  context: ExpressionContext,
): Expression {
  const type = namedType(name);
  if (type.kind !== 'ARRAY') return refuse(`a list cannot be ${typeName(type)}`, name.span);
  const elements = values.map((value, index) => {
    const coerced = coerce(value, type.element, context.binding);
    if (coerced !== undefined) return coerced;
    const sentence = `elements of ${typeName(type)} are wanted; got ${typeName(value.type)}`;
    return refuse(sentence, syntax.elements[index]!.span);
  });
  return { op: 'array', type, elements };
}

/** Brings values of which one will be chosen to the type of the choice. */
function unify(
  what: string,
  inputs: readonly Expression[],
  at: { readonly span: Span },
  context: ExpressionContext,
): { readonly type: SqlType; readonly values: readonly Expression[] } {
  const type = commonType(inputs);
  const values = type === undefined ? undefined : coerceAll(inputs, type, context.binding);
  if (type === undefined || values === undefined) {
    refuse(`${what} needs values of one type; got ${typesText(inputs)}`, at.span);
  }
  return { type, values };
}

export function bindCast(syntax: CastSyntax, context: ExpressionContext): Expression {
  if (syntax.format !== undefined) refuse('CAST … FORMAT is not supported', syntax.format.span);
  const input = context.bind(syntax.input);
  return castTo(input, scalarType(syntax.type), syntax);
}
