import type { Random } from '../../src/demo/traffic/random.ts';
import { DAYS, FLOATS, INTEGERS, type Shape, TEXTS, TIMES } from './events.ts';
import { OPERATIONS, type Operation, operationKey } from './operation.ts';
import { type Expression, SCALARS, type Scalar, type Type, type Value } from './query.ts';

/** A value that the names in scope give. */
export type Readable = {
  readonly expression: Expression;
  readonly type: Type;
  /** Of records only. */
  readonly shape?: Shape | undefined;
};

export type ExpressionOptions = {
  readonly scope: readonly Readable[];
  /** Levels of operations at most. */
  readonly depth: number;
  /** Whether every engine has to evaluate it, so that it may be one that fails. */
  readonly isCertain: boolean;
  /** A query as a value of that type, where one may stand. */
  readonly subquery?: ((type: Type) => Expression | undefined) | undefined;
};

const LITERALS: Readonly<Record<Scalar, readonly Value[]>> = {
  BOOL: [true, false],
  INT64: INTEGERS,
  FLOAT64: [...FLOATS, ...FLOATS, Number.NaN, Infinity, -Infinity],
  STRING: TEXTS,
  TIMESTAMP: TIMES,
  DATE: DAYS,
};

const BY_RESULT: ReadonlyMap<Type, readonly Operation[]> = new Map(
  ([...SCALARS, 'INT64[]', 'FLOAT64[]', 'STRING[]', 'TIMESTAMP[]', 'DATE[]'] as const).map(
    (type) => [type, [...OPERATIONS.values()].filter((operation) => operation.gives === type)],
  ),
);

/** How many of the expressions that may be queries are. */
const SUBQUERY_SHARE = 0.12;

/** A random expression of one type over the names in scope. */
export function randomExpression(
  random: Random,
  type: Type,
  options: ExpressionOptions,
): Expression {
  const { scope, depth, isCertain } = options;
  if (depth > 0 && random.next() < SUBQUERY_SHARE) {
    const subquery = options.subquery?.(type);
    if (subquery !== undefined) return subquery;
  }
  const hasRecords = scope.some((readable) => readable.type === 'RECORD[]');
  const operations = (BY_RESULT.get(type) ?? []).filter(
    ({ takes, canFail }) => (isCertain || !canFail) && (hasRecords || !takes.includes('RECORD[]')),
  );
  if (depth === 0 || operations.length === 0 || random.next() < 0.25) {
    return randomLeaf(random, type, scope);
  }
  const certain = operations.filter(({ canFail }) => canFail);
  const isBold = certain.length > 0 && random.next() < 0.3;
  const operation = randomOperation(random, isBold ? certain : operations);
  // AND, OR and the two halves of BETWEEN may be decided by either side, and of a record one field may
  // be all that is read: nothing in them need be evaluated.
  const isDecided = / (?:AND|OR) |STRUCT/.test(operation.text);
  const inner = { ...options, depth: depth - 1, isCertain: isCertain && !isDecided };
  return {
    op: 'call',
    type,
    operation: operationKey(operation),
    arguments: operation.takes.map((each) => randomExpression(random, each, inner)),
  };
}

/** By its text first, so that what comes in many types does not crowd out the rest. */
function randomOperation(random: Random, operations: readonly Operation[]): Operation {
  const { text } = random.pick(operations);
  const verb = random.pick([...new Set(operations.map((operation) => operation.text))]);
  const chosen = random.below(2) === 0 ? text : verb;
  return random.pick(operations.filter((operation) => operation.text === chosen));
}

export function randomLeaf(random: Random, type: Type, scope: readonly Readable[]): Expression {
  const own = scope.filter((readable) => readable.type === type);
  // There is no literal of records.
  const isOwn = type === 'RECORD[]' || (own.length > 0 && random.next() < 0.8);
  if (isOwn) return random.pick(own).expression;
  if (type === 'INT64[]') return list(random, type, INTEGERS);
  if (type === 'FLOAT64[]') return list(random, type, FLOATS);
  if (type === 'STRING[]') return list(random, type, TEXTS);
  if (type === 'TIMESTAMP[]') return list(random, type, TIMES);
  if (type === 'DATE[]') return list(random, type, DAYS);
  return literal(random, type as Scalar);
}

function literal(random: Random, type: Scalar): Expression {
  const value = random.below(10) === 0 ? null : random.pick(LITERALS[type]);
  return { op: 'literal', type, value };
}

/** A literal that is not NULL. */
export function randomWritten(random: Random, type: Scalar): Expression {
  return { op: 'literal', type, value: random.pick(LITERALS[type]) };
}

/** Of at least one value, which gives the list its type. */
function list(random: Random, type: Type, values: readonly Value[]): Expression {
  const element = type.slice(0, -2) as Scalar;
  const first: Expression = { op: 'literal', type: element, value: random.pick(values) };
  const others = Array.from({ length: random.below(3) }, () => literal(random, element));
  return { op: 'list', type, elements: [first, ...others] };
}

export function randomScalar(random: Random): Scalar {
  return random.pick(SCALARS);
}

/**
 * A record's scalar and list fields, and those of the records inside it. What arithmetic gives of a number in
 * an event is known by its value alone: where an INT64 is wanted, the text has to say so.
 */
export function fieldsOf(record: Expression, shape: Shape): readonly Readable[] {
  return shape.fields.flatMap((field): readonly Readable[] => {
    const { name, type } = field;
    const expression: Expression = { op: 'field', type, record, name };
    if (type === 'RECORD') return fieldsOf(expression, field.shape!);
    if (type !== 'INT64') return [{ expression, type, shape: field.shape }];
    const operation = operationKey({ text: 'SAFE_CAST(? AS INT64)', takes: [type] });
    return [
      { expression: { ...expression, type: 'FLOAT64' }, type: 'FLOAT64' },
      { expression: { op: 'call', type, operation, arguments: [expression] }, type },
    ];
  });
}
