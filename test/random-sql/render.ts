import { must, unreachable } from '../../engine/assert.ts';
import { OPERATIONS } from './operation.ts';
import type {
  Aggregate,
  Expression,
  Frame,
  From,
  GroupKey,
  Item,
  Query,
  Sorting,
  Subquery,
  Table,
  Value,
  Window,
  WindowCall,
} from './query.ts';

/** The query as GoogleSQL text, on one line. */
export function render(query: Query): string {
  const { distinct, items, where, having, qualify, set, orderBy, limit, offset } = query;
  const tables = query.with.map((table) => `${table.name} AS (${render(table.query)})`);
  const groups = query.groupBy.map((key) => renderKey(key, query));
  const orders = orderBy.map((key) => `${renderKey(key, query)}${key.direction}${key.nulls}`);
  return [
    tables.length === 0 ? '' : `WITH ${tables.join(', ')} `,
    `SELECT ${distinct ? 'DISTINCT ' : ''}${renderItems(items)} FROM ${renderFrom(query.from)}`,
    where === undefined ? '' : ` WHERE ${renderExpression(where)}`,
    groups.length === 0 ? '' : ` GROUP BY ${groups.join(', ')}`,
    having === undefined ? '' : ` HAVING ${renderExpression(having)}`,
    qualify === undefined ? '' : ` QUALIFY ${renderExpression(qualify)}`,
    ...(set?.queries ?? []).map((other) => `${set?.kind} (${render(other)})`),
    orders.length === 0 ? '' : ` ORDER BY ${orders.join(', ')}`,
    limit === undefined ? '' : ` LIMIT ${limit}`,
    limit === undefined || offset === undefined ? '' : ` OFFSET ${offset}`,
  ].join('');
}

function renderItems(items: readonly Item[]): string {
  return items.map((item) => `${renderExpression(item.expression)} AS ${item.name}`).join(', ');
}

function renderKey({ name, form }: GroupKey, { items }: Query): string {
  if (form === 'alias') return name;
  const index = items.findIndex((item) => item.name === name);
  return form === 'ordinal' ? String(index + 1) : renderExpression(must(items[index]).expression);
}

function renderFrom({ first, joins }: From): string {
  const others = joins.map(({ kind, table, on, using = [] }) => {
    const condition = on === undefined ? '' : ` ON ${renderExpression(on)}`;
    const columns = using.length === 0 ? '' : ` USING (${using.join(', ')})`;
    return `${kind} ${renderTable(table)}${condition}${columns}`;
  });
  return renderTable(first) + others.join('');
}

function renderTable(table: Table): string {
  switch (table.op) {
    case 'logs':
      return `logs AS ${table.alias}`;
    case 'common':
      return `${table.name} AS ${table.alias}`;
    case 'subquery':
      return `(${render(table.query)}) AS ${table.alias}`;
    case 'unnest': {
      const offset = table.offset === undefined ? '' : ` WITH OFFSET AS ${table.offset}`;
      return `UNNEST(${renderExpression(table.list)}) AS ${table.alias}${offset}`;
    }
    default:
      return unreachable(table);
  }
}

function renderExpression(expression: Expression): string {
  switch (expression.op) {
    case 'literal':
      return expression.value === null
        ? `CAST(NULL AS ${expression.type})`
        : renderValue(expression.value, expression.type);
    case 'column':
      return expression.table === undefined || expression.isBare
        ? expression.name
        : `${expression.table}.${expression.name}`;
    case 'field':
      return `${renderExpression(expression.record)}.${expression.name}`;
    case 'list':
      return `[${expression.elements.map(renderElement).join(', ')}]`;
    case 'struct':
      return `STRUCT(${renderItems(expression.fields)})`;
    case 'call': {
      const operation = must(OPERATIONS.get(expression.operation), expression.operation);
      const inputs = expression.arguments.map(renderExpression);
      let at = 0;
      // A question mark inside a text literal, such as a pattern's, is no place for an argument.
      return operation.text.replace(/'[^']*'|\?/g, (part) => (part === '?' ? inputs[at++]! : part));
    }
    case 'subquery':
      return renderSubquery(expression);
    case 'aggregate':
      return renderAggregate(expression);
    case 'window':
      return renderWindow(expression);
    default:
      return unreachable(expression);
  }
}

function renderSubquery({ kind, value, query }: Subquery): string {
  const text = render(query);
  if (kind === 'value') return `(${text})`;
  if (value === undefined) return `${kind}(${text})`;
  return `(${renderExpression(value)} ${kind} (${text}))`;
}

function renderAggregate(call: Aggregate): string {
  const { name, argument, isDistinct, separator, ignoresNulls = false, orderBy = [], limit } = call;
  if (argument === undefined) return `${name}(*)`;
  return [
    `${name}(${isDistinct ? 'DISTINCT ' : ''}${renderExpression(argument)}`,
    separator === undefined ? '' : `, '${separator}'`,
    ignoresNulls ? ' IGNORE NULLS' : '',
    orderBy.length === 0 ? '' : ` ORDER BY ${renderSortings(orderBy)}`,
    limit === undefined ? '' : ` LIMIT ${limit}`,
    ')',
  ].join('');
}

function renderSortings(keys: readonly Sorting[]): string {
  return keys
    .map(
      ({ expression, direction, nulls }) => `${renderExpression(expression)}${direction}${nulls}`,
    )
    .join(', ');
}

function renderWindow({ call, partitionBy, orderBy, frame }: Window): string {
  const partition = partitionBy.map(renderExpression).join(', ');
  const parts = [
    partition === '' ? '' : `PARTITION BY ${partition}`,
    orderBy.length === 0 ? '' : `ORDER BY ${renderSortings(orderBy)}`,
    frame === undefined ? '' : renderFrame(frame),
  ];
  const text = call.op === 'aggregate' ? renderAggregate(call) : renderWindowCall(call);
  return `${text} OVER (${parts.filter((part) => part !== '').join(' ')})`;
}

function renderWindowCall({ name, argument, count, ignoresNulls = false }: WindowCall): string {
  const inputs = [
    ...(argument === undefined ? [] : [renderExpression(argument)]),
    ...(count === undefined ? [] : [String(count)]),
  ];
  return `${name}(${inputs.join(', ')}${ignoresNulls ? ' IGNORE NULLS' : ''})`;
}

function renderFrame({ unit, start, end }: Frame): string {
  return `${unit} BETWEEN ${renderBound(start)} AND ${renderBound(end)}`;
}

function renderBound(distance: number): string {
  if (distance === 0) return 'CURRENT ROW';
  const size = Number.isFinite(distance) ? Math.abs(distance) : 'UNBOUNDED';
  return `${size} ${distance < 0 ? 'PRECEDING' : 'FOLLOWING'}`;
}

/** NULL needs no type beside the other elements of its list. */
function renderElement(expression: Expression): string {
  const isNull = expression.op === 'literal' && expression.value === null;
  return isNull ? 'NULL' : renderExpression(expression);
}

function renderValue(value: Value, type: string): string {
  switch (type) {
    case 'BOOL':
      return value === true ? 'TRUE' : 'FALSE';
    case 'STRING':
      return `'${value as string}'`;
    case 'TIMESTAMP':
      return `TIMESTAMP '${timestampText(value as bigint)}'`;
    case 'DATE':
      return `DATE '${timestampText((value as bigint) * DAY_US).slice(0, 10)}'`;
    case 'FLOAT64':
      if (!Number.isFinite(value)) return `CAST('${value as number}' AS FLOAT64)`;
      return Number.isInteger(value) ? `${value as number}.0` : String(value);
    default:
      return String(value);
  }
}

const DAY_US = 86_400_000_000n;

/** `2026-01-15 00:00:00`, with as many digits of a second as there are; UTC. */
function timestampText(us: bigint): string {
  const iso = new Date(Number(us / 1000n)).toISOString();
  const fraction = us % 1_000_000n;
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(6, '0')}`;
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${digits}`;
}
