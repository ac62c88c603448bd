import type { SqlValue } from '../../../../engine/column/value.ts';
import { compileLike } from '../../../../engine/function/text/like.ts';
import { QueryError } from '../../../../engine/query-error.ts';
import { refuse } from '../refusal.ts';
import { nullOf } from '../sql-type.ts';
import type { CallSql } from './function-sql.ts';

/** LIKE with a constant pattern. */
export function likeSql(call: CallSql, pattern: SqlValue): string {
  const { parts, span, type } = call;
  const value = call.arguments[0]!;
  if (call.types[0]!.kind !== 'STRING') return refuse('LIKE of BYTES', span);
  if (pattern === null) return nullOf(type);
  const { kind, text } = compile(String(pattern), call);
  switch (kind) {
    case 'equals':
      return `(${value} = ${parts.text(text, span)})`;
    case 'prefix':
      return `startsWith(${value}, ${parts.text(text, span)})`;
    case 'suffix':
      return `endsWith(${value}, ${parts.text(text, span)})`;
    case 'contains':
      return `(position(${value}, ${parts.text(text, span)}) > 0)`;
    default:
      return `match(${value}, ${parts.text(expressionOf(String(pattern)), span)})`;
  }
}

function compile(pattern: string, { span }: CallSql): ReturnType<typeof compileLike> {
  try {
    return compileLike(pattern);
  } catch (error) {
    if (error instanceof QueryError) return refuse(`this pattern: ${error.message}`, span);
    throw error;
  }
}

/** The regular expression that matches the same texts. */
function expressionOf(pattern: string): string {
  let source = '';
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    let character = characters[index]!;
    if (character === '%') source += '.*';
    else if (character === '_') source += '.';
    else {
      if (character === '\\') character = characters[++index]!;
      source += quote(character);
    }
  }
  return `^(?s:${source})$`;
}

function quote(character: string): string {
  return /^[\w]$/.test(character) ? character : `\\x{${character.codePointAt(0)!.toString(16)}}`;
}
