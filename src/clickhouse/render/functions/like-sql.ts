import { QueryError, type SqlValue } from '../../../../engine/columns.ts';
import { compileLike } from '../../../../engine/index.ts';
import { literal, nullOf } from '../sql-type.ts';
import { type CallSql, failing, orFailure } from './function-sql.ts';
import { latin1 } from './latin-1-sql.ts';

/** LIKE with a constant pattern; of BYTES with one of bytes. */
export function likeSql(call: CallSql, pattern: SqlValue): string {
  const { parts, span, types } = call;
  const value = call.arguments[0]!;
  if (pattern === null) return nullOf(call.type);
  const compiled = orFailure(() => compileLike(String(pattern)));
  if (compiled instanceof QueryError) return failing(call, compiled);
  const constant = (text: string) => literal(text, types[0]!, { parts, span });
  const text = constant(compiled.text);
  switch (compiled.kind) {
    case 'equals':
      return `(${value} = ${text})`;
    case 'prefix':
      return `startsWith(${value}, ${text})`;
    case 'suffix':
      return `endsWith(${value}, ${text})`;
    case 'contains':
      return `(${value} LIKE ${constant(containingPattern(compiled.text))})`;
    default: {
      const isOfBytes = types[0]!.kind === 'BYTES';
      return `match(${isOfBytes ? latin1(value) : value}, ${parts.text(expressionOf(String(pattern)), span)})`;
    }
  }
}

/** The pattern of LIKE for all texts with this one in them. */
export function containingPattern(text: string): string {
  return `%${text.replaceAll(/[%_\\]/g, '\\$&')}%`;
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
