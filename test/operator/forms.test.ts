import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { VectorChunk } from '../../engine/column/chunk.ts';
import type { SqlType } from '../../engine/column/type.ts';
import { BOOL, FLOAT64, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  constantVector,
  dictionaryVector,
  type Vector,
  valueAt,
  valueVector,
} from '../../engine/column/vector.ts';
import { compileExpression } from '../../engine/plan/evaluate.ts';
import type { Expression } from '../../engine/plan/expression.ts';
import { QueryError } from '../../engine/query-error.ts';
import { runsOf } from '../support/budget.ts';
import { bestVector, valueDictionary } from './harness.ts';

const NUMBER: SqlType = FLOAT64;
const TYPES: readonly SqlType[] = [NUMBER, STRING, BOOL];

const number = fc.constantFrom<SqlValue>(null, 0, 1, -2, 2.5, 3);
const text = fc.constantFrom<SqlValue>(null, '', 'a', 'ab', 'b%', '2');
const truth = fc.constantFrom<SqlValue>(null, true, false);

/** Columns 0 to 2 hold numbers, texts and truths. */
const expressions = fc.letrec<{ number: Expression; text: Expression; truth: Expression }>(
  (tie) => {
    const literal = (values: fc.Arbitrary<SqlValue>, type: SqlType) =>
      values.map((value): Expression => ({ op: 'literal', type, value }));
    const column = (id: number): fc.Arbitrary<Expression> =>
      fc.constant({ op: 'column', type: TYPES[id]!, id });
    const call = (
      type: SqlType,
      names: readonly string[],
      ...inputs: readonly fc.Arbitrary<Expression>[]
    ) =>
      fc
        .tuple(fc.constantFrom(...names), fc.tuple(...inputs))
        .map(([name, args]): Expression => ({ op: 'call', type, name, arguments: args }));
    const choice = (type: SqlType, part: fc.Arbitrary<Expression>) =>
      fc.tuple(tie('truth'), part, part).map(
        ([when, then, otherwise]): Expression => ({
          op: 'case',
          type,
          branches: [{ when, then }],
          otherwise,
        }),
      );
    const coalesce = (type: SqlType, part: fc.Arbitrary<Expression>) =>
      fc.tuple(part, part).map((args): Expression => ({ op: 'coalesce', type, arguments: args }));
    const [n, s, b] = [tie('number'), tie('text'), tie('truth')];
    const depth = { depthSize: 'small' as const, maxDepth: 4 };
    return {
      number: fc.oneof(
        depth,
        column(0),
        literal(number, NUMBER),
        call(NUMBER, ['+', '-', '*', '/'], n, n),
        call(NUMBER, ['neg', 'abs'], n),
        s.map((input): Expression => ({ op: 'cast', type: NUMBER, input, safe: false })),
        s.map((input): Expression => ({ op: 'cast', type: NUMBER, input, safe: true })),
        choice(NUMBER, n),
        coalesce(NUMBER, n),
      ),
      text: fc.oneof(
        depth,
        column(1),
        literal(text, STRING),
        call(STRING, ['concat', '||'], s, s),
        call(STRING, ['upper'], s),
        choice(STRING, s),
        coalesce(STRING, s),
      ),
      truth: fc.oneof(
        depth,
        column(2),
        literal(truth, BOOL),
        call(BOOL, ['=', '!=', '<', '>='], n, n),
        call(BOOL, ['=', '<', 'like', 'starts_with'], s, s),
        call(BOOL, ['regexp_contains', 'like'], s, literal(text, STRING)),
        call(BOOL, ['in'], n, literal(number, NUMBER), literal(number, NUMBER)),
        call(BOOL, ['and', 'or'], b, b),
        call(BOOL, ['not', 'is_null', 'is_true'], b),
        call(BOOL, ['is_null'], s),
        choice(BOOL, b),
      ),
    };
  },
);

type Row = readonly [SqlValue, SqlValue, SqlValue];

const FORMS: readonly ((values: readonly SqlValue[]) => Vector)[] = [
  bestVector,
  valueVector,
  (values) => {
    const distinct = [...new Set(values)].filter((value) => value !== null);
    const codes = Int32Array.from(values, (value) => distinct.indexOf(value as never));
    return dictionaryVector(codes, values.length, valueDictionary(distinct));
  },
  (values) =>
    dictionaryVector(Int32Array.from(values.keys()), values.length, valueDictionary(values)),
  (values) =>
    values.length > 0 && values.every((value) => Object.is(value, values[0]))
      ? constantVector(values[0]!, values.length)
      : valueVector(values),
];

const FAILED = 'failed';

/** The values, or FAILED where a row has no answer: which row's error it is does not matter. */
function outcome(expression: Expression, columns: readonly Vector[], count: number): unknown {
  try {
    const vector = compileExpression(expression, (id) => id)(new VectorChunk(columns, count));
    assert.equal(vector.count, count);
    return Array.from({ length: count }, (_, row) => {
      const value = valueAt(vector, row);
      return value === 0 ? 0 : value;
    });
  } catch (error) {
    if (error instanceof QueryError) return FAILED;
    throw error;
  }
}

/** Each row by itself, as single values: the slow, plain meaning of an expression. */
function outcomeByRow(expression: Expression, rows: readonly Row[]): unknown {
  const results = rows.map((row) =>
    outcome(
      expression,
      row.map((value) => valueVector([value])),
      1,
    ),
  );
  return results.includes(FAILED) ? FAILED : results.flat();
}

function columnsOf(rows: readonly Row[], forms: readonly number[]): Vector[] {
  return forms.map((form, index) => FORMS[form]!(rows.map((row) => row[index]!)));
}

test('means the same in whatever form its columns come', () => {
  const form = fc.nat(FORMS.length - 1);
  const any = fc.oneof(expressions.number, expressions.text, expressions.truth);
  const rows = fc.array(fc.tuple(number, text, truth), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(any, rows, fc.tuple(form, form, form), (expression, data, forms) => {
      const expected = outcomeByRow(expression, data);
      assert.deepEqual(outcome(expression, columnsOf(data, forms), data.length), expected);
    }),
    { numRuns: runsOf(3000) },
  );
});

test('means the same for chunk after chunk, with what it remembers of the ones before', () => {
  const any = fc.oneof(expressions.number, expressions.text, expressions.truth);
  const rows = fc.array(fc.tuple(number, text, truth), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(any, rows, fc.array(fc.nat(7), { maxLength: 6 }), (expression, data, picks) => {
      const whole = new VectorChunk(columnsOf(data, [3, 3, 3]), data.length);
      const evaluate = compileExpression(expression, (id) => id);
      for (const pick of [...picks, ...picks]) {
        const row = pick % data.length;
        const one = outcomeByRow(expression, [data[row]!]);
        let got: unknown;
        try {
          const value = valueAt(evaluate(whole.select(Int32Array.of(row), 1)), 0);
          got = [value === 0 ? 0 : value];
        } catch (error) {
          if (!(error instanceof QueryError)) throw error;
          got = FAILED;
        }
        assert.deepEqual(got, one);
      }
    }),
    { numRuns: runsOf(1000) },
  );
});
