import assert from 'node:assert/strict';
import type { Expression, Query, Select, TableExpression } from '../../engine/sql/ast.ts';
import { parseQuery } from '../../engine/sql/parser.ts';

/** The parsed expression in prefix form, so that a test shows how operators were grouped. */
export function sketchExpression(text: string): string {
  const item = mustSelect(parseQuery(`SELECT ${text}`)).items[0];
  assert.equal(item.kind, 'expression');
  assert.equal(item.alias, undefined, `the text ${text} must be one expression without alias`);
  return sketch(item.expression);
}

/** The parsed FROM clause, joins in prefix form. */
export function sketchTables(text: string): string {
  const { from } = mustSelect(parseQuery(`SELECT x FROM ${text}`));
  assert.ok(from !== undefined);
  return sketchTable(from);
}

export function mustSelect(query: Query): Select {
  assert.equal(query.body.kind, 'select');
  return query.body;
}

function sketch(node: Expression): string {
  switch (node.kind) {
    case 'null':
      return 'null';
    case 'boolean':
    case 'float':
      return String(node.value);
    case 'integer':
      return `${node.value}n`;
    case 'string':
      return JSON.stringify(node.value);
    case 'typed-literal':
      return list(node.type, JSON.stringify(node.text));
    case 'interval':
      return list('interval', sketch(node.amount), node.part.text);
    case 'parameter':
      return `@${node.name}`;
    case 'name':
      return node.name.text;
    case 'field':
      return `${sketch(node.input)}.${node.field.text}`;
    case 'subscript':
      return list(`[${node.mode}]`, sketch(node.input), sketch(node.index));
    case 'unary':
      return list(node.operator, sketch(node.input));
    case 'binary':
      return list(node.operator, sketch(node.left), sketch(node.right));
    case 'is':
      return list(negation(node), `is-${node.test}`, sketch(node.input));
    case 'between':
      return list(
        negation(node),
        'between',
        sketch(node.input),
        sketch(node.low),
        sketch(node.high),
      );
    case 'in': {
      const elements = node.array === undefined ? node.list.map(sketch) : [sketch(node.array)];
      const name = node.array === undefined ? 'in' : 'in-unnest';
      return list(negation(node), name, sketch(node.input), ...elements);
    }
    case 'like':
      return list(negation(node), 'like', sketch(node.input), sketch(node.pattern));
    case 'case': {
      const branches = node.branches.map(({ when, then }) => list(sketch(when), sketch(then)));
      return list('case', optional(node.operand), ...branches, optional(node.otherwise));
    }
    case 'cast':
      return list(node.safe ? 'safe-cast' : 'cast', sketch(node.input), node.type.kind);
    case 'extract':
      return list('extract', node.part.text, sketch(node.input), optional(node.timeZone));
    case 'bytes':
    case 'distinct-from':
    case 'subquery':
    case 'struct':
      return node.kind;
    case 'array':
      return `[${node.elements.map(sketch).join(' ')}]`;
    case 'call': {
      const marks = `${node.star ? '*' : ''}${node.distinct ? 'distinct' : ''}`;
      return `${node.name.text}(${[marks, ...node.arguments.map(sketch)].filter(Boolean).join(' ')})`;
    }
  }
}

function sketchTable(table: TableExpression): string {
  const alias = table.kind !== 'join' && table.alias !== undefined ? ` ${table.alias.text}` : '';
  switch (table.kind) {
    case 'table':
      return `${table.path.map((name) => name.text).join('/')}${alias}`;
    case 'subquery':
      return `subquery${alias}`;
    case 'unnest': {
      const offset = table.withOffset === undefined ? '' : ` offset=${table.withOffset.text}`;
      return `unnest<${sketch(table.array)}>${alias}${offset}`;
    }
    case 'join':
      return list(
        table.join,
        sketchTable(table.left),
        sketchTable(table.right),
        optional(table.on),
      );
  }
}

function list(...parts: readonly string[]): string {
  return `(${parts.filter((part) => part !== '').join(' ')})`;
}

function negation(node: { readonly negated: boolean }): string {
  return node.negated ? 'not' : '';
}

function optional(node: Expression | undefined): string {
  return node === undefined ? '' : sketch(node);
}
