import { QueryError, type Span } from '../../query-error.ts';

/** Refuses the text: it parses, but does not mean anything. */
export function refuse(sentence: string, span: Span | undefined): never {
  throw new QueryError('invalid_sql', sentence, span);
}
