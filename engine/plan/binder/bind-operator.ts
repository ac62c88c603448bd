import { must } from '../../assert.ts';
import { BOOL, INT64, isNumber, NUMBER, STRING, typeName } from '../../column/type.ts';
import { canonicalInteger, INT64_MAX, INT64_MIN } from '../../function/number/int64.ts';
import { findScalarFunction } from '../../function/registry.ts';
import type { Span } from '../../query-error.ts';
import type { Name, Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { comparison, isComparison, not, refuseBareNull } from './bind-comparison.ts';
import { castTo } from './cast-type.ts';
import { coerce } from './coercion.ts';
import type { ExpressionContext } from './context.ts';
import { chooseOverload } from './overload.ts';
import { refuse } from './refusal.ts';

type Kind<K extends Syntax['kind']> = Syntax & { readonly kind: K };

export function integerLiteral(value: bigint, span: Span): Expression {
  if (value < INT64_MIN || value > INT64_MAX) {
    refuse(`${value} does not fit INT64, ${INT64_MIN} to ${INT64_MAX}`, span);
  }
  return { op: 'literal', type: INT64, value: canonicalInteger(value) };
}

/** Signs before numbers are folded, so that `-1` is a literal wherever one is wanted. */
export function bindUnary(syntax: Kind<'unary'>, context: ExpressionContext): Expression {
  const { operator, span } = syntax;
  refuseBareNull(operator.toUpperCase(), [syntax.input]);
  if (operator === 'not') return not(context.bindAs(syntax.input, BOOL, 'NOT'), span);
  refuseUnknownOperator(operator, span);
  const input = context.bind(syntax.input);
  if (operator === '+') return signed(input, span, context);
  if (operator === '~') return call('~', [input], span, context);
  if (input.op === 'literal' && input.type.kind === 'INT64' && input.value !== null) {
    return integerLiteral(-BigInt(input.value as number | bigint), span);
  }
  if (input.op === 'literal' && input.type.kind === 'FLOAT64' && input.value !== null) {
    return { ...input, value: -Number(input.value) };
  }
  return call('neg', [input], span, context);
}

/** `+x` is x, as a number. */
function signed(input: Expression, span: Span, context: ExpressionContext): Expression {
  if (isNumber(input.type)) return input;
  const read = input.type.kind === 'DYNAMIC' ? coerce(input, NUMBER, context.binding) : undefined;
  return read ?? refuse(`+ takes INT64 or FLOAT64; got ${typeName(input.type)}`, span);
}

/** Operators that no function stands behind yet. */
function refuseUnknownOperator(operator: string, span: Span): void {
  if (findScalarFunction(operator) !== undefined) return;
  refuse(`the operator "${operator}" is not supported`, span);
}

/** Chains of operators lean to the left: they are walked in a loop, so only nesting recurses. */
export function bindBinary(syntax: Binary, context: ExpressionContext): Expression {
  if (syntax.operator === 'and' || syntax.operator === 'or') {
    return bindLogical(syntax, syntax.operator, context);
  }
  const chain: Binary[] = [syntax];
  let first = syntax.left;
  for (; isOperation(first); first = first.left) chain.push(first);
  const innermost = must(chain.pop());
  let bound = bindOperation(context.bind(innermost.left), innermost, context);
  for (const link of chain.reverse()) bound = bindOperation(bound, link, context);
  return bound;
}

type Binary = Kind<'binary'>;

function isOperation(syntax: Syntax): syntax is Binary {
  return syntax.kind === 'binary' && syntax.operator !== 'and' && syntax.operator !== 'or';
}

/** `left operator right`, where left is bound already. */
function bindOperation(left: Expression, syntax: Binary, context: ExpressionContext): Expression {
  const { operator, span } = syntax;
  const { binding } = context;
  refuseBareNull(operator, [syntax.left, syntax.right]);
  binding.spend(1, span);
  refuseUnknownOperator(operator, span);
  const right = context.bind(syntax.right);
  const joins = findScalarFunction(operator)?.joinsTexts === true;
  const bound = isComparison(operator)
    ? comparison(operator, left, right, span, binding)
    : call(operator, joins ? asTexts([left, right], span) : [left, right], span, context);
  return binding.at(bound, span, 'binary');
}

/**
 * What `||` and CONCAT join: numbers, truths and times become texts as CAST writes them, and so do the
 * fields of events, whatever they are; beside an array or bytes these are read as such.
 */
export function asTexts(inputs: readonly Expression[], span: Span): readonly Expression[] {
  const isText = inputs.every(({ type }) => type.kind !== 'ARRAY' && type.kind !== 'BYTES');
  return inputs.map((input) => {
    const { kind } = input.type;
    const isCast = kind === 'DYNAMIC' ? isText : TEXTUAL.has(kind);
    return isCast ? castTo(input, STRING, { safe: false, span }) : input;
  });
}

const TEXTUAL: ReadonlySet<string> = new Set([
  ...['BOOL', 'INT64', 'FLOAT64', 'NUMBER'],
  ...['TIMESTAMP', 'DATETIME', 'DATE', 'TIME', 'INTERVAL'],
]);

/** A chain of ANDs, or of ORs, becomes one call: its length is no depth. */
function bindLogical(
  syntax: Binary,
  operator: 'and' | 'or',
  context: ExpressionContext,
): Expression {
  const terms: Syntax[] = [];
  let chain: Syntax = syntax;
  for (; chain.kind === 'binary' && chain.operator === operator; chain = chain.left) {
    terms.push(chain.right);
  }
  terms.push(chain);
  const bound = terms.reverse().map((term) => context.bindAs(term, BOOL, operator.toUpperCase()));
  return { op: 'call', type: BOOL, name: operator, arguments: bound, span: syntax.span };
}

/** A date part as functions take it; it remembers its place, for whoever does not know the part. */
export function partLiteral(part: Name, context: ExpressionContext): Expression {
  const literal: Expression = { op: 'literal', type: STRING, value: part.text.toUpperCase() };
  return context.binding.at(literal, part.span, part.text);
}

/** A call of a scalar function that certainly exists. */
export function call(
  name: string,
  inputs: readonly Expression[],
  span: Span,
  context: ExpressionContext,
): Expression {
  const { overloads } = must(findScalarFunction(name), `there is a function ${name}`);
  const chosen = chooseOverload({
    name,
    overloads,
    arguments: inputs,
    span,
    binding: context.binding,
  });
  return { op: 'call', type: chosen.type, name, arguments: chosen.arguments, span };
}
