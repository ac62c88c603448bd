import {
  arrayOf,
  DYNAMIC,
  FLOAT64,
  INT64,
  isNumber,
  NUMBER,
  type SqlType,
  typeName,
} from '../../column/type.ts';
import type { ParameterType } from '../../function/scalar-function.ts';
import { refuse, type Span } from '../../query-error.ts';
import type { Expression } from '../expression.ts';
import type { Binding } from './binding.ts';
import {
  coerce,
  coercionCost,
  commonType,
  isGroupable,
  isScalar,
  isTime,
  typesText,
} from './coercion.ts';

/** What scalar and aggregate overloads have in common. */
export type Signature = {
  readonly parameters: readonly ParameterType[];
  readonly variadic?: ParameterType | undefined;
  readonly optionalCount?: number;
  readonly parts?: readonly string[];
  readonly result: SqlType | ((types: readonly SqlType[]) => SqlType);
};

/** A call as the text has it, whose overload is to be chosen. */
export type CallSite<S extends Signature> = {
  readonly name: string;
  readonly overloads: readonly S[];
  readonly arguments: readonly Expression[];
  readonly span: Span;
  readonly binding: Binding;
};

export type ChosenOverload<S extends Signature> = {
  readonly overload: S;
  readonly arguments: readonly Expression[];
  readonly type: SqlType;
};

/**
 * The overload that fits with the fewest coercions, the first of equals, and the arguments as it
 * takes them; refuses with what was got and what there is. So of the types that a text may be read as
 * it is that of the first overload.
 */
export function chooseOverload<S extends Signature>(call: CallSite<S>): ChosenOverload<S> {
  let best: { readonly overload: S; readonly types: readonly SqlType[] } | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const overload of call.overloads) {
    const types = wantedTypes(overload, call.arguments);
    if (types === undefined) continue;
    const cost = totalCost(call.arguments, types);
    if (cost === undefined || cost >= bestCost) continue;
    best = { overload, types };
    bestCost = cost;
  }
  if (best === undefined) return refuseArguments(call);
  checkParts(call, best.overload);
  const coerced = call.arguments.map(
    (argument, index) => coerce(argument, best.types[index]!, call.binding)!,
  );
  const { result } = best.overload;
  const type = typeof result === 'function' ? result(coerced.map((each) => each.type)) : result;
  return { overload: best.overload, arguments: coerced, type };
}

/** A date part that the function does not know is refused where it stands. */
function checkParts<S extends Signature>(call: CallSite<S>, { parameters, parts }: S): void {
  if (parts === undefined) return;
  const index = parameters.indexOf('part');
  const argument = call.arguments[index];
  if (argument === undefined) return; // A part that may be left out.
  const part = argument.op === 'literal' ? String(argument.value) : '';
  if (parts.includes(part)) return;
  const got = JSON.stringify(part);
  refuse(
    `${call.name.toUpperCase()} takes one of the parts ${parts.join(', ')}; got ${got}`,
    spanOf(call, index),
  );
}

function spanOf<S extends Signature>(call: CallSite<S>, index: number): Span {
  const argument = call.arguments[index];
  const origin = argument === undefined ? undefined : call.binding.originOf(argument);
  return origin?.span ?? call.span;
}

/** The type each argument has to be brought to; `undefined` when the overload does not fit. */
function wantedTypes(
  signature: Signature,
  expressions: readonly Expression[],
): readonly SqlType[] | undefined {
  const { parameters, variadic, optionalCount = 0 } = signature;
  if (expressions.length < parameters.length - optionalCount) return undefined;
  if (expressions.length > parameters.length && variadic === undefined) return undefined;
  const kinds = expressions.map((_, index) => parameters[index] ?? variadic!);
  const common = new Map<ParameterType, SqlType | undefined>();
  for (const kind of new Set(kinds)) {
    const group = () => expressions.filter((_, index) => kinds[index] === kind);
    if (kind === 'same') common.set(kind, commonType(group()));
    else if (kind === 'groupable') common.set(kind, groupableType(group()));
    else if (kind === 'orderable') common.set(kind, orderableType(group()));
    else if (kind === 'number') common.set(kind, numberType(group()));
    else if (kind === 'array') common.set(kind, arrayType(group()));
  }
  const types = expressions.map((expression, index) => {
    const kind = kinds[index]!;
    if (typeof kind === 'object') return isTaken(expression.type, kind) ? kind : undefined;
    if (kind === 'any') return expression.type;
    if (kind === 'element') return elementType(expression.type);
    if (kind === 'list') return isList(expression.type) ? expression.type : undefined;
    if (kind === 'part') return isPart(expression) ? expression.type : undefined;
    return common.get(kind);
  });
  return types.every((type) => type !== undefined) ? types : undefined;
}

function groupableType(expressions: readonly Expression[]): SqlType | undefined {
  const type = commonType(expressions);
  return type !== undefined && isGroupable(type) ? type : undefined;
}

function orderableType(expressions: readonly Expression[]): SqlType | undefined {
  const type = commonType(expressions);
  return type !== undefined && isScalar(type) ? type : undefined;
}

/** A list of an event beside an ARRAY is one of its own kinds. */
function arrayType(expressions: readonly Expression[]): SqlType | undefined {
  const type = commonType(expressions);
  if (type?.kind === 'ARRAY') return type;
  const hasArray = expressions.some((each) => each.type.kind === 'ARRAY');
  return type?.kind === 'DYNAMIC' && hasArray ? arrayOf(DYNAMIC) : undefined;
}

/** INT64 when all are, and NULLs alone, as in GoogleSQL; NUMBER when some are of events, and none FLOAT64. */
function numberType(expressions: readonly Expression[]): SqlType | undefined {
  const typed = expressions.filter(({ type }) => type.kind !== 'NULL');
  if (typed.some(({ type }) => !isNumber(type) && type.kind !== 'DYNAMIC')) return undefined;
  if (typed.some(({ type }) => type.kind === 'FLOAT64')) return FLOAT64;
  return typed.every(({ type }) => type.kind === 'INT64') ? INT64 : NUMBER;
}

/** What is no value of an event does not become one for a parameter's sake. */
function isTaken(type: SqlType, parameter: SqlType): boolean {
  if (parameter.kind === 'ARRAY')
    return type.kind !== 'ARRAY' || isTaken(type.element, parameter.element);
  return parameter.kind !== 'DYNAMIC' || type.kind === 'DYNAMIC' || type.kind === 'NULL';
}

function elementType(type: SqlType): SqlType | undefined {
  if (type.kind === 'NULL') return INT64;
  return type.kind === 'ARRAY' ? undefined : type;
}

/** A bare NULL may be a list, too. */
function isList({ kind }: SqlType): boolean {
  return kind === 'ARRAY' || kind === 'DYNAMIC' || kind === 'NULL';
}

/** Date parts have become literals before overloads are looked at. */
function isPart(expression: Expression): boolean {
  return expression.op === 'literal' && expression.type.kind === 'STRING';
}

function totalCost(
  expressions: readonly Expression[],
  types: readonly SqlType[],
): number | undefined {
  let total = 0;
  for (const [index, expression] of expressions.entries()) {
    const cost = coercionCost(expression, types[index]!);
    if (cost === undefined) return undefined;
    total += cost;
  }
  return total;
}

function refuseArguments(call: {
  readonly name: string;
  readonly overloads: readonly Signature[];
  readonly arguments: readonly Expression[];
  readonly span: Span;
}): never {
  const name = call.name.toUpperCase();
  // What is taken of fields alone is taken of INT64 and FLOAT64, too.
  const named = call.overloads.filter(({ parameters }) => !parameters.some(isOfFields));
  const taken = [...new Set(named.map((overload) => signatureText(overload)))];
  const isDynamicForTime =
    call.arguments.some(({ type }) => type.kind === 'DYNAMIC') &&
    call.overloads.every(({ parameters }) =>
      parameters.some((each) => typeof each === 'object' && isTime(each)),
    );
  const help = isDynamicForTime
    ? '; to read a metadata field as a time write TIMESTAMP(field)'
    : '';
  refuse(
    `${name} takes ${taken.join(' or ')}; got (${typesText(call.arguments)})${help}`,
    call.span,
  );
}

function isOfFields(parameter: ParameterType): boolean {
  return typeof parameter === 'object' && parameter.kind === 'NUMBER';
}

function signatureText(signature: Signature): string {
  const { parameters, variadic, optionalCount = 0 } = signature;
  const requiredCount = parameters.length - optionalCount;
  const texts = parameters.map((each, index) =>
    index < requiredCount ? parameterText(each) : `[${parameterText(each)}]`,
  );
  if (variadic !== undefined) texts.push(`${parameterText(variadic)}, …`);
  return `(${texts.join(', ')})`;
}

const PARAMETER_TEXTS = {
  any: 'any type',
  element: 'any type but ARRAY',
  same: 'one type',
  number: 'INT64 or FLOAT64',
  groupable: 'one type but JSON',
  orderable: 'one orderable type',
  list: 'ARRAY',
  array: 'ARRAY of one type',
  part: 'date part',
} as const;

function parameterText(parameter: ParameterType): string {
  return typeof parameter === 'object' ? typeName(parameter) : PARAMETER_TEXTS[parameter];
}
