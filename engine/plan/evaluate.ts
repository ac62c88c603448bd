import { assert, unreachable } from '../assert.ts';
import type { VectorFunction } from '../column/chunk.ts';
import { VectorChunk } from '../column/chunk.ts';
import type { SqlValue } from '../column/value.ts';
import { constantVector, valueAt } from '../column/vector.ts';
import { caseOf, coalesceOf } from './evaluator/branch.ts';
import { arrayBuilder, structField } from './evaluator/build.ts';
import { callFunction } from './evaluator/call.ts';
import { type NumberChoice, numberChoiceOf } from './evaluator/constant-choice.ts';
import { castFunction, readAsFunction } from './evaluator/convert.ts';
import { deferredValue } from './evaluator/deferred-value.ts';
import { dynamicField } from './evaluator/field.ts';
import { conjunctionOf, disjunctionOf } from './evaluator/logic.ts';
import { ReadFields } from './evaluator/read-fields.ts';
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
      return arrayBuilder(expression.elements.map(compile));
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
export type ApplyCompiler = (
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
