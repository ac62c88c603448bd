import assert from 'node:assert/strict';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';

/** Parses a text that must be refused, and returns the error. */
export function refusalOf(text: string): QueryError {
  try {
    parseQuery(text);
  } catch (error) {
    assert.ok(error instanceof QueryError, String(error));
    return error;
  }
  throw new Error(`this text was not refused: ${text}`);
}

/** The text must be refused with this message, at the place where `at` begins in it. */
export function expectRefused(text: string, message: string, at: string): void {
  const error = refusalOf(text);
  assert.equal(error.code, 'invalid_sql');
  assert.equal(error.message, message);
  assert.equal(text.slice(error.span?.start, (error.span?.start ?? 0) + at.length), at, text);
}
