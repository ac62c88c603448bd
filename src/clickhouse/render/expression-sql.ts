import { must, type Span, type SqlType, typeName, unreachable } from '../../../engine/columns.ts';
import type { ColumnId, Expression } from '../../../engine/index.ts';
import { castSql } from './cast-sql.ts';
import { dynamicField, dynamicList, readDynamic, readElements } from './dynamic-sql.ts';
import { functionSql } from './functions/registry.ts';
import { asFloat } from './number-sql.ts';
import { refuse } from './refusal.ts';
import type { Plans, RelationSql } from './relation-sql.ts';
import { asColumn, isNull, isScalar, literal, nullOf, storedType } from './sql-type.ts';
import { canRaise, type StatementParts } from './statement-parts.ts';
import { findAnswer, type SubqueryAnswer } from './subquery-answer.ts';
import { subquerySql } from './subquery-sql.ts';

/** What a column of the plan is called in the statement, at one place of it. */
export type Columns = ReadonlyMap<ColumnId, ColumnSql>;

/** What is known of the values of a column. */
export type ColumnFacts = {
  /** It holds no NULL. */
  readonly isKnown?: true;
  /** Lists have so many elements at least, where they are not NULL. */
  readonly elementCount?: number;
  /** Values are JSON of records, where they are not NULL. */
  readonly isRecord?: true;
};

export type ColumnSql = ColumnFacts & {
  readonly sql: string;
  /** The order of arrival has a type of its own: it can be passed on and sorted by, and nothing else. */
  readonly isArrival?: true;
  /** Of an aggregate whose errors count only where it is read: its value, given the column. */
  readonly answer?: (sql: string) => string;
};

type Of<Op extends Expression['op']> = Extract<Expression, { readonly op: Op }>;

/** Renders expressions over some columns. Each has the form that `storedType` tells, but perhaps not Nullable. */
export class ExpressionSql {
  readonly #columns: Columns;
  readonly #parts: StatementParts;
  readonly #answers: readonly SubqueryAnswer[] | undefined;
  readonly #plans: Plans;

  constructor(
    { columns, answers }: Pick<RelationSql, 'columns' | 'answers'>,
    parts: StatementParts,
    plans: Plans,
  ) {
    this.#columns = columns;
    this.#answers = answers;
    this.#parts = parts;
    this.#plans = plans;
  }

  of(expression: Expression): string {
    const sql = this.#sql(expression);
    // A few functions read an argument at several places.
    this.#parts.checkLength(sql);
    return sql;
  }

  #sql(expression: Expression): string {
    switch (expression.op) {
      case 'literal':
        return literal(expression.value, expression.type, { parts: this.#parts });
      case 'column':
        return this.#column(expression);
      case 'call':
        return this.#call(expression);
      case 'dynamic-field':
        return this.#field(expression);
      case 'struct-field':
        return this.#structField(expression);
      case 'struct':
        return this.#struct(expression);
      case 'array':
        return this.#array(expression);
      case 'read-as':
        return this.#readAs(expression);
      case 'cast':
        return castSql(this.of(expression.input), expression, this.#parts);
      case 'case':
        return this.#case(expression);
      case 'coalesce':
        return this.#coalesce(expression);
      case 'parameter':
      case 'now':
        return refuse('a value that is not known yet', undefined);
      case 'deferred-value':
        return this.#deferredValue(expression);
      case 'subquery':
        return this.#subquery(expression);
      case 'apply':
        return refuse('this subquery', expression.span);
      default:
        return unreachable(expression);
    }
  }

  #subquery(subquery: Of<'subquery'>): string {
    const answer = findAnswer(this.#answers, subquery);
    if (answer !== undefined) return answer;
    if (subquery.captures.length > 0) {
      return refuse('a subquery that reads columns of the query around it', subquery.span);
    }
    const input = subquery.input && { sql: this.of(subquery.input), type: subquery.input.type };
    const parts = this.#parts;
    // It is computed also where no row needs it.
    const relation = parts.withoutFailures(
      () => this.#plans.of(subquery.plan),
      () => refuse('a subquery that may fail', subquery.span),
    );
    return subquerySql(subquery, relation, { input, parts });
  }

  #column({ id }: Of<'column'>): string {
    const { sql, isArrival } = must(this.#columns.get(id), 'a column that is read is given below');
    return isArrival ? refuse('the order of arrival in an expression', undefined) : sql;
  }

  #deferredValue({ input, span }: Of<'deferred-value'>): string {
    const column = input.op === 'column' ? this.#columns.get(input.id) : undefined;
    if (column?.answer === undefined) {
      return refuse('this aggregate whose errors count in some branches only', span);
    }
    return column.answer(column.sql);
  }

  #call(call: Of<'call'>): string {
    return functionSql({
      name: call.name,
      type: call.type,
      span: call.span,
      expressions: call.arguments,
      arguments: call.arguments.map((argument) => this.of(argument)),
      types: call.arguments.map(({ type }) => type),
      facts: call.arguments.map((each) =>
        each.op === 'column' ? this.#columns.get(each.id) : undefined,
      ),
      parts: this.#parts,
    });
  }

  #field({ input, name, type }: Of<'dynamic-field'>): string {
    const isRecord = input.op === 'column' && this.#columns.get(input.id)?.isRecord === true;
    const field = dynamicField(this.of(input), name, this.#parts, isRecord);
    return type.kind === 'ARRAY' ? dynamicList(field, this.#parts) : field;
  }

  #structField({ input, type, index }: Of<'struct-field'>): string {
    return this.#parts.once(this.of(input), (record) => {
      const field = `${record}[1].${index + 1}`;
      // The default of the fields of no record are NULLs.
      return isScalar(type) ? `if(empty(${record}), NULL, ${field})` : field;
    });
  }

  #struct({ fields, type }: Of<'struct'>): string {
    const values = fields.map((field) => asColumn(this.of(field), field.type));
    return `CAST([tuple(${values.join(', ')})], '${storedType(type)}')`;
  }

  #array({ elements, type }: Of<'array'>): string {
    const values = elements.map((element) => asColumn(this.of(element), element.type));
    return `CAST([[${values.join(', ')}]], '${storedType(type)}')`;
  }

  #readAs({ input, type }: Of<'read-as'>): string {
    const value = this.of(input);
    const parts = this.#parts;
    if (input.type.kind === 'DYNAMIC') return readDynamic(value, type, { parts });
    if (input.type.kind === 'NUMBER') return readNumberAs(value, type, parts);
    const from = input.type.kind === 'ARRAY' ? input.type.element.kind : undefined;
    if (type.kind === 'ARRAY' && from === 'DYNAMIC') {
      return readElements(value, type.element, { parts, span: undefined });
    }
    return refuse(`a ${typeName(input.type)} that is read as ${typeName(type)}`, undefined);
  }

  /** Conditions that are NULL do not hold. */
  #case({ branches, otherwise, type }: Of<'case'>): string {
    const pairs = branches.map(({ when, then }) => `${this.of(when)}, ${this.of(then)}`);
    const last = this.of(otherwise);
    const all = `multiIf(${pairs.join(', ')}, ${last})`;
    return type.kind === 'NULL' && !canRaise(all) ? nullOf(type) : all;
  }

  #coalesce({ arguments: values, type }: Of<'coalesce'>): string {
    // ClickHouse would also compute the arguments after a constant that is not NULL.
    const end = values.findIndex((value) => value.op === 'literal' && value.value !== null);
    const needed = end < 0 ? values : values.slice(0, end + 1);
    const [last, ...earlier] = needed.map((value) => this.of(value)).toReversed();
    const chosen = (value: string, later: string) =>
      `if(${isNull(value, type)}, ${later}, ${value})`;
    // ClickHouse computes outside of a lambda function what does not depend on its variable.
    return earlier.reduce(
      (later, value) =>
        canRaise(later)
          ? chosen(value, later)
          : this.#parts.once(value, (name) => chosen(name, later)),
      last ?? nullOf(type),
    );
  }
}

function readNumberAs(value: string, type: SqlType, parts: StatementParts, span?: Span): string {
  switch (type.kind) {
    case 'NUMBER':
      return value;
    case 'FLOAT64':
      return asFloat(value, { kind: 'NUMBER' }, parts);
    case 'INT64':
      return parts.once(value, (number) => `${number}.1`);
    default:
      return refuse(`a number that is read as ${typeName(type)}`, span);
  }
}
