import {
  DATE,
  DATETIME,
  INT64,
  INTERVAL,
  type SqlType,
  TIME,
  TIMESTAMP,
  typeName,
} from '../../column/type.ts';
import { INTERVAL_PARTS } from '../../function/time/interval.ts';
import { parseIntervalFields } from '../../function/time/interval-text.ts';
import { partFinder } from '../../function/time/time-part.ts';
import { QueryError } from '../../query-error.ts';
import type { Name, Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { call, partLiteral } from './bind-operator.ts';
import type { ExpressionContext } from './context.ts';
import { refuse } from './refusal.ts';

type Kind<K extends Syntax['kind']> = Syntax & { readonly kind: K };

const NOW: Expression = { op: 'now', type: TIMESTAMP };

/** What the functions without arguments give: the run's clock, in UTC or another zone. */
const CURRENT_TIMES: ReadonlyMap<string, SqlType> = new Map([
  ['current_timestamp', TIMESTAMP],
  ['current_datetime', DATETIME],
  ['current_date', DATE],
  ['current_time', TIME],
]);

/** CURRENT_DATE and its kin; `undefined` for other names. All in one query read one clock. */
export function bindCurrentTime(
  name: string,
  syntax: Kind<'call'>,
  context: ExpressionContext,
): Expression | undefined {
  const type = CURRENT_TIMES.get(name);
  if (type === undefined) return undefined;
  const { span, arguments: given } = syntax;
  const zone = given[0];
  if (zone === undefined) {
    if (type.kind === 'TIMESTAMP') return { ...NOW };
    return { op: 'cast', type, input: { ...NOW }, safe: false, span };
  }
  if (type.kind === 'TIMESTAMP' || given.length > 1) {
    const wanted = type.kind === 'TIMESTAMP' ? 'no arguments' : 'a time zone, or nothing';
    refuse(`${name.toUpperCase()} takes ${wanted}; got ${given.length} arguments`, span);
  }
  return call(type.kind.toLowerCase(), [{ ...NOW }, context.bind(zone)], span, context);
}

/** `INTERVAL n part`, or a text of several parts, which is read here and now. */
export function bindInterval(syntax: Kind<'interval'>, context: ExpressionContext): Expression {
  const { amount, part, lastPart, span } = syntax;
  if (amount.kind === 'string') {
    const value = atPlace(span, () =>
      parseIntervalFields(amount.value, unitOf(part), unitOf(lastPart ?? part)),
    );
    return { op: 'literal', type: INTERVAL, value };
  }
  if (lastPart !== undefined) {
    refuse(`INTERVAL … ${part.text} TO ${lastPart.text} takes a text such as '1:30'`, amount.span);
  }
  const [count, unit] = intervalArguments(syntax, context);
  return call('interval', [count, unit], span, context);
}

const findPart = partFinder('INTERVAL', INTERVAL_PARTS);

function unitOf(part: Name) {
  return atPlace(part.span, () => findPart(part.text).unit);
}

/** What fails while the text is read is the text's mistake. */
function atPlace<Result>(span: Syntax['span'], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new QueryError('invalid_sql', error.message, span);
  }
}

/** `INTERVAL 5 MINUTE` as the two arguments that functions take. */
export function intervalArguments(
  interval: Kind<'interval'>,
  context: ExpressionContext,
): readonly [Expression, Expression] {
  const { amount, part, lastPart, span } = interval;
  if (lastPart !== undefined) {
    refuse(
      `the function takes an INTERVAL of one part; got ${part.text} TO ${lastPart.text}`,
      span,
    );
  }
  const count = amount.kind === 'string' ? wholeNumber(amount) : amount;
  return [context.bindAs(count, INT64, 'INTERVAL'), partLiteral(part, context)];
}

/** `INTERVAL '5' MINUTE`. */
function wholeNumber(text: Kind<'string'>): Syntax {
  const { value, span } = text;
  if (!/^[+-]?\d{1,19}$/.test(value)) {
    refuse(`INTERVAL takes a whole number; got ${JSON.stringify(value)}`, span);
  }
  return { kind: 'integer', span, value: BigInt(value.replace('+', '')) };
}

/** Parts that are types: `EXTRACT(DATE FROM time)` is DATE(time), in the zone if there is one. */
const TYPE_PARTS: ReadonlySet<string> = new Set(['DATE', 'TIME', 'DATETIME']);

/** `EXTRACT(part FROM input [AT TIME ZONE zone])` as `extract(part, input[, zone])`. */
export function bindExtract(syntax: Kind<'extract'>, context: ExpressionContext): Expression {
  const { span } = syntax;
  if (syntax.input.kind === 'string') {
    refuse("EXTRACT takes a time; write TIMESTAMP '…' or DATE '…' before the text", span);
  }
  const part = syntax.part.text.toUpperCase();
  const input = context.bind(syntax.input);
  const zone = syntax.timeZone === undefined ? [] : [context.bind(syntax.timeZone)];
  if (!TYPE_PARTS.has(part)) {
    return call('extract', [partLiteral(syntax.part, context), input, ...zone], span, context);
  }
  const { kind } = input.type;
  if (kind !== 'TIMESTAMP' && (kind !== 'DATETIME' || part === 'DATETIME')) {
    const takes = part === 'DATETIME' ? 'TIMESTAMP' : 'TIMESTAMP or DATETIME';
    refuse(`EXTRACT(${part} FROM …) takes ${takes}; got ${typeName(input.type)}`, span);
  }
  return call(part.toLowerCase(), [input, ...zone], span, context);
}
