import type { Random } from '../../src/demo/traffic/random.ts';
import type { EventValue, TestEvent } from '../column/batch-of.ts';
import { Failure } from './failure.ts';
import {
  FIELD_NAMES,
  type MixedExpression,
  type MixedRow,
  randomMixed,
} from './mixed-expression.ts';
import { compareKinds, inRange, jsonOf, type MixedValue, numberOf } from './mixed-value.ts';

/** A query over fields that hold several kinds, some events, and the answer that plain loops give. */
export type MixedCase = {
  readonly sql: string;
  readonly events: readonly TestEvent[];
  /** `undefined` where the query may fail: whether what fails is computed is up to the plan. */
  readonly wanted: string | undefined;
};

export function randomMixedCase(random: Random): MixedCase {
  const rows = randomRows(random);
  const one = random.pick([rowsCase, rowsCase, groupsCase, setCase, joinCase])(random);
  return { sql: one.sql, events: eventsOf(rows), wanted: answerOf(one, rows) };
}

const VALUES: readonly MixedValue[] = [
  ...[null, true, false, 0n, 2n, -3n, 200n, 0.5, -1.5, 2.25, 1e300],
  ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n],
  ...[2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n, 2n ** 64n - 1n],
  ...['a', '2', '200', 'true', '', 'b'],
  ...[[], ['a'], [1, 'x'], { k: 1 }, { k: 'x' }],
];

/** Some kinds at a time, so that values of them meet. */
function randomRows(random: Random): readonly MixedRow[] {
  const some = Array.from({ length: 2 + random.below(6) }, () => random.pick(VALUES));
  return Array.from({ length: random.pick([1, 3, 6, 9]) }, () =>
    Object.fromEntries(
      FIELD_NAMES.flatMap((name) => (random.below(8) === 0 ? [] : [[name, random.pick(some)]])),
    ),
  );
}

type Case = { readonly sql: string; readonly answer: (rows: readonly MixedRow[]) => string };

const FROM = 'FROM logs, UNNEST(metadata) AS m';

function idOf(index: number): string {
  return `e${index}`;
}

function rowsText(rows: readonly (readonly [string, string][])[]): string {
  const texts = rows.map((row) => `{${row.map(([name, json]) => `"${name}":${json}`).join(',')}}`);
  return `[${texts.join(',')}]`;
}

function isTrue(condition: MixedExpression): (row: MixedRow) => boolean {
  return (row) => condition.evaluate(row) === true;
}

/** Expressions of each row that meets a condition. */
function rowsCase(random: Random): Case {
  const types = Array.from({ length: 2 }, () =>
    random.pick(['any', 'number', 'text', 'truth'] as const),
  );
  const items = types.map((type) => randomMixed(random, type, 3));
  const where = randomMixed(random, 'truth', 2);
  const list = items.map(({ text }, index) => `${text} AS c${index}`).join(', ');
  return {
    sql: `SELECT id, ${list} ${FROM} WHERE ${where.text} ORDER BY id`,
    answer: (rows) => {
      const kept = rows
        .map((row, index) => ({ row, id: idOf(index) }))
        .filter(({ row }) => isTrue(where)(row));
      return rowsText(
        kept.map(({ row, id }) => [
          ['id', `"${id}"`],
          ...items.map((item, index): [string, string] => [
            `c${index}`,
            jsonOf(item.evaluate(row), item.type === 'number'),
          ]),
        ]),
      );
    },
  };
}

/** Groups by an expression, and what aggregates say of another. */
function groupsCase(random: Random): Case {
  const key = randomMixed(random, random.pick(['any', 'number', 'truth'] as const), 2);
  const input = randomMixed(random, 'any', 1);
  const aggregates = ['MIN', 'MAX', 'SUM', 'COUNT'].map(
    (name) => `${name}(${input.text}) AS ${name}`,
  );
  return {
    sql: `SELECT ${key.text} AS k, ${aggregates.join(', ')}, COUNT(DISTINCT ${input.text}) AS d ${FROM} GROUP BY k ORDER BY k`,
    answer: (rows) =>
      rowsText(
        groupsOf(rows.map((row) => [key.evaluate(row), input.evaluate(row)] as const)).map(
          ({ key: value, inputs }) => {
            const ordered = orderedOf(inputs);
            const present = inputs.filter((each) => each !== null);
            return [
              ['k', jsonOf(value, key.type === 'number')],
              ['MIN', jsonOf(exactOf(ordered, ordered[0] ?? null), false)],
              ['MAX', jsonOf(exactOf(ordered, ordered.at(-1) ?? null), false)],
              ['SUM', jsonOf(sumOf(inputs), true)],
              ['COUNT', String(present.length)],
              ['d', String(distinctOf(present).length)],
            ];
          },
        ),
      ),
  };
}

type Group = { readonly key: MixedValue; readonly inputs: MixedValue[] };

function groupsOf(pairs: readonly (readonly [MixedValue, MixedValue])[]): readonly Group[] {
  const groups: Group[] = [];
  for (const [key, input] of pairs) {
    const known = groups.find((group) => compareKinds(group.key, key) === 0);
    if (known === undefined) groups.push({ key: keyOf(key), inputs: [input] });
    else known.inputs.push(input);
  }
  return groups.sort((left, right) => compareKinds(left.key, right.key));
}

/** A double that is an integer meets the INT64 of its value, and shows all digits as that does. */
function keyOf(value: MixedValue): MixedValue {
  const isShown = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 64;
  return isShown ? BigInt(value) : value;
}

function distinctOf(values: readonly MixedValue[]): readonly MixedValue[] {
  return groupsOf(values.map((value) => [value, null])).map(({ key }) => key);
}

/** Those of the kind that counts, in order. */
function orderedOf(values: readonly MixedValue[]): readonly MixedValue[] {
  const isNumber = (value: MixedValue) => typeof value === 'bigint' || typeof value === 'number';
  const kinds = [
    values.filter(isNumber),
    values.filter((value) => typeof value === 'string'),
    values.filter((value) => typeof value === 'boolean'),
  ];
  return (kinds.find((each) => each.length > 0) ?? []).toSorted(compareKinds);
}

/** Of values that equal this one, a whole number that shows all its digits, where one is there. */
function exactOf(values: readonly MixedValue[], value: MixedValue): MixedValue {
  const exact = values.find((each) => typeof each === 'bigint' && compareKinds(each, value) === 0);
  return exact ?? value;
}

/** Fractions here have few bits, so a sum of such parts is exact. */
const PART_BITS = 60;

function sumOf(values: readonly MixedValue[]): MixedValue {
  const numbers = values.map(numberOf).filter((value) => value !== null);
  if (numbers.length === 0) return null;
  const parts = numbers.map((value) =>
    Number.isInteger(value) || typeof value === 'bigint'
      ? BigInt(value) << BigInt(PART_BITS)
      : BigInt(value * 2 ** PART_BITS),
  );
  const sum = parts.reduce((total, part) => total + part, 0n);
  const isWhole = numbers.every((value) => typeof value === 'bigint');
  if (!isWhole) {
    const parted = Number(sum);
    const near = Number.isFinite(parted)
      ? parted / 2 ** PART_BITS
      : Number(sum >> BigInt(PART_BITS));
    return inRange(near) ?? null;
  }
  const whole = inRange(sum >> BigInt(PART_BITS));
  if (whole === undefined) throw new Failure('overflow');
  return whole;
}

/** The rows of two expressions, put together, in their order. */
function setCase(random: Random): Case {
  const [one, other] = [randomMixed(random, 'any', 2), randomMixed(random, 'any', 1)];
  const second = random.below(2) === 0 ? "'2'" : other.text;
  const kind = random.pick([
    'UNION ALL',
    'UNION DISTINCT',
    'INTERSECT DISTINCT',
    'EXCEPT DISTINCT',
  ]);
  return {
    sql: `SELECT ${one.text} AS k ${FROM} ${kind} SELECT ${second} ${FROM} ORDER BY k`,
    answer: (rows) => {
      const left = rows.map((row) => one.evaluate(row));
      const right = rows.map((row) => (second === other.text ? other.evaluate(row) : '2'));
      const isRight = (value: MixedValue) => right.some((each) => compareKinds(each, value) === 0);
      const values =
        kind === 'UNION ALL'
          ? [...left, ...right].sort(compareKinds)
          : kind === 'UNION DISTINCT'
            ? distinctOf([...left, ...right])
            : distinctOf(left).filter(
                (value) => isRight(value) === (kind === 'INTERSECT DISTINCT'),
              );
      return rowsText(values.map((value) => [['k', jsonOf(value, false)]]));
    },
  };
}

/** Pairs of rows with equal values. */
function joinCase(random: Random): Case {
  const [one, other] = [randomMixed(random, 'any', 1), randomMixed(random, 'any', 1)];
  const side = ({ text }: MixedExpression, alias: string) =>
    `(SELECT id, ${text} AS k ${FROM}) AS ${alias}`;
  return {
    sql: `SELECT a.id AS i, b.id AS j FROM ${side(one, 'a')} JOIN ${side(other, 'b')} ON a.k = b.k ORDER BY i, j`,
    answer: (rows) => {
      const pairs = rows.flatMap((left, i) =>
        rows.flatMap((right, j): readonly (readonly [string, string][])[] => {
          const [value, wanted] = [one.evaluate(left), other.evaluate(right)];
          if (value === null || wanted === null || compareKinds(value, wanted) !== 0) return [];
          return [
            [
              ['i', `"${idOf(i)}"`],
              ['j', `"${idOf(j)}"`],
            ],
          ];
        }),
      );
      return rowsText(pairs);
    },
  };
}

function answerOf({ answer }: Case, rows: readonly MixedRow[]): string | undefined {
  try {
    return answer(rows);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function eventsOf(rows: readonly MixedRow[]): readonly TestEvent[] {
  return rows.map((row, index) => ({
    id: idOf(index),
    timestampUs: index,
    metadata: [row as Readonly<Record<string, EventValue>>],
  }));
}
