import type { ParameterTexts } from '../definition/parameters.ts';
import { ServiceError } from '../errors.ts';

/**
 * The parameters of a URL's query string, every name with all its texts.
 *
 * @throws ServiceError when percent signs do not stand before UTF-8 in hexadecimal.
 */
export function parseQueryString(url: string): ParameterTexts {
  const texts = new Map<string, string[]>();
  const start = url.indexOf('?');
  if (start === -1) return texts;
  const query = url.slice(start + 1);
  try {
    // The one of the two decoders that refuses what it cannot read.
    decodeURIComponent(query);
  } catch (cause) {
    // The query may hold a token, so the message does not repeat it.
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

/** The text of a parameter that may be given once. @throws ServiceError where it is given more often. */
export function oneText(query: ParameterTexts, name: string): string | undefined {
  const texts = query.get(name) ?? [];
  if (texts.length <= 1) return texts[0];
  const message = `${name} must be given once; got ${texts.length} of it`;
  throw new ServiceError('repeated_parameter', message, { parameter: name });
}
