import type { TypeName } from './ast.ts';
import type { TokenCursor } from './token-cursor.ts';

/** Parses the name of a type, parts and all. Whether the type is known is not asked here. */
export function parseTypeName(cursor: TokenCursor): TypeName {
  return parseType(cursor, TYPE_ALIASES);
}

/** The same behind `::`, where PostgreSQL's names are known too. */
export function parseTypeOfDoubleColon(cursor: TokenCursor): TypeName {
  return parseType(cursor, DOUBLE_COLON_ALIASES);
}

type Aliases = ReadonlyMap<string, string>;

function parseType(cursor: TokenCursor, aliases: Aliases): TypeName {
  const { keyword } = cursor.token;
  cursor.enter();
  const type =
    keyword === 'ARRAY'
      ? parseArrayType(cursor, aliases)
      : keyword === 'STRUCT'
        ? parseStructType(cursor, aliases)
        : parseNamedType(cursor, aliases);
  cursor.leave();
  return type;
}

function parseNamedType(cursor: TokenCursor, aliases: Aliases): TypeName {
  const { text, span, keyword } = cursor.token;
  // A reserved word, yet a type.
  if (keyword === 'INTERVAL') cursor.advance();
  else cursor.mustName('a type');
  const kind = text.toUpperCase();
  if (cursor.isSymbol('(')) throw cursor.unsupported('a type with parameters', span);
  if (kind === 'DOUBLE' && cursor.isWord('PRECISION')) cursor.advance();
  return { span: cursor.spanFrom(span), kind: aliases.get(kind) ?? kind };
}

function parseArrayType(cursor: TokenCursor, aliases: Aliases): TypeName {
  const { span } = cursor.mustWord('ARRAY');
  cursor.mustSymbol('<');
  const element = parseType(cursor, aliases);
  cursor.mustClosingAngle();
  return { span: cursor.spanFrom(span), kind: 'ARRAY', element };
}

function parseStructType(cursor: TokenCursor, aliases: Aliases): TypeName {
  const { span } = cursor.mustWord('STRUCT');
  const fields: NonNullable<TypeName['fields']>[number][] = [];
  if (cursor.isSymbol('<>')) {
    cursor.advance();
  } else {
    cursor.mustSymbol('<');
    do fields.push(parseFieldType(cursor, aliases));
    while (cursor.acceptSymbol(','));
    cursor.mustClosingAngle();
  }
  return { span: cursor.spanFrom(span), kind: 'STRUCT', fields };
}

/** `name type`, or a type alone: then a comma or the end follows the first word. */
function parseFieldType(cursor: TokenCursor, aliases: Aliases) {
  const follower = cursor.peek(1);
  const isNamed = follower.kind === 'word' || follower.kind === 'quoted';
  const name = isNamed ? cursor.mustName('the name or type of a field') : undefined;
  return { name, type: parseType(cursor, aliases) };
}

const TYPE_ALIASES: Aliases = new Map([
  ['INT', 'INT64'],
  ['SMALLINT', 'INT64'],
  ['INTEGER', 'INT64'],
  ['BIGINT', 'INT64'],
  ['TINYINT', 'INT64'],
  ['BYTEINT', 'INT64'],
  ['BOOLEAN', 'BOOL'],
  ['DECIMAL', 'NUMERIC'],
  ['BIGDECIMAL', 'BIGNUMERIC'],
]);

const DOUBLE_COLON_ALIASES: Aliases = new Map([
  ...TYPE_ALIASES,
  ['TEXT', 'STRING'],
  ['VARCHAR', 'STRING'],
  ['INT2', 'INT64'],
  ['INT4', 'INT64'],
  ['INT8', 'INT64'],
  ['REAL', 'FLOAT64'],
  ['FLOAT', 'FLOAT64'],
  ['FLOAT4', 'FLOAT64'],
  ['FLOAT8', 'FLOAT64'],
  ['DOUBLE', 'FLOAT64'],
  ['TIMESTAMPTZ', 'TIMESTAMP'],
  ['BYTEA', 'BYTES'],
]);
