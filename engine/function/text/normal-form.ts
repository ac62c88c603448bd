import { NORMALIZED_MARKS_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';

/**
 * A text in one of Unicode's normal forms. Marks behind one character are put in an order, each moved over those before
 * it, so V8 takes time by the square of their number.
 *
 * @throws QueryError where there are too many.
 */
export function normalForm(text: string, form: string): string {
  if (text.length > NORMALIZED_MARKS_MAX && MANY_MARKS.test(text)) {
    const message = `a text to be normalized may have at most ${NORMALIZED_MARKS_MAX} marks on one character; got more`;
    throw new QueryError('query_limit', message);
  }
  return text.normalize(form);
}

const MANY_MARKS = new RegExp(`\\p{M}{${NORMALIZED_MARKS_MAX + 1}}`, 'u');
