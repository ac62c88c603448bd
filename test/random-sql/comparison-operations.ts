import type { Input, Operation } from './operation.ts';
import { lazy, strict } from './operation-maker.ts';
import { SCALARS, type Scalar, type Type, type Value } from './query.ts';
import { compare, equal, groupText, isIn } from './value-order.ts';

export function truths(): readonly Operation[] {
  return [
    lazy('(? AND ?)', ['BOOL', 'BOOL'], 'BOOL', (left, right) => both(left(), right())),
    lazy('(? OR ?)', ['BOOL', 'BOOL'], 'BOOL', (left, right) =>
      not(both(not(left()), not(right()))),
    ),
    lazy('(NOT ?)', ['BOOL'], 'BOOL', (value) => not(value())),
    lazy('(? IS TRUE)', ['BOOL'], 'BOOL', (value) => value() === true),
    lazy('(? IS NOT TRUE)', ['BOOL'], 'BOOL', (value) => value() !== true),
    lazy('(? IS FALSE)', ['BOOL'], 'BOOL', (value) => value() === false),
    lazy('(? IS NOT FALSE)', ['BOOL'], 'BOOL', (value) => value() !== false),
  ];
}

function both(left: Value, right: Value): Value {
  if (left === false || right === false) return false;
  return left === null || right === null ? null : true;
}

function not(value: Value): Value {
  return value === null ? null : !value;
}

const MIXED: readonly (readonly [Type, Type])[] = [
  ['INT64', 'FLOAT64'],
  ['FLOAT64', 'INT64'],
];

export function comparisons(): readonly Operation[] {
  const pairs = [...SCALARS.map((type) => [type, type] as const), ...MIXED];
  return [
    ...pairs.flatMap(([left, right]) => comparisonsOf(left, right)),
    ...SCALARS.flatMap(membershipsOf),
    ...(['INT64', 'FLOAT64', 'STRING', 'TIMESTAMP', 'DATE'] as const).map((type) =>
      lazy('(? IN UNNEST(?))', [type, `${type}[]`], 'BOOL', (value, list) => {
        const elements = list() as readonly Value[] | null;
        return (elements ?? []).length === 0 ? false : isIn(value(), elements!);
      }),
    ),
  ];
}

function comparisonsOf(left: Type, right: Type): readonly Operation[] {
  const operation = (name: string, holds: (left: Value, right: Value) => boolean) =>
    strict(`(? ${name} ?)`, [left, right], 'BOOL', holds);
  return [
    operation('=', equal),
    operation('!=', (one, other) => !equal(one, other)),
    operation('<>', (one, other) => !equal(one, other)),
    operation('<', isLess),
    operation('>', (one, other) => isLess(other, one)),
    operation('<=', (one, other) => isLess(one, other) || equal(one, other)),
    operation('>=', (one, other) => isLess(other, one) || equal(one, other)),
  ];
}

function isLess(left: Value, right: Value): boolean {
  return !Number.isNaN(left) && !Number.isNaN(right) && compare(left, right) < 0;
}

function membershipsOf(type: Scalar): readonly Operation[] {
  const isBetween = (value: Input, low: Input, high: Input) => {
    const [own, least, most] = [value(), low(), high()];
    return both(isAtMost(least, own), isAtMost(own, most));
  };
  const three: readonly Type[] = [type, type, type];
  return [
    lazy('(? IS NULL)', [type], 'BOOL', (value) => value() === null),
    lazy('(? IS DISTINCT FROM ?)', [type, type], 'BOOL', (one, other) => {
      return groupText(one()) !== groupText(other());
    }),
    lazy('(? IS NOT NULL)', [type], 'BOOL', (value) => value() !== null),
    lazy('(? IN (?, ?))', three, 'BOOL', (value, ...list) => isIn(value(), list.map(read))),
    lazy('(? NOT IN (?, ?))', three, 'BOOL', (value, ...list) =>
      not(isIn(value(), list.map(read))),
    ),
    lazy('(? BETWEEN ? AND ?)', three, 'BOOL', (...inputs) =>
      isBetween(...(inputs as readonly [Input, Input, Input])),
    ),
    lazy('(? NOT BETWEEN ? AND ?)', three, 'BOOL', (...inputs) =>
      not(isBetween(...(inputs as readonly [Input, Input, Input]))),
    ),
  ];
}

function isAtMost(left: Value, right: Value): Value {
  if (left === null || right === null) return null;
  return isLess(left, right) || equal(left, right);
}

function read(input: Input): Value {
  return input();
}

const RECORD_FIELDS: readonly (readonly [Type, Type])[] = [
  ...(['INT64', 'FLOAT64', 'STRING', 'TIMESTAMP', 'BOOL'] as const).map(
    (type) => [type, type] as const,
  ),
  ...MIXED,
];

/** On records that are written out: equal where each field is. */
export function records(): readonly Operation[] {
  return RECORD_FIELDS.flatMap(([left, right]): readonly Operation[] => {
    const two: readonly Type[] = [left, 'STRING', right, 'STRING'];
    const three: readonly Type[] = [...two, right, 'STRING'];
    const isSome = (...inputs: readonly Input[]): Value => {
      const [a, b, c, d, e, f] = inputs.map(read) as [Value, Value, Value, Value, Value, Value];
      return not(both(not(isSame([a, b], [c, d])), not(isSame([a, b], [e, f]))));
    };
    return [
      lazy('(STRUCT(? AS a, ? AS b) = STRUCT(? AS c, ? AS d))', two, 'BOOL', (...inputs) => {
        const [a, b, c, d] = inputs.map(read) as [Value, Value, Value, Value];
        return isSame([a, b], [c, d]);
      }),
      lazy('(STRUCT(?, ?) != STRUCT(?, ?))', two, 'BOOL', (...inputs) => {
        const [a, b, c, d] = inputs.map(read) as [Value, Value, Value, Value];
        return not(isSame([a, b], [c, d]));
      }),
      lazy('(STRUCT(?, ?) IN (STRUCT(?, ?), STRUCT(?, ?)))', three, 'BOOL', isSome),
      // In arrays Google's engine takes no INT64 for a FLOAT64.
      ...(['INT64', 'FLOAT64'].includes(left)
        ? []
        : [
            lazy('(STRUCT(?, ?) IN UNNEST([STRUCT(?, ?), STRUCT(?, ?)]))', three, 'BOOL', isSome),
            lazy(
              '(STRUCT(?, ?) IN UNNEST(ARRAY_REVERSE([STRUCT(?, ?), STRUCT(?, ?)])))',
              three,
              'BOOL',
              isSome,
            ),
          ]),
    ];
  });
}

function isSame(left: readonly Value[], right: readonly Value[]): Value {
  return left.reduce((same: Value, value, index) => {
    const other = right[index]!;
    const isEqual = value === null || other === null ? null : equal(value, other);
    return both(same, isEqual);
  }, true);
}

/** What chooses among its arguments, for every type: those not chosen are not asked for. */
export function conditionals(): readonly Operation[] {
  return [...SCALARS.flatMap(conditionalsOf), ...mixedConditionals()];
}

/** Of an integer and a fraction: both are FLOAT64 then. */
function mixedConditionals(): readonly Operation[] {
  const float = (value: Value) => (typeof value === 'bigint' ? Number(value) : value);
  return [
    lazy('IF(?, ?, ?)', ['BOOL', 'INT64', 'FLOAT64'], 'FLOAT64', (when, one, other) =>
      when() === true ? float(one()) : other(),
    ),
    lazy(
      'COALESCE(?, ?)',
      ['FLOAT64', 'INT64'],
      'FLOAT64',
      (one, other) => one() ?? float(other()),
    ),
    lazy('(? IN (?, ?))', ['FLOAT64', 'INT64', 'FLOAT64'], 'BOOL', (value, ...list) =>
      isIn(value(), list.map(read)),
    ),
    lazy('(? IN (?, ?))', ['INT64', 'FLOAT64', 'INT64'], 'BOOL', (value, ...list) =>
      isIn(value(), list.map(read)),
    ),
    lazy('(? BETWEEN ? AND ?)', ['INT64', 'FLOAT64', 'INT64'], 'BOOL', (value, low, high) => {
      const own = value();
      return both(isAtMost(low(), own), isAtMost(own, high()));
    }),
  ];
}

function conditionalsOf(type: Scalar): readonly Operation[] {
  return [
    lazy('IF(?, ?, ?)', ['BOOL', type, type], type, (when, one, other) =>
      when() === true ? one() : other(),
    ),
    lazy('COALESCE(?, ?)', [type, type], type, (one, other) => one() ?? other()),
    lazy(
      'COALESCE(?, ?, ?)',
      [type, type, type],
      type,
      (one, two, three) => one() ?? two() ?? three(),
    ),
    lazy('IFNULL(?, ?)', [type, type], type, (one, other) => one() ?? other()),
    lazy('NULLIF(?, ?)', [type, type], type, (one, other) => {
      const [value, excluded] = [one(), other()];
      return value !== null && excluded !== null && equal(value, excluded) ? null : value;
    }),
    lazy(
      'CASE WHEN ? THEN ? WHEN ? THEN ? ELSE ? END',
      ['BOOL', type, 'BOOL', type, type],
      type,
      (when, one, whenNot, two, other) =>
        when() === true ? one() : whenNot() === true ? two() : other(),
    ),
    lazy('CASE WHEN ? THEN ? END', ['BOOL', type], type, (when, one) =>
      when() === true ? one() : null,
    ),
    ...(['INT64', 'STRING', 'TIMESTAMP'] as const).map((subject) =>
      lazy(
        'CASE ? WHEN ? THEN ? ELSE ? END',
        [subject, subject, type, type],
        type,
        (value, wanted, one, other) => {
          const [own, candidate] = [value(), wanted()];
          const isSame = own !== null && candidate !== null && equal(own, candidate);
          return isSame ? one() : other();
        },
      ),
    ),
  ];
}
