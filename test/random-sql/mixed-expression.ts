import type { Random } from '../../src/demo/traffic/random.ts';
import { Failure } from './failure.ts';
import {
  booleanOf,
  compareKinds,
  equalKinds,
  inRange,
  isLike,
  jsonOf,
  type MixedValue,
  numberOf,
  sqlOf,
  textOf,
} from './mixed-value.ts';

/** The fields of one event. */
export type MixedRow = { readonly [field: string]: MixedValue };

/** As what type an expression is known: `any` is that of a field, of which only the data knows. */
export type MixedType = 'any' | 'number' | 'text' | 'truth';

/** A random expression over fields of mixed kinds: its text, and what it comes to, said without the engine. */
export type MixedExpression = {
  readonly type: MixedType;
  readonly text: string;
  readonly evaluate: (row: MixedRow) => MixedValue;
};

export const FIELD_NAMES = ['x', 'y', 'z'] as const;

const LITERALS: readonly MixedValue[] = [
  ...[0n, 2n, 200n, -3n, 2n ** 53n + 1n, 2n ** 63n - 1n],
  ...[0.5, -1.5, 'a', '2', '200', 'true', '', true, false],
];
const TEXTS = ['a', '2', '200', 'true', ''];
const WHOLES = [0n, 1n, 2n, -3n, 2n ** 53n];

export function randomMixed(random: Random, type: MixedType, depth: number): MixedExpression {
  const makers = depth === 0 ? LEAVES[type] : [...LEAVES[type], ...MAKERS[type], ...MAKERS[type]];
  return random.pick(makers)(random, depth - 1);
}

type Maker = (random: Random, depth: number) => MixedExpression;

function field(random: Random): MixedExpression {
  const name = random.pick(FIELD_NAMES);
  return { type: 'any', text: `m.${name}`, evaluate: (row) => row[name] ?? null };
}

function literal(random: Random, values: readonly MixedValue[], type: MixedType): MixedExpression {
  const value = random.pick(values);
  return { type, text: sqlOf(value), evaluate: () => value };
}

function anyOrLiteral(random: Random, depth: number): MixedExpression {
  if (random.below(2) === 0) return literal(random, LITERALS, 'any');
  return randomMixed(random, 'any', Math.max(depth, 0));
}

const LEAVES: Readonly<Record<MixedType, readonly Maker[]>> = {
  any: [field],
  number: [(random) => arithmetic(random, 0)],
  text: [(random) => castText(field(random))],
  truth: [(random) => comparison(random, 0), (random) => comparison(random, 0)],
};

const MAKERS: Readonly<Record<MixedType, readonly Maker[]>> = {
  any: [coalesce, choice, nullIf, extreme, computedOrField],
  number: [arithmetic, negated],
  text: [(random, depth) => castText(randomMixed(random, 'any', depth)), textCall],
  truth: [comparison, comparison, membership, range, pattern, logic, isNull, distinction],
};

function coalesce(random: Random, depth: number): MixedExpression {
  const [one, other] = [randomMixed(random, 'any', depth), anyOrLiteral(random, depth)];
  return {
    type: 'any',
    text: `${random.pick(['COALESCE', 'IFNULL'])}(${one.text}, ${other.text})`,
    evaluate: (row) => one.evaluate(row) ?? other.evaluate(row),
  };
}

/** What is computed has a type of its own, and beside a field it has none. */
function computedOrField(random: Random, depth: number): MixedExpression {
  const [one, other] = [randomMixed(random, 'number', depth), field(random)];
  return {
    type: 'any',
    text: `COALESCE(${one.text}, ${other.text})`,
    evaluate: (row) => one.evaluate(row) ?? other.evaluate(row),
  };
}

/** A condition is TRUE, or it is not; a field that is no boolean is not. */
function choice(random: Random, depth: number): MixedExpression {
  const when = randomMixed(random, random.pick(['truth', 'any']), depth);
  const [one, other] = [randomMixed(random, 'any', depth), anyOrLiteral(random, depth)];
  const isCase = random.below(2) === 0;
  return {
    type: 'any',
    text: isCase
      ? `CASE WHEN ${when.text} THEN ${one.text} ELSE ${other.text} END`
      : `IF(${when.text}, ${one.text}, ${other.text})`,
    evaluate: (row) => (when.evaluate(row) === true ? one : other).evaluate(row),
  };
}

function nullIf(random: Random, depth: number): MixedExpression {
  const [one, other] = [randomMixed(random, 'any', depth), anyOrLiteral(random, depth)];
  return {
    type: 'any',
    text: `NULLIF(${one.text}, ${other.text})`,
    evaluate: (row) => {
      const value = one.evaluate(row);
      return compared(value, other, row, '=') === true ? null : value;
    },
  };
}

function extreme(random: Random, depth: number): MixedExpression {
  const [one, other] = [randomMixed(random, 'any', depth), anyOrLiteral(random, depth)];
  const name = random.pick(['GREATEST', 'LEAST']);
  return {
    type: 'any',
    text: `${name}(${one.text}, ${other.text})`,
    evaluate: (row) => {
      const [left, right] = [one.evaluate(row), other.evaluate(row)];
      if (left === null || right === null) return null;
      const order = compareKinds(right, left);
      return (name === 'GREATEST' ? order > 0 : order < 0) ? right : left;
    },
  };
}

/** Whole numbers stay whole; what does not fit is NULL with SAFE_, else the query fails. */
function arithmetic(random: Random, depth: number): MixedExpression {
  const [name, sign] = random.pick([
    ['SAFE_ADD', '+'],
    ['SAFE_SUBTRACT', '-'],
    ['SAFE_MULTIPLY', '*'],
  ] as const);
  const left = randomMixed(random, 'any', Math.max(depth, 0));
  const right =
    random.below(2) === 0
      ? literal(random, WHOLES, 'number')
      : randomMixed(random, 'any', Math.max(depth, 0));
  const isSafe = random.below(4) > 0;
  return {
    type: 'number',
    text: isSafe ? `${name}(${left.text}, ${right.text})` : `(${left.text} ${sign} ${right.text})`,
    evaluate: (row) => {
      const [one, other] = [numberOf(left.evaluate(row)), numberOf(right.evaluate(row))];
      if (one === null || other === null) return null;
      const result = inRange(computed(one, other, sign));
      if (result === undefined && !isSafe) throw new Failure('overflow');
      return result ?? null;
    },
  };
}

function computed(
  left: bigint | number,
  right: bigint | number,
  sign: '+' | '-' | '*',
): bigint | number {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    return sign === '+' ? left + right : sign === '-' ? left - right : left * right;
  }
  const [one, other] = [Number(left), Number(right)];
  return sign === '+' ? one + other : sign === '-' ? one - other : one * other;
}

function negated(random: Random, depth: number): MixedExpression {
  const input = randomMixed(random, 'any', depth);
  const isAbsolute = random.below(2) === 0;
  return {
    type: 'number',
    text: isAbsolute ? `ABS(${input.text})` : `(-${input.text})`,
    evaluate: (row) => {
      const value = numberOf(input.evaluate(row));
      if (value === null || (isAbsolute && value >= 0)) return value;
      const result = inRange(-value);
      if (result === undefined) throw new Failure('overflow');
      return result;
    },
  };
}

function castText(input: MixedExpression): MixedExpression {
  return {
    type: 'text',
    text: `CAST(${input.text} AS STRING)`,
    evaluate: (row) => {
      const value = input.evaluate(row);
      // A record and a list are the JSON that an answer shows.
      return typeof value === 'object' && value !== null ? jsonOf(value, false) : textOf(value);
    },
  };
}

function textCall(random: Random, depth: number): MixedExpression {
  const input = randomMixed(random, 'any', depth);
  const [name, rest, make] = random.pick([
    ['UPPER', '', (text: string) => text.toUpperCase()],
    ['LEFT', ', 2', (text: string) => text.slice(0, 2)],
    ['REPLACE', ", '0', 'o'", (text: string) => text.replaceAll('0', 'o')],
  ] as const);
  return {
    type: 'text',
    text: `${name}(${input.text}${rest})`,
    evaluate: (row) => {
      const text = textOf(input.evaluate(row));
      return text === null ? null : make(text);
    },
  };
}

type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** A field and a literal are compared as the literal wants it; two fields by kind and value. */
function compared(
  left: MixedValue,
  other: MixedExpression,
  row: MixedRow,
  operator: Comparison,
): boolean | null {
  const [one, two] = sidesOf(left, other, row);
  if (one === null || two === null) return null;
  if (operator === '=' || operator === '!=') return equalKinds(one, two) === (operator === '=');
  const order = compareKinds(one, two);
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

function sidesOf(
  left: MixedValue,
  other: MixedExpression,
  row: MixedRow,
): readonly [MixedValue, MixedValue] {
  const right = other.evaluate(row);
  if (!isTyped(other)) return [left, right];
  if (typeof right === 'string') return [textOf(left), right];
  return typeof right === 'boolean' ? [booleanOf(left), right] : [numberOf(left), right];
}

/** A literal, or what arithmetic gives. */
function isTyped({ text, type }: MixedExpression): boolean {
  return type === 'number' || !/m\./.test(text);
}

function comparison(random: Random, depth: number): MixedExpression {
  const left = randomMixed(random, 'any', Math.max(depth, 0));
  const isComputed = random.below(4) === 0;
  const right = isComputed ? arithmetic(random, 0) : anyOrLiteral(random, depth);
  const operator = random.pick(['=', '!=', '<', '<=', '>', '>='] as const);
  return {
    type: 'truth',
    text: `(${left.text} ${operator} ${right.text})`,
    evaluate: (row) => compared(left.evaluate(row), right, row, operator),
  };
}

function membership(random: Random, depth: number): MixedExpression {
  const input = field(random);
  const items = Array.from({ length: 1 + random.below(3) }, () => anyOrLiteral(random, depth));
  return {
    type: 'truth',
    text: `(${input.text} IN (${items.map(({ text }) => text).join(', ')}))`,
    evaluate: (row) => {
      const answers = items.map((item) => compared(input.evaluate(row), item, row, '='));
      if (answers.includes(true)) return true;
      return answers.includes(null) ? null : false;
    },
  };
}

function range(random: Random, depth: number): MixedExpression {
  const input = field(random);
  const [low, high] = [anyOrLiteral(random, depth), anyOrLiteral(random, depth)];
  return {
    type: 'truth',
    text: `(${input.text} BETWEEN ${low.text} AND ${high.text})`,
    evaluate: (row) => {
      const value = input.evaluate(row);
      return both(compared(value, low, row, '>='), compared(value, high, row, '<='));
    },
  };
}

function both(left: boolean | null, right: boolean | null): boolean | null {
  if (left === false || right === false) return false;
  return left === null || right === null ? null : true;
}

function pattern(random: Random, depth: number): MixedExpression {
  const input = randomMixed(random, 'any', depth);
  const [text, test] = random.pick([
    [' LIKE ', (value: string, part: string) => isLike(value, part)],
    ['STARTS_WITH', (value: string, part: string) => value.startsWith(part)],
  ] as const);
  const part = `${random.pick(TEXTS)}${text === ' LIKE ' ? '%' : ''}`;
  return {
    type: 'truth',
    text:
      text === ' LIKE ' ? `(${input.text} LIKE '${part}')` : `${text}(${input.text}, '${part}')`,
    evaluate: (row) => {
      const value = textOf(input.evaluate(row));
      return value === null ? null : test(value, part);
    },
  };
}

function logic(random: Random, depth: number): MixedExpression {
  const [one, other] = [0, 1].map(() =>
    randomMixed(random, random.pick(['truth', 'truth', 'any']), depth),
  ) as [MixedExpression, MixedExpression];
  const isAnd = random.below(2) === 0;
  return {
    type: 'truth',
    text: `(${one.text} ${isAnd ? 'AND' : 'OR'} NOT ${other.text})`,
    evaluate: (row) => {
      const [left, right] = [booleanOf(one.evaluate(row)), not(booleanOf(other.evaluate(row)))];
      return isAnd ? both(left, right) : not(both(not(left), not(right)));
    },
  };
}

function not(value: boolean | null): boolean | null {
  return value === null ? null : !value;
}

function isNull(random: Random, depth: number): MixedExpression {
  const input = randomMixed(random, 'any', depth);
  return {
    type: 'truth',
    text: `(${input.text} IS NULL)`,
    evaluate: (row) => input.evaluate(row) === null,
  };
}

function distinction(random: Random, depth: number): MixedExpression {
  const [input, other] = [field(random), anyOrLiteral(random, depth)];
  return {
    type: 'truth',
    text: `(${input.text} IS DISTINCT FROM ${other.text})`,
    evaluate: (row) => {
      const [one, two] = sidesOf(input.evaluate(row), other, row);
      return one === null || two === null ? one !== two : !equalKinds(one, two);
    },
  };
}
