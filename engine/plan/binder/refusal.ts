import { QueryError, type Span } from '../../query-error.ts';
import { nearestName } from './nearest-name.ts';

/** Refuses the text: it parses, but does not mean anything. */
export function refuse(sentence: string, span: Span | undefined): never {
  throw new QueryError('invalid_sql', sentence, span);
}

/** Ends a sentence about an unknown name: `; did you mean path?`, or nothing when none is near. */
export function hint(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}
