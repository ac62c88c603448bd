import { QueryError } from '../../query-error.ts';

/**
 * Marks (accents and the like) on one character of a text that is normalized. Text that is meant to be read has at most 30
 * (Unicode Standard Annex #15, "Stream-Safe Text Format"); 40,000 took V8 more than half a second.
 */
export const NORMALIZED_MARKS_MAX = 128;

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
