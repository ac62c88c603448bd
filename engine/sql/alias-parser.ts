import type { Name } from './ast.ts';
import { isName, type Token } from './token.ts';
import type { TokenCursor } from './token-cursor.ts';

/**
 * Parses `AS name`, or a name alone. What follows an alias is a reserved word, a sign or the end;
 * before anything else a name alone is taken for a misspelt keyword (`FORM t`, `WERE x = 1`) and
 * left where it is, so that the error points at it.
 */
export function parseAlias(cursor: TokenCursor): Name | undefined {
  if (cursor.isWord('AS')) {
    cursor.advance();
    return cursor.mustName();
  }
  const isAlias = isName(cursor.token) && !beginsOperand(cursor.peek(1));
  return isAlias ? cursor.mustName() : undefined;
}

function beginsOperand(token: Token): boolean {
  switch (token.kind) {
    case 'symbol':
      return token.text === '(';
    case 'end':
      return false;
    case 'word':
      return isName(token) && !TABLE_OPERATORS.has(token.keyword);
    default:
      return true;
  }
}

/** Words that are not reserved and yet may follow the alias of a table. */
const TABLE_OPERATORS: ReadonlySet<string> = new Set(['PIVOT', 'UNPIVOT', 'MATCH_RECOGNIZE']);
