import type { ParameterTexts } from '../definition/parameters.ts';
import { ServiceError } from '../errors.ts';

/**
 * Parses a URL's query string to names with all of their texts.
 *
 * @throws ServiceError if percent signs do not encode UTF-8.
 */
export function parseQueryString(url: string): ParameterTexts {
  const texts = new Map<string, string[]>();
  const start = url.indexOf('?');
  if (start === -1) return texts;
  const query = url.slice(start + 1);
  try {
    // Of the two decoders, only this one refuses invalid input.
    decodeURIComponent(query);
  } catch (cause) {
    // The query may contain a token, so the message does not repeat it.
    const message = 'a % in the query string must begin UTF-8 in hexadecimal; got something else';
    throw new ServiceError('invalid_request', message, { cause });
  }
  for (const [name, text] of new URLSearchParams(query)) {
    const before = texts.get(name);
    if (before === undefined) texts.set(name, [text]);
    else before.push(text);
  }
  return texts;
}

/** The text of a parameter. @throws ServiceError if it is given more than once. */
export function oneText(query: ParameterTexts, name: string): string | undefined {
  const texts = query.get(name) ?? [];
  if (texts.length <= 1) return texts[0];
  const message = `${name} must be given once; got ${texts.length} of it`;
  throw new ServiceError('repeated_parameter', message, { parameter: name });
}
