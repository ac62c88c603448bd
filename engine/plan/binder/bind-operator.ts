import { must } from '../../assert.ts';
import {
  arrayOf,
  BOOL,
  DATE,
  DATETIME,
  INT64,
  INTERVAL,
  isNumber,
  NULL_TYPE,
  NUMBER,
  type SqlType,
  STRING,
  TIME,
  TIMESTAMP,
  typeName,
} from '../../column/type.ts';
import { canonicalInteger, INT64_MAX, INT64_MIN } from '../../function/number/int64.ts';
import { findScalarFunction } from '../../function/registry.ts';
import { INTERVAL_PARTS, parseIntervalFields } from '../../function/time/interval.ts';
import { partFinder } from '../../function/time/time-part.ts';
import { QueryError, refuse, type Span } from '../../query-error.ts';
import type { Name, Expression as Syntax, TypeName } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { comparison, equalities, isComparison, not, refuseBareNull } from './bind-comparison.ts';
import type { ExpressionContext } from './binding.ts';
import {
  castTo,
  coerce,
  coerceAll,
  commonType,
  hasField,
  namedType,
  nullOf,
  scalarType,
  typesText,
} from './coercion.ts';
import { chooseOverload } from './overload.ts';

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
function call(
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
  const [condition, result, otherwise] = syntaxes;
  if (!condition || !result || !otherwise || syntaxes.length !== 3) {
    return refuse(`IF takes (BOOL, one type, one type); got ${syntaxes.length} arguments`, span);
  }
  const parts = {
    conditions: [context.bindAs(condition, BOOL, 'the condition of IF')],
    results: [context.bind(result)],
    otherwise: context.bind(otherwise),
  };
  return caseOf({ what: 'IF', ...parts, span }, context);
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

const NOW: Expression = { op: 'now', type: TIMESTAMP };

/** What the functions without arguments give: the run's clock, in UTC or another zone. */
const CURRENT_TIMES: ReadonlyMap<string, SqlType> = new Map([
  ['current_timestamp', TIMESTAMP],
  ['current_datetime', DATETIME],
  ['current_date', DATE],
  ['current_time', TIME],
]);

/** CURRENT_DATE and its kin; `undefined` for other names. All in one query read one clock. */
export function bindCurrentTime(
  name: string,
  syntax: Kind<'call'>,
  context: ExpressionContext,
): Expression | undefined {
  const type = CURRENT_TIMES.get(name);
  if (type === undefined) return undefined;
  const { span, arguments: given } = syntax;
  const zone = given[0];
  if (zone === undefined) {
    if (type.kind === 'TIMESTAMP') return { ...NOW };
    return { op: 'cast', type, input: { ...NOW }, safe: false, span };
  }
  if (type.kind === 'TIMESTAMP' || given.length > 1) {
    const wanted = type.kind === 'TIMESTAMP' ? 'no arguments' : 'a time zone, or nothing';
    refuse(`${name.toUpperCase()} takes ${wanted}; got ${given.length} arguments`, span);
  }
  return call(type.kind.toLowerCase(), [{ ...NOW }, context.bind(zone)], span, context);
}

/** `INTERVAL n part`, or a text of several parts, which is read here and now. */
export function bindInterval(syntax: Kind<'interval'>, context: ExpressionContext): Expression {
  const { amount, part, lastPart, span } = syntax;
  if (amount.kind === 'string') {
    const value = atPlace(span, () =>
      parseIntervalFields(amount.value, unitOf(part), unitOf(lastPart ?? part)),
    );
    return { op: 'literal', type: INTERVAL, value };
  }
  if (lastPart !== undefined) {
    refuse(`INTERVAL … ${part.text} TO ${lastPart.text} takes a text such as '1:30'`, amount.span);
  }
  const [count, unit] = intervalArguments(syntax, context);
  return call('interval', [count, unit], span, context);
}

const findPart = partFinder('INTERVAL', INTERVAL_PARTS);

function unitOf(part: Name) {
  return atPlace(part.span, () => findPart(part.text).unit);
}

/** What fails while the text is read is the text's mistake. */
function atPlace<Result>(span: Syntax['span'], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new QueryError('invalid_sql', error.message, span);
  }
}

/** `INTERVAL 5 MINUTE` as the two arguments that functions take. */
export function intervalArguments(
  interval: Kind<'interval'>,
  context: ExpressionContext,
): readonly [Expression, Expression] {
  const { amount, part, lastPart, span } = interval;
  if (lastPart !== undefined) {
    refuse(
      `the function takes an INTERVAL of one part; got ${part.text} TO ${lastPart.text}`,
      span,
    );
  }
  const count = amount.kind === 'string' ? wholeNumber(amount) : amount;
  return [context.bindAs(count, INT64, 'INTERVAL'), partLiteral(part, context)];
}

/** `INTERVAL '5' MINUTE`. */
function wholeNumber(text: Kind<'string'>): Syntax {
  const { value, span } = text;
  if (!/^[+-]?\d{1,19}$/.test(value)) {
    refuse(`INTERVAL takes a whole number; got ${JSON.stringify(value)}`, span);
  }
  return { kind: 'integer', span, value: BigInt(value.replace('+', '')) };
}

/** Parts that are types: `EXTRACT(DATE FROM time)` is DATE(time), in the zone if there is one. */
const TYPE_PARTS: ReadonlySet<string> = new Set(['DATE', 'TIME', 'DATETIME']);

/** `EXTRACT(part FROM input [AT TIME ZONE zone])` as `extract(part, input[, zone])`. */
export function bindExtract(syntax: Kind<'extract'>, context: ExpressionContext): Expression {
  const { span } = syntax;
  if (syntax.input.kind === 'string') {
    refuse("EXTRACT takes a time; write TIMESTAMP '…' or DATE '…' before the text", span);
  }
  const part = syntax.part.text.toUpperCase();
  const input = context.bind(syntax.input);
  const zone = syntax.timeZone === undefined ? [] : [context.bind(syntax.timeZone)];
  if (!TYPE_PARTS.has(part)) {
    return call('extract', [partLiteral(syntax.part, context), input, ...zone], span, context);
  }
  const { kind } = input.type;
  if (kind !== 'TIMESTAMP' && (kind !== 'DATETIME' || part === 'DATETIME')) {
    const takes = part === 'DATETIME' ? 'TIMESTAMP' : 'TIMESTAMP or DATETIME';
    refuse(`EXTRACT(${part} FROM …) takes ${takes}; got ${typeName(input.type)}`, span);
  }
  return call(part.toLowerCase(), [input, ...zone], span, context);
}
