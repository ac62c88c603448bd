import { type DeferredAnswer, isFailure, valueInAnswer } from '../aggregate/deferred.ts';
import { assert, unreachable } from '../assert.ts';
import { carvedFloat64, carvedUint8 } from '../column/arrays.ts';
import { type Chunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import { CodedNumbers } from '../column/number-vectors.ts';
import { isOfTexts } from '../column/text-block.ts';
import { listsOfTexts } from '../column/text-lists.ts';
import { BOOL, type SqlType, typesEqual } from '../column/type.ts';
import { isNested, type SqlValue } from '../column/value.ts';
import {
  booleanVector,
  constantVector,
  isOfStrings,
  type NumberVector,
  numberVector,
  TRUE,
  TRUTH_COUNT,
  UNKNOWN,
  type Vector,
  valueAt,
  valueVector,
} from '../column/vector.ts';
import { castValue } from '../function/cast.ts';
import { isRead, type Kind, readAs } from '../function/dynamic.ts';
import { matchKey } from '../operator/join.ts';
import { vectorOfValues } from '../operator/merge-vectors.ts';
import { truthBytes, truthOf } from '../operator/row-wise.ts';
import { QueryError, type Span } from '../query-error.ts';
import { boundOverload, type Call } from './call-facts.ts';
import { caseOf, coalesceOf, conjunctionOf, disjunctionOf } from './evaluator/branch.ts';
import { type LiftedFunction, liftFunction, liftOverVectors } from './evaluator/lift.ts';
import { stringTest } from './evaluator/text-search.ts';
import type { Apply, ColumnId, Expression } from './expression.ts';

/**
 * Turns a folded expression (no parameters, no clock) into a function over chunks whose column
 * `columnIndexOf(id)` is the column `id`. The function remembers what it computed per dictionary
 * entry as long as the dictionary lives, so one function is best used for a whole run. `fields`: what
 * functions over chunks of the same columns read once for all of them.
 */
export function compileExpression(
  expression: Expression,
  columnIndexOf: (id: ColumnId) => number,
  applied: ApplyCompiler = refuseApply,
  fields = new ReadFields(),
): VectorFunction {
  const compile = (part: Expression): VectorFunction =>
    compileExpression(part, columnIndexOf, applied, fields);
  switch (expression.op) {
    case 'literal': {
      const { value } = expression;
      return (chunk) => constantVector(value, chunk.count);
    }
    case 'column': {
      const index = columnIndexOf(expression.id);
      assert(index >= 0, 'a column read is a column given');
      return (chunk) => chunk.column(index);
    }
    case 'call':
      return compileCall(expression, compile);
    case 'dynamic-field':
      return fields.functionOf(expression, () =>
        dynamicField(compile(expression.input), expression.name),
      );
    case 'struct-field':
      // A field of a record just made needs neither the record nor its other fields.
      return expression.input.op === 'struct'
        ? compile(expression.input.fields[expression.index]!)
        : structField(compile(expression.input), expression.index);
    case 'struct':
      return arrayBuilder(expression.fields.map(compile));
    case 'array':
      return arrayBuilder(expression.elements.map(compile), listsOfTexts);
    case 'read-as':
      return readAsFunction(compile(expression.input), expression.type);
    case 'cast':
      return castFunction(compile(expression.input), expression);
    case 'case': {
      const branches = expression.branches.map((branch) => ({
        when: compile(branch.when),
        then: compile(branch.then),
      }));
      const choice = numberChoiceIn(expression);
      return choice === undefined
        ? caseOf(branches, compile(expression.otherwise))
        : numberChoiceOf(branches[0]!.when, choice);
    }
    case 'coalesce':
      return coalesceOf(expression.arguments.map(compile));
    case 'deferred-value':
      return deferredValue(compile(expression.input), expression);
    case 'apply':
      return applied(expression, compile);
    case 'parameter':
    case 'now':
      return assert(false, 'parameters and the clock are folded before') as never;
    case 'subquery':
      return assert(false, 'subqueries are applied in a physical plan') as never;
    default:
      return unreachable(expression);
  }
}

/** The two numbers of a CASE with one condition and nothing but constant numbers to choose from. */
function numberChoiceIn({
  branches,
  otherwise,
}: Extract<Expression, { op: 'case' }>): NumberChoice | undefined {
  const [branch] = branches;
  if (branches.length !== 1 || branch === undefined) return undefined;
  if (branch.then.op !== 'literal' || otherwise.op !== 'literal') return undefined;
  const { value: then } = branch.then;
  const { value: rest } = otherwise;
  if (typeof then !== 'number' || typeof rest !== 'number') return undefined;
  return { then, otherwise: rest };
}

/** Turns a subquery into a function over the chunks of the operator it stands in. */
type ApplyCompiler = (
  apply: Apply,
  compile: (part: Expression) => VectorFunction,
) => VectorFunction;

function refuseApply(): never {
  return assert(false, 'an expression outside of a plan has no subquery') as never;
}

/** The value of an expression without columns; throws a QueryError when it has none. */
export function evaluateConstant(expression: Expression): SqlValue {
  const evaluate = compileExpression(expression, () => -1);
  return valueAt(evaluate(new VectorChunk([], 1)), 0);
}

function compileCall(
  expression: Extract<Expression, { op: 'call' }>,
  compile: (part: Expression) => VectorFunction,
): VectorFunction {
  if (expression.name === 'and') return conjunctionOf(expression.arguments.map(compile));
  if (expression.name === 'or') return disjunctionOf(expression.arguments.map(compile));
  return callFunction(expression, compile);
}

/** The field `name` of a DYNAMIC value; NULL of whatever has no fields. */
function dynamicField(input: VectorFunction, name: string): VectorFunction {
  return (chunk) => {
    const vector = input(chunk);
    switch (vector.kind) {
      case 'nested':
        return vector.source.field(vector, name);
      case 'constant':
        return constantVector(fieldNamed(vector.value, name), chunk.count);
      case 'number':
      case 'boolean':
        return constantVector(null, chunk.count);
      case 'dictionary':
        // A dictionary with a block of strings holds nothing else.
        if (isOfStrings(vector.dictionary)) return constantVector(null, chunk.count);
        break;
      case 'value':
        break;
      default:
        return unreachable(vector);
    }
    const values = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++)
      values[row] = fieldNamed(valueAt(vector, row), name);
    return valueVector(values);
  };
}

function fieldNamed(value: SqlValue, name: string): SqlValue {
  return isNested(value) ? value.field(name) : null;
}

/** A STRUCT or an ARRAY from its parts: one array of values a row, where `build` knows no other form. */
function arrayBuilder(
  parts: readonly VectorFunction[],
  build: (vectors: readonly Vector[], count: number) => Vector | undefined = () => undefined,
): VectorFunction {
  return (chunk) => {
    const vectors = parts.map((part) => part(chunk));
    if (vectors.every((vector) => vector.kind === 'constant')) {
      return constantVector(
        vectors.map((vector) => vector.value),
        chunk.count,
      );
    }
    const built = build(vectors, chunk.count);
    if (built !== undefined) return built;
    const rows = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++) {
      rows[row] = vectors.map((vector) => valueAt(vector, row));
    }
    return valueVector(rows);
  };
}

/** A field of a STRUCT by position; NULL of a NULL. */
function structField(input: VectorFunction, index: number): VectorFunction {
  return (chunk) => {
    const vector = input(chunk);
    if (vector.kind === 'constant') {
      return constantVector(fieldAt(vector.value, index), chunk.count);
    }
    const values = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++) values[row] = fieldAt(valueAt(vector, row), index);
    return valueVector(values);
  };
}

function fieldAt(struct: SqlValue, index: number): SqlValue {
  return Array.isArray(struct) ? (struct[index] as SqlValue) : null;
}

type Field = Extract<Expression, { op: 'dynamic-field' }>;

/**
 * The fields that expressions over one input read, by their paths: each is read once of a chunk, though
 * several expressions have it. Of rows here and there, to read one is to go far in memory.
 */
export class ReadFields {
  readonly #functions = new Map<string, VectorFunction>();

  /** The function of a field, which `compile` makes where it is met first; one of a computed value is its own. */
  functionOf(field: Field, compile: () => VectorFunction): VectorFunction {
    const path = pathOf(field);
    if (path === undefined) return compile();
    const key = JSON.stringify(path);
    const known = this.#functions.get(key);
    if (known !== undefined) return known;
    const once = oncePerChunk(compile());
    this.#functions.set(key, once);
    return once;
  }
}

/** The column and the names that lead from it to the field. */
function pathOf({ input, name }: Field): (string | number)[] | undefined {
  if (input.op === 'column') return [input.id, name];
  const path = input.op === 'dynamic-field' ? pathOf(input) : undefined;
  path?.push(name);
  return path;
}

/** Chunks never change, so what was read of the last is good while it is asked for. */
function oncePerChunk(read: VectorFunction): VectorFunction {
  let last: Chunk | undefined;
  let vector: Vector = constantVector(null, 0);
  return (chunk) => {
    if (chunk !== last) vector = read(chunk);
    last = chunk;
    return vector;
  };
}

/** What a deferred call came to in each row; raises the error of the first that has one. */
function deferredValue(
  input: VectorFunction,
  { type, span }: { readonly type: SqlType; readonly span?: Span | undefined },
): VectorFunction {
  return (chunk) => {
    const answers = input(chunk);
    const values = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++) {
      // By contract, the column of a deferred call.
      const answer = valueAt(answers, row) as DeferredAnswer;
      if (isFailure(answer)) throw new QueryError(answer[1], answer[2], span);
      values[row] = valueInAnswer(answer);
    }
    return vectorOfValues(values, type);
  };
}

/** A call of a function of the registry; its errors tell where it stands in the text. */
function callFunction(call: Call, compile: (part: Expression) => VectorFunction): VectorFunction {
  return withSpan(call, compileForm(call, compile));
}

function compileForm(call: Call, compile: (part: Expression) => VectorFunction): VectorFunction {
  const ofString = stringTest(call);
  if (ofString !== undefined) return liftFunction(ofString.test, [compile(ofString.input)]);
  const membership = membershipTest(call);
  if (membership !== undefined) {
    return liftFunction(membership, [compile(call.arguments[0]!)]);
  }
  const types = call.arguments.map((argument) => argument.type);
  const overload = boundOverload(call.name, types);
  const evaluate = overload.evaluateTyped?.(types) ?? overload.evaluate;
  return liftFunction({ ...overload, evaluate, type: call.type }, call.arguments.map(compile));
}

function withSpan({ span }: Call, evaluate: VectorFunction): VectorFunction {
  if (span === undefined) return evaluate;
  return (chunk) => {
    try {
      return evaluate(chunk);
    } catch (error) {
      if (!(error instanceof QueryError) || error.span !== undefined) throw error;
      throw new QueryError(error.code, error.message, span);
    }
  };
}

/**
 * `x IN (…)` and `x IN UNNEST(…)` where all that is looked among is constant scalars: a test of x
 * alone. `undefined` for other calls.
 */
function membershipTest(call: Call): LiftedFunction | undefined {
  const values = constantValues(call);
  if (values === undefined || values.some((value) => typeof value === 'object' && value !== null)) {
    return undefined;
  }
  const members = new Set<SqlValue>();
  for (const value of values) {
    // `=` says of a NULL that it may be equal, and of a NaN that it is not.
    if (value !== null && !Number.isNaN(value)) members.add(matchKey(value));
  }
  // Among nothing there is nothing, not even what a NULL stands for.
  if (values.length === 0) return { type: BOOL, nulls: 'handle', evaluate: () => false };
  const absent = values.includes(null) ? null : false;
  return {
    type: BOOL,
    nulls: 'propagate',
    evaluate: (value) => (members.has(matchKey(value)) ? true : absent),
    kernel: ([vector], count) =>
      vector?.kind === 'number' ? testNumbers(vector, count, members, truthOf(absent)) : undefined,
  };
}

/** What is looked among. */
function constantValues(call: Call): readonly SqlValue[] | undefined {
  if (call.name === 'in') {
    const items = call.arguments.slice(1);
    const values = items.flatMap((item) => (item.op === 'literal' ? [item.value] : []));
    return values.length === items.length ? values : undefined;
  }
  if (call.name !== 'in_array') return undefined;
  const array = call.arguments[1];
  return array?.op === 'literal' && Array.isArray(array.value) ? array.value : undefined;
}

function testNumbers(
  vector: NumberVector,
  count: number,
  members: ReadonlySet<SqlValue>,
  absent: number,
): Vector {
  const { values, nulls } = vector;
  const truths = carvedUint8(count);
  for (let i = 0; i < count; i++) {
    truths[i] = members.has(matchKey(values[i]!)) ? TRUE : absent;
  }
  if (nulls !== undefined) {
    for (let i = 0; i < count; i++) if (nulls[i] === 1) truths[i] = UNKNOWN;
  }
  return booleanVector(truths, count);
}

/** What stands for a row where the condition is TRUE, and what for all others. */
type NumberChoice = { readonly then: number; readonly otherwise: number };

/** CASE with one condition between two constant numbers: `caseOf` without dividing the rows. */
export function numberChoiceOf(when: VectorFunction, choice: NumberChoice): VectorFunction {
  return (chunk) => chosen(when(chunk), choice, chunk.count);
}

function chosen(truths: Vector, { then, otherwise }: NumberChoice, count: number): Vector {
  if (truths.kind === 'constant') {
    return constantVector(truths.value === true ? then : otherwise, count);
  }
  if (truths.form === 'coded truths' && truths.exceptions.length === 0) {
    const { numbers, truthOfCode } = truths;
    return new CodedNumbers(numbers, choose(truthOfCode, truthOfCode.length, { then, otherwise }));
  }
  return numberVector(choose(truthBytes(truths), count, { then, otherwise }), count);
}

function choose(
  truths: Uint8Array,
  count: number,
  { then, otherwise }: NumberChoice,
): Float64Array {
  const numbers = carvedFloat64(count);
  const ofTruth = new Float64Array(TRUTH_COUNT).fill(otherwise);
  ofTruth[TRUE] = then;
  for (let i = 0; i < count; i++) numbers[i] = ofTruth[truths[i]!]!;
  return numbers;
}

/** A DYNAMIC value, or a NUMBER, where `type` is wanted, by the rules of `readAs`. */
function readAsFunction(input: VectorFunction, type: SqlType): VectorFunction {
  const readEach = liftOverVectors(
    { type, nulls: 'propagate', evaluate: (value) => readAs(value, type) },
    1,
  );
  return (chunk) => {
    const vector = input(chunk);
    return readByForm(vector, type) ?? readEach([vector], chunk.count);
  };
}

/** The answer, where the vector's form alone tells it for all rows: unchanged, or all NULL. */
function readByForm(vector: Vector, type: SqlType): Vector | undefined {
  if (type.kind === 'DYNAMIC') return vector;
  const form = formOf(vector);
  if (form === undefined) return undefined;
  if (type.kind === 'ARRAY' && form === 'nested') return undefined;
  const isScalar = type.kind !== 'ARRAY' && type.kind !== 'STRUCT' && type.kind !== 'NULL';
  if (form === 'nested' || !isScalar || !isRead(form, type.kind)) {
    return constantVector(null, vector.count);
  }
  return isUnchanged(vector, type) ? vector : undefined;
}

/** The kind of all values that are not NULL, by the form they lie in. */
function formOf(vector: Vector): Kind | 'nested' | undefined {
  switch (vector.kind) {
    case 'number':
      return 'number';
    case 'boolean':
      return 'BOOL';
    case 'nested':
      return 'nested';
    case 'dictionary':
      // A dictionary of stored strings holds nothing else.
      return isOfStrings(vector.dictionary) ? 'text' : undefined;
    default:
      return undefined;
  }
}

/** Whether values that are read as the type are as they are read. */
function isUnchanged(vector: Vector, { kind }: SqlType): boolean {
  switch (vector.kind) {
    case 'number':
      if (kind !== 'INT64') return kind === 'NUMBER' || kind === 'FLOAT64';
      return vector.form === 'packed numbers' || isIntegral(vector);
    case 'boolean':
      return kind === 'BOOL';
    default:
      return kind === 'STRING';
  }
}

/** Whether all entries are safe integers, as INT64 has them in this form. */
function isIntegral({ values, nulls, count }: NumberVector): boolean {
  for (let i = 0; i < count; i++) {
    if (!Number.isSafeInteger(values[i]!) && nulls?.[i] !== 1) return false;
  }
  return true;
}

type Cast = Extract<Expression, { op: 'cast' }>;

/** CAST and SAFE_CAST; errors tell where they stand in the text. */
function castFunction(input: VectorFunction, cast: Cast): VectorFunction {
  const from = cast.input.type;
  const { type: to, safe, span } = cast;
  if (typesEqual(from, to)) return input;
  const castEach = liftOverVectors(
    {
      type: to,
      nulls: 'propagate',
      evaluate: (value) => {
        try {
          return castValue(value, from, to, safe);
        } catch (error) {
          if (!(error instanceof QueryError) || error.span !== undefined) throw error;
          throw new QueryError(error.code, error.message, span);
        }
      },
    },
    1,
  );
  const isSame = to.kind === 'NUMBER' || (to.kind === 'DYNAMIC' && from.kind !== 'ARRAY');
  if (isSame) return input;
  const isWidening = from.kind === 'INT64' && to.kind === 'FLOAT64';
  const isOfText = from.kind === 'DYNAMIC' && to.kind === 'STRING';
  return (chunk) => {
    const vector = input(chunk);
    // An INT64 within 2^53 is the same double.
    if (isWidening && vector.kind === 'number') return vector;
    if (isOfText && isOfTexts(vector)) return vector;
    return castEach([vector], chunk.count);
  };
}
