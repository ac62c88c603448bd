import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Chunk, VectorChunk } from '../../engine/column/chunk.ts';
import {
  arrayOf,
  BOOL,
  DYNAMIC,
  FLOAT64,
  INT64,
  NULL_TYPE,
  NUMBER,
  type SqlType,
  STRING,
  TIMESTAMP,
} from '../../engine/column/type.ts';
import type { Nested, SqlValue } from '../../engine/column/value.ts';
import {
  constantVector,
  dictionaryVector,
  type NestedSource,
  type Vector,
  valueAt,
  valueVector,
} from '../../engine/column/vector.ts';
import { findScalarFunction, scalarFunctionNames } from '../../engine/function/registry.ts';
import { boundOverload } from '../../engine/plan/call-facts.ts';
import { compileExpression, evaluateConstant } from '../../engine/plan/evaluate.ts';
import { ByteSearch } from '../../engine/plan/evaluator/text-search.ts';
import type { Expression } from '../../engine/plan/expression.ts';
import { QueryError } from '../../engine/query-error.ts';
import { BlockDictionary, booleans, numbers, strings, valueDictionary } from './harness.ts';

function literal(value: SqlValue, type: SqlType = typeOf(value)): Expression {
  return { op: 'literal', type, value };
}

function typeOf(value: SqlValue): SqlType {
  if (typeof value === 'string') return STRING;
  if (typeof value === 'boolean') return BOOL;
  if (value === null) return NULL_TYPE;
  return Number.isInteger(value) ? INT64 : FLOAT64;
}

function read(id: number, type: SqlType): Expression {
  return { op: 'column', type, id };
}

function call(name: string, type: SqlType, ...inputs: Expression[]): Expression {
  const span = { start: 7, end: 9, line: 1, column: 8 };
  return { op: 'call', type, name, arguments: inputs, span };
}

function chunkWith(...vectors: Vector[]): Chunk {
  return new VectorChunk(vectors, vectors[0]!.count);
}

/** Column ids are positions. */
function evaluate(expression: Expression, chunk: Chunk): Vector {
  return compileExpression(expression, (id) => id)(chunk);
}

function values(vector: Vector): SqlValue[] {
  return Array.from({ length: vector.count }, (_, index) => valueAt(vector, index));
}

function expectFailure(evaluation: () => unknown, message: RegExp): void {
  assert.throws(evaluation, (error) => {
    assert.ok(error instanceof QueryError);
    assert.equal(error.code, 'query_failed');
    assert.match(error.message, message);
    return true;
  });
}

const X = read(0, FLOAT64);
const inverse = call('/', FLOAT64, literal(1), X);

test('does not divide where AND or OR is decided already', () => {
  const chunk = chunkWith(numbers([0, 0.25, 4, null]));
  const guarded = (name: string, test: string) =>
    call(name, BOOL, call(test, BOOL, X, literal(0)), call('>', BOOL, inverse, literal(2)));
  assert.deepEqual(values(evaluate(guarded('and', '!='), chunk)), [false, true, false, null]);
  assert.deepEqual(values(evaluate(guarded('or', '='), chunk)), [true, true, false, null]);
  const swapped = call(
    'and',
    BOOL,
    call('>', BOOL, inverse, literal(2)),
    call('!=', BOOL, X, literal(0)),
  );
  expectFailure(() => evaluate(swapped, chunk), /division by zero/i);
});

test('combines truths as SQL does, NULL being neither', () => {
  const truths = [true, false, null];
  const left = truths.flatMap((truth) => [truth, truth, truth]);
  const right = truths.flatMap(() => truths);
  const chunk = chunkWith(booleans(left), booleans(right));
  const both = (name: string) => call(name, BOOL, read(0, BOOL), read(1, BOOL));
  assert.deepEqual(values(evaluate(both('and'), chunk)), [
    ...[true, false, null],
    ...[false, false, false],
    ...[null, false, null],
  ]);
  assert.deepEqual(values(evaluate(both('or'), chunk)), [
    ...[true, true, true],
    ...[true, false, null],
    ...[true, null, null],
  ]);
});

test('evaluates branches of CASE and arguments of COALESCE where they are needed only', () => {
  const chunk = chunkWith(numbers([0, 2, null]));
  const isZero = call('=', BOOL, X, literal(0));
  const cased: Expression = {
    op: 'case',
    type: FLOAT64,
    branches: [{ when: isZero, then: literal(-1) }],
    otherwise: inverse,
  };
  assert.deepEqual(values(evaluate(cased, chunk)), [-1, 0.5, null]);
  const coalesced: Expression = {
    op: 'coalesce',
    type: FLOAT64,
    arguments: [read(1, FLOAT64), inverse],
  };
  const withSecond = chunkWith(numbers([0, 2, null]), numbers([9, null, null]));
  assert.deepEqual(values(evaluate(coalesced, withSecond)), [9, 0.5, null]);
});

test('gives what branches have in common its form: numbers stay numbers, codes codes', () => {
  const isSet = read(0, BOOL);
  const choose = (then: Expression, otherwise: Expression): Expression => ({
    op: 'case',
    type: then.type,
    branches: [{ when: isSet, then }],
    otherwise,
  });
  const text = strings(['a', 'b', 'c']);
  const chunk = chunkWith(booleans([true, false, null]), text, numbers([1, 2, 3]));
  const counted = evaluate(choose(literal(1), literal(null)), chunk);
  assert.equal(counted.kind, 'number');
  assert.deepEqual(values(counted), [1, null, null]);
  const coded = evaluate(choose(read(1, STRING), literal(null)), chunk);
  assert.equal(coded.kind, 'dictionary');
  assert.deepEqual(values(coded), ['a', null, null]);
  assert.deepEqual(values(evaluate(choose(read(1, STRING), literal('z')), chunk)), ['a', 'z', 'z']);
  assert.equal(evaluate(choose(literal(true), literal(false)), chunk).kind, 'boolean');
});

test('evaluates nothing for a chunk without rows', () => {
  const failing = call('/', FLOAT64, literal(1), literal(0));
  assert.equal(evaluate(failing, new VectorChunk([], 0)).count, 0);
  expectFailure(() => evaluate(failing, new VectorChunk([], 1)), /division by zero/i);
});

test('asks a function once for each code that live rows carry, and remembers', () => {
  const dictionary = new BlockDictionary(['a', 'b', 'c']);
  const upper = compileExpression(call('upper', STRING, read(0, STRING)), (id) => id);
  const over = (...codes: number[]) =>
    upper(chunkWith(dictionaryVector(Int32Array.from(codes), codes.length, dictionary)));
  const vector = over(0, 2, 0, -1, 2, 2);
  assert.equal(vector.kind, 'dictionary');
  assert.deepEqual(values(vector), ['A', 'C', 'A', null, 'C', 'C']);
  assert.equal(dictionary.readCount, 2);
  assert.deepEqual(values(over(2, 1)), ['C', 'B']);
  assert.equal(dictionary.readCount, 3);
});

test('remembers an error per code, and raises it for a live row only', () => {
  const dictionary = new BlockDictionary(['1', 'x']);
  const number: Expression = { op: 'cast', type: INT64, input: read(0, STRING), safe: false };
  const cast = compileExpression(number, (id) => id);
  const over = (...codes: number[]) =>
    cast(chunkWith(dictionaryVector(Int32Array.from(codes), codes.length, dictionary)));
  assert.deepEqual(values(over(0, -1, 0)), [1, null, 1]);
  expectFailure(() => over(0, 1), /x/);
  expectFailure(() => over(1), /x/);
  assert.equal(dictionary.readCount, 2);
  assert.deepEqual(values(over(0)), [1]);
});

test('remembers nothing of the many entries of a dictionary that are met once each, and all of those met again', () => {
  const dictionary = new BlockDictionary(Array.from({ length: 40_000 }, (_, code) => `T${code}`));
  const lower = compileExpression(call('lower', STRING, read(0, STRING)), (id) => id);
  const over = (codes: Int32Array) =>
    values(lower(chunkWith(dictionaryVector(codes, codes.length, dictionary))));
  const ascending = Int32Array.from({ length: 1_000 }, (_, row) => 3 * row);
  for (const run of [1, 2]) {
    assert.deepEqual(over(ascending).slice(0, 2), ['t0', 't3']);
    assert.equal(dictionary.readCount, 1_000 * run);
  }
  const repeated = ascending.map((code) => code % 6);
  for (const _ of [1, 2]) assert.deepEqual(over(repeated).slice(0, 3), ['t0', 't3', 't0']);
  assert.equal(dictionary.readCount, 2_002);
});

test('does not take what it remembers of one constant for another', () => {
  const dictionary = new BlockDictionary(['a', 'b']);
  const codes = Int32Array.of(0, 1);
  const joined = compileExpression(
    call('concat', STRING, read(0, STRING), read(1, STRING)),
    (id) => id,
  );
  for (const end of ['1', '2', '1']) {
    const chunk = chunkWith(dictionaryVector(codes, 2, dictionary), constantVector(end, 2));
    assert.deepEqual(values(joined(chunk)), [`a${end}`, `b${end}`]);
  }
});

test('lets a function that handles NULL make a value of it', () => {
  const chunk = chunkWith(
    dictionaryVector(Int32Array.of(0, 1, -1), 3, valueDictionary(['a', null])),
  );
  const isNull = call('is_null', BOOL, read(0, STRING));
  assert.deepEqual(values(evaluate(isNull, chunk)), [false, true, true]);
  const nothing = call('nullif', STRING, read(0, STRING), literal('a'));
  assert.deepEqual(values(evaluate(nothing, chunk)), [null, null, null]);
});

test('tells where in the text an error arose', () => {
  assert.throws(
    () => evaluateConstant(call('/', FLOAT64, literal(1), literal(0))),
    (error) => error instanceof QueryError && error.span?.column === 8,
  );
});

test('looks among constants, a NULL among them making absence unknown', () => {
  const within = (input: Expression, ...items: SqlValue[]) =>
    call('in', BOOL, input, ...items.map((item) => literal(item, input.type)));
  const nums = chunkWith(numbers([1, 2, null, 2 ** 60]));
  assert.deepEqual(values(evaluate(within(X, 1, 3), nums)), [true, false, null, false]);
  assert.deepEqual(values(evaluate(within(X, 1, null), nums)), [true, null, null, null]);
  assert.deepEqual(values(evaluate(within(X, 2n ** 60n), nums)), [false, false, null, true]);
  assert.deepEqual(values(evaluate(within(X, Number.NaN), chunkWith(numbers([Number.NaN])))), [
    false,
  ]);
  const text = chunkWith(strings(['a', null, 'b']));
  assert.deepEqual(values(evaluate(within(read(0, STRING), 'b', 'c'), text)), [false, null, true]);
});

test('looks into a constant array: an empty one holds nothing, whatever is sought', () => {
  const within = (items: SqlValue[]) => call('in_array', BOOL, X, literal(items, arrayOf(FLOAT64)));
  const chunk = chunkWith(numbers([1, null]));
  assert.deepEqual(values(evaluate(within([1, 2]), chunk)), [true, null]);
  assert.deepEqual(values(evaluate(within([]), chunk)), [false, false]);
});

const TEXTS = ['/rest/v1', '', '/auth', 'x/rest', '/re', 'st', '/rest', 'REST'];

test('finds a text among many strings as it does in each', () => {
  // Each string many times over, made distinct, so that their block is searched as a whole.
  const many = Array.from({ length: 40 }, (_, index) =>
    TEXTS.map((text) => `${text}${'·'.repeat(index)}`),
  ).flat();
  const distinct = [...new Set(many)];
  const tests: [Expression, (text: string) => boolean][] = [
    [call('regexp_contains', BOOL, read(0, STRING), literal('/rest')), (t) => t.includes('/rest')],
    [call('like', BOOL, read(0, STRING), literal('%/rest%')), (t) => t.includes('/rest')],
    [call('like', BOOL, read(0, STRING), literal('%')), () => true],
    [call('regexp_contains', BOOL, read(0, STRING), literal('·/')), () => false],
    [call('regexp_contains', BOOL, read(0, STRING), literal('')), () => true],
    [call('regexp_contains', BOOL, read(0, STRING), literal('^/re')), (t) => t.startsWith('/re')],
    [
      call('>', BOOL, call('strpos', INT64, read(0, STRING), literal('st')), literal(0)),
      (t) => t.includes('st'),
    ],
  ];
  for (const [expression, holds] of tests) {
    const dictionary = new BlockDictionary(distinct);
    const codes = Int32Array.from([...distinct.keys(), -1]);
    const chunk = chunkWith(dictionaryVector(codes, codes.length, dictionary));
    assert.deepEqual(values(evaluate(expression, chunk)), [...distinct.map(holds), null]);
  }
});

test('searches the bytes of strings that lie in a block, and reads none of them', () => {
  const dictionary = new BlockDictionary(
    Array.from({ length: 1000 }, (_, index) => `/rest/${index}`),
  );
  const contains = call('regexp_contains', BOOL, read(0, STRING), literal('/99'));
  const codes = Int32Array.from([99, 990, 199, 9, 99, 998, -1]);
  const vector = evaluate(contains, chunkWith(dictionaryVector(codes, codes.length, dictionary)));
  assert.deepEqual(values(vector), [true, true, false, false, true, true, null]);
  assert.equal(dictionary.readCount, 0);
});

test('finds a text wherever it stands in a string, as String.includes does', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 6 });
  const law = fc.property(part, fc.array(part, { minLength: 1 }), (text, distinct) => {
    const block = new BlockDictionary(distinct);
    const search = new ByteSearch(text);
    for (const [code, value] of distinct.entries()) {
      const { bytes, start, end } = block.range(code);
      assert.equal(search.test(bytes, start, end), value.includes(text));
    }
  });
  fc.assert(law);
});

const RECORD: Nested = {
  isList: false,
  field: (name) => (name === 'a' ? 1 : null),
  elements: () => [RECORD],
  writeJson: () => assert.fail('not asked for'),
};

test('asks a segment for fields, and single records one by one; scalars have none', () => {
  const source: NestedSource = {
    field: ({ rows, count }, name) =>
      valueVector(Array.from(rows.subarray(0, count), (row) => `${name} of ${row}`)),
    unnest: () => assert.fail('not asked for'),
    nested: () => RECORD,
  };
  const field: Expression = {
    op: 'dynamic-field',
    type: DYNAMIC,
    input: read(0, DYNAMIC),
    name: 'a',
  };
  const over = (vector: Vector) => values(evaluate(field, chunkWith(vector)));
  const rows = Int32Array.of(4, 5);
  const nodes = Int32Array.of(0, 0);
  assert.deepEqual(over({ kind: 'nested', count: 2, source, rows, nodes }), ['a of 4', 'a of 5']);
  assert.deepEqual(over(valueVector([RECORD, 'x', null])), [1, null, null]);
  assert.deepEqual(over(constantVector(RECORD, 2)), [1, 1]);
  assert.deepEqual(over(numbers([1])), [null]);
  assert.deepEqual(over(strings(['x'])), [null]);
  assert.deepEqual(over(dictionaryVector(Int32Array.of(0, -1), 2, valueDictionary([RECORD]))), [
    1,
    null,
  ]);
});

test('reads DYNAMIC values by use, whatever the form; strings of a block are not read', () => {
  const mixed: SqlValue[] = [1, 1.5, 2n ** 60n, 'x', true, null];
  const readAs = (type: SqlType, vector: Vector) => {
    const expression: Expression = { op: 'read-as', type, input: read(0, DYNAMIC) };
    return evaluate(expression, chunkWith(vector));
  };
  for (const [type, expected] of [
    [FLOAT64, [1, 1.5, 2 ** 60, null, null, null]],
    [NUMBER, [1, 1.5, 2n ** 60n, null, null, null]],
    [INT64, [1, null, 2n ** 60n, null, null, null]],
    [STRING, ['1', '1.5', '1152921504606846976', 'x', 'true', null]],
    [BOOL, [null, null, null, null, true, null]],
  ] as const) {
    assert.deepEqual(values(readAs(type, valueVector(mixed))), expected);
    const codes = Int32Array.of(0, 1, 2, 3, 4, -1);
    const coded = dictionaryVector(codes, 6, valueDictionary(mixed));
    assert.deepEqual(values(readAs(type, coded)), expected);
  }
  const floats = numbers([1, 2.5, null]);
  assert.equal(readAs(FLOAT64, floats), floats);
  assert.equal(readAs(NUMBER, floats), floats);
  assert.deepEqual(values(readAs(STRING, floats)), ['1', '2.5', null]);
  assert.equal(readAs(BOOL, floats).kind, 'constant');
  assert.deepEqual(values(readAs(INT64, floats)), [1, null, null]);
  const integers = numbers([1, null]);
  assert.equal(readAs(INT64, integers), integers);
  const text = strings(['2024-01-01', null]);
  assert.equal(readAs(STRING, text), text);
  assert.equal(readAs(FLOAT64, text).kind, 'constant');
  assert.deepEqual(values(readAs(TIMESTAMP, text)), [1_704_067_200_000_000, null]);
});

test('makes structs and arrays, and takes a field without making the struct', () => {
  const type: SqlType = { kind: 'STRUCT', fields: [{ type: FLOAT64 }, { type: STRING }] };
  const struct: Expression = { op: 'struct', type, fields: [X, read(1, STRING)] };
  const chunk = chunkWith(numbers([1, 2]), strings(['a', null]));
  assert.deepEqual(values(evaluate(struct, chunk)), [
    [1, 'a'],
    [2, null],
  ]);
  const second: Expression = { op: 'struct-field', type: STRING, input: struct, index: 1 };
  assert.equal(evaluate(second, chunk), chunk.column(1));
  const fromColumn: Expression = {
    op: 'struct-field',
    type: STRING,
    input: read(0, type),
    index: 1,
  };
  assert.deepEqual(values(evaluate(fromColumn, chunkWith(valueVector([[1, 'a'], null])))), [
    'a',
    null,
  ]);
});

test('finds each overload of the registry again by its own types', () => {
  for (const name of scalarFunctionNames()) {
    for (const overload of findScalarFunction(name)!.overloads) {
      const types = overload.parameters.map((parameter): SqlType => {
        if (typeof parameter === 'object') return parameter;
        if (parameter === 'array') return arrayOf(INT64);
        return parameter === 'part' ? STRING : INT64;
      });
      const found = boundOverload(name, types);
      assert.equal(found.nulls, overload.nulls, name);
      const result =
        typeof overload.result === 'function' ? overload.result(types) : overload.result;
      const got = typeof found.result === 'function' ? found.result(types) : found.result;
      assert.deepEqual(got, result, name);
    }
  }
});
