import { echo, formatChoices } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { ACCEPT_RANGES_MAX } from '../limits.ts';

/**
 * The media type of a body, in lower case and without parameters; `undefined` if there is none.
 *
 * @throws ServiceError if it is not in `allowed`, or its charset is not UTF-8.
 */
export function readMediaType<T extends string>(
  header: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const [name, ...parameters] = header.toLowerCase().split(';');
  const type = allowed.find((other) => other === name!.trim());
  const charset = parameters.map(charsetIn).find((value) => value !== undefined);
  const isUtf8 = charset === undefined || charset === 'utf-8' || charset === 'utf8';
  if (type !== undefined && isUtf8) return type;
  throw new ServiceError(
    'unsupported_media_type',
    `Content-Type must be ${formatChoices(allowed)}, in UTF-8; got ${echo(header)}${name === CURL_TYPE ? ', which curl sends if no -H names another' : ''}`,
  );
}

/** What curl and forms of browsers send with a body. */
const CURL_TYPE = 'application/x-www-form-urlencoded';

/** The charset that a parameter gives, if it gives one. Without a regular expression, which would backtrack over spaces. */
function charsetIn(parameter: string): string | undefined {
  const equals = parameter.indexOf('=');
  if (equals < 0 || parameter.slice(0, equals).trim() !== 'charset') return undefined;
  const value = parameter.slice(equals + 1).trim();
  return value.replace(/^"/, '').replace(/"$/, '');
}

/** The weight of a media type that an `Accept` header names: 0 to 1; 0 if it does not. */
export function acceptWeight(accept: string | undefined, mediaType: string): number {
  return readAccept(accept).find(({ name }) => name === mediaType)?.weight ?? 0;
}

/**
 * The weight of a media type by the most specific range of an `Accept` header that includes it (RFC 9110 §12.5.1).
 * `undefined` if no range does.
 */
export function acceptedWeight(
  ranges: readonly MediaRange[],
  mediaType: string,
): number | undefined {
  const wanted = [mediaType, `${mediaType.split('/')[0]}/*`, '*/*'];
  return wanted
    .map((wantedName) => ranges.find(({ name }) => name === wantedName)?.weight)
    .find((weight) => weight !== undefined);
}

export type MediaRange = { readonly name: string; readonly weight: number };

/** The first ACCEPT_RANGES_MAX ranges of an `Accept` header. */
export function readAccept(accept: string | undefined): readonly MediaRange[] {
  if (accept === undefined || accept === '') return [];
  return accept
    .toLowerCase()
    .split(',', ACCEPT_RANGES_MAX)
    .map((text) => {
      const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
      const weight = parameters.find((part) => part.startsWith('q='));
      return { name, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
    });
}
