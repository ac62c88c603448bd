import assert from 'node:assert/strict';
import type {
  Expression,
  FrameBound,
  OrderItem,
  Query,
  QueryBody,
  Select,
  SelectItem,
  TableExpression,
  TypeName,
  Window,
} from '../../engine/sql/ast.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';

/** The parsed expression in prefix form, so that a test shows how operators were grouped. */
export function sketchExpression(text: string): string {
  const [item] = mustSelect(parseQuery(`SELECT ${text}`)).items;
  assert.equal(item?.kind, 'expression');
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
    case 'bytes':
      return `b${JSON.stringify(node.value)}`;
    case 'interval':
      return list('interval', sketch(node.amount), node.part.text, node.lastPart?.text ?? '');
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
    case 'distinct-from':
      return list(negation(node), 'distinct-from', sketch(node.left), sketch(node.right));
    case 'in': {
      const name = node.array === undefined ? 'in' : 'in-unnest';
      const query = node.query === undefined ? '' : sketchQuery(node.query);
      const elements = node.array === undefined ? node.list.map(sketch) : [sketch(node.array)];
      return list(negation(node), name, sketch(node.input), query, ...elements);
    }
    case 'like':
      return list(negation(node), 'like', sketch(node.input), sketch(node.pattern));
    case 'like-list': {
      const name = `like-${node.all ? 'all' : 'any'}`;
      return list(negation(node), name, sketch(node.input), ...node.patterns.map(sketch));
    }
    case 'case': {
      const branches = node.branches.map(({ when, then }) => list(sketch(when), sketch(then)));
      return list('case', optional(node.operand), ...branches, optional(node.otherwise));
    }
    case 'cast':
      return list(
        node.safe ? 'safe-cast' : 'cast',
        sketch(node.input),
        sketchType(node.type),
        optional(node.format),
        optional(node.timeZone),
      );
    case 'extract':
      return list('extract', node.part.text, sketch(node.input), optional(node.timeZone));
    case 'subquery':
      return list(node.form, sketchQuery(node.query));
    case 'struct': {
      const fields = node.fields.map(
        ({ expression, name }) =>
          `${sketch(expression)}${name === undefined ? '' : `=${name.text}`}`,
      );
      return list('struct', node.type === undefined ? '' : sketchType(node.type), ...fields);
    }
    case 'array': {
      const type = node.type === undefined ? '' : sketchType(node.type);
      return `${type}[${node.elements.map(sketch).join(' ')}]`;
    }
    case 'call':
      return sketchCall(node);
  }
}

function sketchCall(node: Extract<Expression, { kind: 'call' }>): string {
  const marks = `${node.star ? '*' : ''}${node.distinct ? 'distinct' : ''}`;
  const parts = [
    marks,
    ...node.arguments.map(sketch),
    node.nulls === undefined ? '' : `${node.nulls}-nulls`,
    node.having === undefined ? '' : list(node.having.extreme, sketch(node.having.expression)),
    sketchOrder(node.orderBy ?? []),
    node.limit === undefined ? '' : list('limit', sketch(node.limit)),
  ];
  const over = node.over === undefined ? '' : ` over ${sketchWindow(node.over)}`;
  return `${node.name.text}(${parts.filter(Boolean).join(' ')})${over}`;
}

export function sketchWindow(window: Window): string {
  const { base, partitionBy, orderBy, frame } = window;
  return list(
    base?.text ?? '',
    partitionBy.length === 0 ? '' : list('by', ...partitionBy.map(sketch)),
    sketchOrder(orderBy),
    frame === undefined ? '' : list(frame.unit, sketchBound(frame.start), sketchBound(frame.end)),
  );
}

function sketchBound(bound: FrameBound): string {
  return 'amount' in bound ? list(bound.kind, sketch(bound.amount)) : bound.kind;
}

function sketchOrder(items: readonly OrderItem[]): string {
  if (items.length === 0) return '';
  return list('order', ...items.map((item) => sketch(item.expression)));
}

function sketchType(type: TypeName): string {
  if (type.element !== undefined) return `${type.kind}<${sketchType(type.element)}>`;
  if (type.fields === undefined) return type.kind;
  const fields = type.fields.map(
    (field) => `${field.name === undefined ? '' : `${field.name.text} `}${sketchType(field.type)}`,
  );
  return `${type.kind}<${fields.join(', ')}>`;
}

/** A query by its body: items of a select, inputs of a set operation. */
export function sketchQuery(query: Query): string {
  const body = sketchBody(query.body);
  const order = sketchOrder(query.orderBy);
  const limit = query.limit === undefined ? '' : list('limit', sketch(query.limit));
  return order === '' && limit === '' ? body : list(body, order, limit);
}

function sketchBody(body: QueryBody): string {
  switch (body.kind) {
    case 'query':
      return sketchQuery(body.query);
    case 'set-operation': {
      const name = `${body.operator}${body.all ? '-all' : ''}`;
      return list(name, ...body.inputs.map(sketchBody));
    }
    case 'select':
      return list('select', ...body.items.map(sketchItem));
  }
}

function sketchItem(item: SelectItem): string {
  if (item.kind === 'expression') return sketch(item.expression);
  const except = (item.except ?? []).map((name) => ` -${name.text}`).join('');
  const replace = (item.replace ?? [])
    .map(({ expression, name }) => ` ${name.text}=${sketch(expression)}`)
    .join('');
  return `${item.qualifier === undefined ? '' : `${sketch(item.qualifier)}.`}*${except}${replace}`;
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
        table.using === undefined ? '' : list('using', ...table.using.map(({ text }) => text)),
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
